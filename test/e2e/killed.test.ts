import { expect } from "chai";
import { KILLED_JOBS } from "../../testkit/processes/killedJobs.ts";
import { killedWatcher, killedWorker } from "../../testkit/processes/killing.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { itAtLength } from "../../testkit/atLength.ts";

/** `npm run soak -- --kills` kills after every transaction, with jobs of each kind. */
describe("processes of the command line that are killed", function () {
  const players = usePlayers("suite");

  itAtLength("workerOfAnAnswerOfSeveralItems_andWatcherOfATrace_goOnInEmptyFolders_andWin", async function () {
    const [worker, watcher] = await Promise.all([
      killedWorker(players(), ["claim", "expand", "reveal"], KILLED_JOBS.carriedAnswer(1)),
      killedWatcher(players(), ["open", "pick"], KILLED_JOBS.trace(2)),
    ]);
    expect(worker.kills).to.deep.equal(["claim", "expand", "reveal"]);
    expect(watcher.kills).to.deep.equal(["open", "pick"]);
  });
});
