import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { dtypeBytes, floatFormat, isFloat, readWord, writeWord, type DType } from "../../src/numerics/dtype.ts";
import { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { RootsOfItems } from "../../src/dispute/run/runRoots.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { writtenOut } from "../explorer/lastSum.ts";
import type { Exact, Progress } from "./engine.ts";
import type { Played, Lie, Opening } from "./messages.ts";

/** log2 of a reveal's children, by the default of a deployment. */
const ARITY_BITS = 4;

/** Both sides' executions: the watcher's is exact, the worker goes on from a changed number. */
export type Sides = { watcher: RunExecution; worker: RunExecution };

/**
 * Has a worker change one number and run on from it.
 * @throws RangeError if the step has no such number
 */
export async function changedSides(exact: Exact, lie: Lie, progress: Progress): Promise<Sides> {
  const { program, inputs, how } = exact;
  const { model } = program;
  const { dtype, count } = model.program.steps[lie.step]!;
  if (lie.element >= count) throw new RangeError(`step ${lie.step} has ${count} numbers: give one below that`);
  const changed = await how.run(inputs, {
    onStep: (step, tensor) => {
      if (step !== lie.step) return;
      writeWord(tensor, lie.element, dtype, otherWord(readWord(tensor, lie.element, dtype), dtype));
    },
    progress: (done, total) => progress("the worker executes", done, total),
  });
  return { watcher: runOf(exact, exact.tensors), worker: runOf(exact, changed) };
}

/**
 * How a dispute about a changed number begins.
 * @param arityBits log2 of a reveal's children.
 * @throws RangeError if the changed number changes nothing that is committed to
 */
export function openingOf({ watcher, worker }: Sides, arityBits: number): Opening {
  const nodes = submissionOf(worker.claimed, arityBits);
  const pick = openingPick(watcher, submittedList(watcher, nodes), arityBits);
  if (pick === undefined)
    throw new RangeError("that number changes nothing that the worker commits to: change another one");
  return { nodes, pick };
}

/**
 * Has a worker change one number and run on from it, and a watcher dispute what comes of it. Both move as the worker
 * and the watcher of the command line do; the rules of the game are those of the contract, without clocks and money.
 * @throws RangeError if there is no such number, or it changes nothing that is committed to
 */
export async function playDispute(exact: Exact, lie: Lie, progress: Progress): Promise<Played> {
  const sides = await changedSides(exact, lie, progress);
  return played(sides, exact.program.model.program.steps);
}

/** Another number of the same type: a float of about the same size, or 1 where it is zero or not finite. */
function otherWord(word: bigint, dtype: DType): bigint {
  if (!isFloat(dtype)) return word ^ 1n;
  const { bits, fractionBits, infinity } = floatFormat(dtype);
  const size = BigInt.asUintN(bits - 1, word);
  const one = (infinity >> BigInt(fractionBits + 1)) << BigInt(fractionBits);
  return size === 0n || size >= infinity ? one : word ^ (1n << BigInt(fractionBits - 1));
}

function runOf({ program, inputs }: Exact, tensors: readonly Uint8Array[]): RunExecution {
  const { program: steps } = program.model;
  const trace = new Trace(steps, tensors);
  const roots = new RootsOfItems(steps, 1);
  roots.take(0, trace);
  const length = { items: 1, firstItem: 0 };
  const last = { ...program, inputs, trace };
  return new RunExecution(program, new RunInputs(steps.inputs, length, inputs), roots.roots, { last });
}

function played({ watcher, worker }: Sides, steps: readonly { dtype: DType }[]): Played {
  const { nodes, pick } = openingOf({ watcher, worker }, ARITY_BITS);
  const game = new MemoryGame(watcher.program, worker.root, pick);
  for (;;) {
    const answer = workerMove(worker, game.state, ARITY_BITS, 0n);
    game.answer(answer);
    const move = challengerMove(watcher, nodes, game.moves, ARITY_BITS, 0n);
    if (move.kind === "pick") game.pick(move.pick);
    else if (move.kind === "prove") {
      const { step } = game.state;
      const size = dtypeBytes(steps[step]!.dtype);
      return {
        moves: game.moves,
        step,
        element: Number(move.proof.element),
        claimed: game.claimedBy(move.proof, size),
        exact: move.exact,
        sum: writtenOut(move.proof),
        roots: { own: watcher.root, claimed: worker.root },
      };
    } else throw new Error(`the watcher does not go on: ${move.kind}`);
  }
}
