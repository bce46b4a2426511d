import { expect } from "chai";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { Level, Move, type Level as LevelOf } from "../../src/chain/structs.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { itemOutputs } from "../../src/parties/requester/itemOutputs.ts";
import { Answer } from "../../src/program/trace/answer.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { first } from "../../testkit/players/players.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { apartAnswers, carriedAnswers } from "../../testkit/programs/answerPrograms.ts";
import { runInputBytes, RUN_STEPS } from "../../testkit/programs/runProgram.ts";
import { executionOf } from "../../testkit/programs/runsOf.ts";

const ITEMS = 21;
const [carried, apart, apartInOneStep] = [carriedAnswers(), apartAnswers(), apartAnswers("step")];
const honest = executionOf();

/** What a loop over the definition gives: the tensors of each item. */
function loop({ model }: typeof carried, items: number): Uint8Array[][] {
  const bytes = runInputBytes(items);
  const isCarried = model.program.inputs[0]!.source?.kind === "carried";
  const results: Uint8Array[][] = [];
  for (let item = 0; item < items; item++) {
    const state = isCarried && item > 0 ? results.at(-1)!.at(-1)! : bytes[0]!;
    const x = bytes[1]!.subarray(item * state.length, (item + 1) * state.length);
    const index = new Uint8Array(BigInt64Array.of(BigInt(item)).buffer);
    results.push(executeReference(model, [state, x, bytes[2]!, index]));
  }
  return results;
}

describe("answers: claims by the roots of outputs alone", function () {
  this.timeout(120_000);
  const players = usePlayers("test");

  it("honestAnswerOfARun_isFinalised_andItsLastOutputsDelivered", async () => {
    const worker = await players().startWorker(await players().workerKey(), carried, honest);
    const watcher = await players().startWatcher(await players().watcherKey(), carried, honest);
    const { requester, jobId, job } = await players().post(carried, runInputBytes(ITEMS), {
      items: ITEMS,
      answer: true,
    });
    expect([job.answers, job.deliverables]).to.deep.equal([2, 3n]);
    const { root } = await first(worker, "submitted");
    await first(watcher, "agrees");
    await players().chain.advance(3_601);
    await first(worker, "delivered", ({ output }) => output === 1);
    await Promise.all([worker.stop(), watcher.stop()]);
    const { history } = await followMarket(requester)();
    const claim = history.jobs.get(jobId)!.claims[0]!;
    const last = loop(carried, ITEMS).at(-1)!;
    const outputs = [last[RUN_STEPS.last]!, last[RUN_STEPS.shared]!];
    expect(root).to.equal(Answer.ofTensors(outputs.map((output) => [output])).root);
    expect(claim.claim.root).to.equal(root);
    expect(claim.nodes).to.have.length(2 + 2 * 64);
    expect(claim.games).to.deep.equal([]);
    expect([...claim.delivered]).to.deep.equal(
      outputs.map((bytes, output) => [output, `0x${Buffer.from(bytes).toString("hex")}`]),
    );
  });

  it("outputsOfEachItem_areFetchedWithPathsUnderTheAnswer_thatTheMarketConfirms", async () => {
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    const worker = await players().startWorker(await players().workerKey(), apart, honest, { publisher });
    const { requester, jobId } = await players().post(apart, runInputBytes(ITEMS), { items: ITEMS, answer: true });
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "delivered");
    const tensors = loop(apart, ITEMS);
    for (const item of [0, 13, ITEMS - 1]) {
      const found = await itemOutputs(requester, jobId, { item, url });
      expect([...found.outputs.keys()]).to.deep.equal(item === ITEMS - 1 ? [0, 1] : [1]);
      expect(Buffer.from(found.outputs.get(1)!)).to.deep.equal(Buffer.from(tensors[item]![RUN_STEPS.shared]!));
      for (const delivery of found.deliveries.values())
        await requester.publicClient.readContract({
          address: requester.deployment.market,
          abi: jobMarketAbi,
          functionName: "requireOutput",
          args: [found.claim, BigInt(item), delivery],
        });
    }
    await Promise.all([worker.stop(), publisher.close()]);
  });

  for (const [name, program, items, item, step, lists] of [
    ["theOutputOfASingleJob", carried, 1, 0, RUN_STEPS.last, [Level.items, Level.trace]],
    ["anItemOfARunThatCarriesState", carried, ITEMS, 13, RUN_STEPS.carriedAndEach, [Level.answer, Level.run]],
    ["theLastItemOfThatRun", carried, ITEMS, ITEMS - 1, RUN_STEPS.last, [Level.answer, Level.run]],
    ["anOutputThatEachItemHas", apart, ITEMS, 5, RUN_STEPS.carriedAndEach, [Level.items, Level.trace]],
    ["theOutputOfTheLastItem", apart, ITEMS, ITEMS - 1, RUN_STEPS.index, [Level.items, Level.trace]],
    ["anOutputThatIsTheWholeTrace", apartInOneStep, ITEMS, 17, 0, [Level.items]],
  ] as const) {
    it(`lieIn_${name}_isRefuted_andOnlyTheListsBelowItAreShown`, async () => {
      const job = { program, inputs: runInputBytes(items), items, answer: true };
      const claim = await refutedClaim(players(), job, executionOf({ item, step, element: 200 }), honest);
      const [game] = claim.games;
      expect(claim.refuted).to.equal(true);
      expect(game!.proved).to.include({ step, element: 200n });
      expect(game!.moves.at(-1)!.state.item).to.equal(item);
      const levels = new Set<LevelOf>(game!.moves.map(({ state }) => state.level));
      const above = [...levels].filter((level) => level < Level.interior);
      expect(lists.every((level) => levels.has(level))).to.equal(true);
      expect(above.every((level) => level === Level.trace || (lists as readonly number[]).includes(level))).to.equal(
        true,
      );
      const isRun = lists.includes(Level.run as never);
      expect(game!.moves.at(-1)!.state.runRoot !== `0x${"00".repeat(32)}`).to.equal(isRun);
      expect(game!.moves.some(({ move }) => move === Move.expand)).to.equal(step !== 0 || program !== apartInOneStep);
    });
  }
});
