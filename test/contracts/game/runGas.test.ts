import { expect } from "chai";
import { MOVE_GAS } from "../../../src/dispute/moveGas.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { packState } from "../../../src/chain/market/state.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { submittedList } from "../../../src/dispute/disputed.ts";
import { rootPick } from "../../../testkit/soak/challengers.ts";
import { claimKey, gasOf } from "../../../testkit/protocol/world.ts";
import { carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { answerOf } from "../../../testkit/soak/answerRuns.ts";
import type { OwnRun, RunLie } from "../../../testkit/programs/runsOf.ts";
import type { Execute } from "../../../src/runs/execute.ts";

/** Each item has 16 checkpoints, 16 steps in the last range and 16 chunks, so that every reveal has 16 children. */
const FULL = chainProgram(2_048, [...new Array<number>(15).fill(1), 16]);
const ITEMS = 256;
const LIE = { step: 20, element: 2_047 };

/** A run of that program, in which all items are right or all are wrong. */
async function fullRun(lying: boolean): Promise<OwnRun> {
  const program = knownProgram(FULL.model);
  const tensors = executeReference(FULL.model, [FULL.input], {
    onStep: (step, tensor) => void (lying && step === LIE.step && (tensor[4 * LIE.element]! ^= 1)),
  });
  const execute: Execute = () => Promise.resolve(tensors.map((tensor) => Uint8Array.from(tensor)));
  const inputs = new RunInputs(FULL.program.inputs, { items: ITEMS, firstItem: 0 }, [FULL.input]);
  return { run: await executeRun(program, inputs, execute), execute };
}

describe("GasSchedule: runs", function () {
  this.timeout(120_000);
  const world = useWorld();
  const { pick, seam, level, headerByte, expand, reveal, child, chunk } = MOVE_GAS;
  const header = FULL.commitment.header.length * headerByte;
  /** The prices of the moves after the opening, in their order. */
  const prices = [
    ...[reveal + 16 * child, pick + 4 * level],
    ...[reveal + 16 * child, pick + 4 * level + seam + 4 * level + header],
    ...[expand + 16 * child, pick + 4 * level + seam + FULL.commitment.steps.depth * level + header],
    ...[reveal + 16 * child, pick + 4 * level, chunk],
  ];
  let own: OwnRun;
  let claimed: ClaimedRun;
  before(async () => void (own = await fullRun(false)));
  beforeEach(async () => void (claimed = await claimedRun(world(), await fullRun(true))));

  it("moves_aboutAnItem_costAtMostTheirPrice_andNotMuchLess", async () => {
    const game = new RunGame(world(), claimed, own);
    await game.proof();
    expect(game.moves.length).to.equal(1 + prices.length);
    for (const [n, { transactionHash }] of game.moves.slice(1).entries()) {
      const [gas, price] = [await gasOf(world(), transactionHash), BigInt(prices[n]!)];
      expect(gas <= price && gas * 105n >= price * 100n, `move ${n + 1} costs ${gas}, pays ${price}`).to.equal(true);
    }
  });

  it("settle_whereAGameStandsInAChunk_costsAtMostItsPrice_andNotMuchLess", () => settles(claimed, own));

  // Its state is the longest: it has the run that the output was expanded into, and the item's trace.
  it("settle_whereAGameStandsInAChunkOfAnAnswersItem_costsAtMostItsPrice_andNotMuchLess", async () => {
    const answer = (lie?: RunLie): OwnRun => answerOf(carriedAnswers("two"), 20, lie);
    await settles(await claimedRun(world(), answer({ item: 3, step: 3, element: 290 })), answer());
  });

  /** Settles two games that stand in a chunk, after a third one has refuted the claim. */
  async function settles(lying: ClaimedRun, honest: OwnRun): Promise<void> {
    const { game: contract, worker, watcher, mallory, requester } = world();
    const games = [new RunGame(world(), lying, honest), new RunGame(world(), lying, honest, mallory)] as const;
    for (const game of games) await game.proof();
    const third = await new RunGame(world(), lying, honest, requester).open(
      rootPick(honest.run, submittedList(honest.run, lying.nodes)),
    );
    const key = claimKey(world(), lying.claim);
    await contract.write.concede([packState(third.state), key], { account: worker.account });
    for (const [n, price] of [
      [0, schedule("SETTLE")],
      [1, schedule("SETTLE") + schedule("LAST")],
    ] as const) {
      const hash = await contract.write.settle([packState(games[n].state)], { account: watcher.account });
      const gas = await gasOf(world(), hash);
      expect(gas <= price && gas * 105n >= price * 100n, `costs ${gas}, pays ${price}`).to.equal(true);
    }
  }
});
