import { expect } from "chai";
import { KILLED_JOBS } from "../../testkit/processes/killedJobs.ts";
import { killedInBlocks, longPrompt } from "../../testkit/processes/killedInBlocks.ts";
import { killedSealer, killedWatcher, killedWorker } from "../../testkit/processes/killing.ts";
import { PanelPlayers, WINDOW } from "../../testkit/players/panelPlayers.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { itAtLength } from "../../testkit/atLength.ts";

/** `npm run verify -- soak --kills` kills after every transaction, with jobs of each kind. */
describe("processes of the command line that are killed", function () {
  this.timeout(600_000);
  const players = usePlayers("suite");

  itAtLength("workerOfAnAnswerOfSeveralItems_andWatcherOfATrace_goOnInEmptyFolders_andWin", async function () {
    const [worker, watcher] = await Promise.all([
      killedWorker(players(), ["claim", "expand", "reveal"], KILLED_JOBS.carriedAnswer(1)),
      killedWatcher(players(), ["open", "pick"], KILLED_JOBS.trace(2)),
    ]);
    expect(worker.kills).to.deep.equal(["claim", "expand", "reveal"]);
    expect(watcher.kills).to.deep.equal(["open", "pick"]);
  });

  itAtLength("workerAndWatcherOfALongPrompt_killedInTheMiddleOfBlocks_goOnWithTheSameRoot", async function () {
    // Six processes start.
    this.timeout(1_800_000);
    const text = await longPrompt();
    const { jobId } = await players().post(text.program, text.inputs.bytes, { items: text.inputs.length.items });
    const party = { players: players(), text, jobId, kills: 2 };
    const key = await players().workerKey();
    const worker = ["worker", "--self-audit", "1", "--margin-seconds", "10"];
    const worked = await killedInBlocks({ ...party, key, command: worker }, (_, claimed) =>
      claimed.includes(text.root),
    );
    const command = ["watcher", "--mode", "watch"];
    const watched = await killedInBlocks({ ...party, key: await players().watcherKey(), command }, (output) =>
      output.includes("claim agrees with this machine's execution"),
    );
    // States are kept where blocks begin: between the first one and the last there is no single item.
    for (const states of [...worked, ...watched]) {
      expect(states.length).to.be.within(1, 3);
      for (const item of states) expect([64, 128, 192]).to.include(item);
    }
  });

  itAtLength("workerOfASealedJob_isAwayWhenSealsOpen_findsItsOpeningOnDisk_andIsPaid", async function () {
    const model = KILLED_JOBS.answer(3);
    const now = Number(await players().chain.now());
    const { collateral } = (await players().chain.newSession()).deployment.parameters;
    const openFrom = now + 7_201;
    const terms = { ...model.terms, deadline: BigInt(openFrom - 1), window: WINDOW, rare: { collateral, openFrom } };
    const { jobId } = await players().post(model.program, model.inputs, terms);
    const points = ["claimOnTerms", "seal", "openSeal"];
    const sealed = { model, jobs: [jobId], openFrom, window: WINDOW };
    const { kills, calls } = await killedSealer(players(), points, sealed);
    expect(kills).to.deep.equal(points);
    expect(calls.filter((name) => points.includes(name))).to.deep.equal(points);
  });

  itAtLength("workerOfAPanelsSeat_isAwayWhenSealsOpen_andAllSeatsSurvive", async function () {
    const model = KILLED_JOBS.trace(4);
    const at = await PanelPlayers.create(model.program);
    try {
      const posted = await at.post(model.inputs, 2);
      const other = await at.work(reference());
      await first(other.running, "sealed");
      const points = ["claimOnTerms", "seal", "openSeal"];
      const sealed = { model, jobs: posted.jobs, openFrom: posted.openFrom, window: WINDOW };
      const { kills } = await killedSealer(at.players, points, sealed);
      expect(kills).to.deep.equal(points);
      const ended = await at.follow(posted);
      expect([ended.outcome, ended.finals]).to.deep.equal(["survived", 2]);
      await other.stop();
    } finally {
      await at.close();
    }
  });
});
