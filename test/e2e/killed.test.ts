import { expect } from "chai";
import { killedWatcher, killedWorker } from "../../testkit/processes/killing.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

/** `npm run soak -- --kills` kills after every transaction. */
describe("processes of the command line that are killed", function () {
  const players = usePlayers("suite");

  it("workerAfterClaimSubmitAndReveal_andWatcherAfterOpenAndPick_goOnInEmptyFolders_andWin", async function () {
    const [worker, watcher] = await Promise.all([
      killedWorker(players(), ["claim", "submit", "reveal"], 1),
      killedWatcher(players(), ["open", "pick"], 2),
    ]);
    expect(worker.kills).to.deep.equal(["claim", "submit", "reveal"]);
    expect(watcher.kills).to.deep.equal(["open", "pick"]);
  });
});
