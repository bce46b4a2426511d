import { expect } from "chai";
import { planChallengerMove, type PlannedMove } from "../../src/dispute/challengerPlan.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { proofTransactionBytes } from "../../src/dispute/proofSize.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { Side } from "../../src/chain/structs.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { ClaimRecord, GameRecord } from "../../src/chain/market/history.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import type { TensorSource } from "../../src/program/trace/published.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { runOfOne } from "../../testkit/programs/runOfOne.ts";

const ARITY_BITS = 4;

describe("planChallengerMove", () => {
  const { model } = mlpProgram();
  const inputs = [mlpInput(1)];

  function execute(lie: boolean): RunExecution {
    const onStep = (step: number, tensor: Uint8Array) => {
      if (lie && step === 0) tensor[600]! ^= 0x40;
    };
    const trace = new Trace(model.program, executeReference(model, inputs, { onStep }));
    return runOfOne({ ...knownProgram(model), inputs, trace });
  }

  /** The first plan of a game whose challenger has the worker's tensors, in its first turn. */
  async function firstPlan(maxStepBytes: number): Promise<PlannedMove> {
    const [challenger, worker] = [execute(false), execute(true)];
    const nodes = submissionOf(worker.claimed, ARITY_BITS);
    const opening = openingPick(challenger, submittedList(challenger, nodes), ARITY_BITS)!;
    const game = new MemoryGame(challenger.program, worker.root, opening);
    while (game.state.turn === Side.worker) game.answer(workerMove(worker, game.state, ARITY_BITS, 0n));
    const claim = { id: worker.root, nodes } as ClaimRecord;
    const record = { moves: game.moves } as unknown as GameRecord;
    const tensors: TensorSource = ({ item, step }) => Promise.resolve(worker.item(item).trace.tensor(step));
    const options = { arityBits: ARITY_BITS, maxStepBytes, now: 0n, tensors };
    return planChallengerMove(claim, record, challenger, options);
  }

  it("publishedTensor_givesAProofAtOnce_thatIsWithinTheProgramsBound", async () => {
    const { shortcut } = await firstPlan(model.program.maxStepBytes);
    expect(proofTransactionBytes(shortcut!.proof)).to.be.at.most(model.program.maxStepBytes);
  });

  it("proofLongerThanTheDeploymentTakes_isNotCountedOn", async () => {
    const bytes = proofTransactionBytes((await firstPlan(90_000)).shortcut!.proof);
    expect((await firstPlan(bytes)).shortcut).to.not.equal(undefined);
    const { move, shortcut } = await firstPlan(bytes - 1);
    expect(shortcut).to.equal(undefined);
    expect(move.kind).to.equal("pick");
  });
});
