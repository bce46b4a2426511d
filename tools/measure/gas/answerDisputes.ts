import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { dtypeBytes } from "../../../src/numerics/dtype.ts";
import type { RunExecution } from "../../../src/dispute/run/runExecution.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { runOfOne } from "../../../testkit/programs/runOfOne.ts";
import { claimedRun, RunGame } from "../../../testkit/protocol/runGame.ts";
import { gasOf } from "../../../testkit/protocol/world.ts";
import type { Subject } from "./subject.ts";
import { chosenSteps, gasWorld, playedDispute, type PlayedDispute } from "./wholeDisputes.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/**
 * Plays games about answers, each with a lie in one of a model's evenly chosen steps. All later steps follow from the
 * lie, and the lie reaches the output. The challenger knows only the trace parts shown by the game.
 */
export async function answerDisputes(subject: Subject, samples: number): Promise<PlayedDispute[]> {
  const world = await gasWorld();
  const executor = await createExecutor(subject.model);
  const played: PlayedDispute[] = [];
  for (const step of chosenSteps(subject, samples)) {
    const onStep = (at: number, tensor: Uint8Array): void => {
      if (at === step) alter(subject, step, tensor);
    };
    const { tensors } = await executor.run([subject.input], { onStep });
    played.push(await play(world, subject, step, runOf(subject, tensors)));
  }
  await executor.close();
  return played;
}

/** Plays one game, and then restores the chain. */
async function play(world: World, subject: Subject, step: number, lie: RunExecution): Promise<PlayedDispute> {
  const snapshot = await world.networkHelpers.takeSnapshot();
  const never = (): never => {
    throw new Error("everything is held");
  };
  const changes = { rootOnly: true, inputs: [], window: 3_600 };
  const claimed = await claimedRun(world, { run: lie, execute: never }, changes);
  const game = new RunGame(world, claimed, { run: runOf(subject, subject.tensors), execute: never });
  const proof = await game.prove(await game.proof());
  const names = ["open", "reveal", "pick", "expand"];
  const moves: { move: string; gas: bigint }[] = [];
  for (const { move, transactionHash } of game.moves)
    moves.push({ move: names[move]!, gas: await gasOf(world, transactionHash) });
  moves.push({ move: "prove", gas: await gasOf(world, proof) });
  await snapshot.restore();
  return playedDispute(subject, step, false, moves);
}

/** Changes the sign and exponent of the middle element. */
function alter({ program }: Subject, step: number, tensor: Uint8Array): void {
  const { count, dtype } = program.steps[step]!;
  tensor[(Math.floor(count / 2) + 1) * dtypeBytes(dtype) - 1]! ^= 0x3f;
}

/** Returns the subject's execution for a claim on an answer. */
const runOf = ({ model, commitment, program, input }: Subject, tensors: Uint8Array[]): RunExecution =>
  runOfOne({ model, commitment, inputs: [input], trace: new Trace(program, tensors) }, "answer");
