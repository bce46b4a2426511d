import { createExecutor } from "../../src/executor/onnx/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { Prng } from "../../test-support/float32Words.ts";
import { randomProgram } from "../../test-support/randomProgram.ts";
import { randomStep } from "../../test-support/randomStep.ts";
import { newTally } from "../../test-support/randomGraph/check.ts";
import { openVariants } from "../../test-support/randomGraph/variants.ts";
import { deployVerifier, proveElement } from "../../test-support/stepProof.ts";
import { soakGraphs } from "./graphs.ts";

const STEPS_A_ROUND = 50;
const PROGRAM_LENGTH = 8;
const GRAPHS_A_ROUND = 100;

/**
 * Random steps, programs and ONNX graphs for a bounded time: definition, executors and on-chain verifier must agree on every bit.
 * @returns Whether they did. A disagreement prints the seed that shows it again.
 */
export async function soakSteps(minutes: number, firstSeed: number): Promise<boolean> {
  const until = Date.now() + minutes * 60_000;
  const verifier = await deployVerifier();
  const opened = await openVariants();
  const { variants } = opened;
  const tally = newTally();
  const totals = { seeds: 0, steps: 0, tensors: 0, disagreements: 0 };

  const disagree = (seed: number, what: string): void => {
    totals.disagreements++;
    console.error(`seed ${seed}: ${what}`);
  };

  for (let seed = firstSeed; Date.now() < until; seed++, totals.seeds++) {
    const prng = new Prng(seed);
    for (let n = 0; n < STEPS_A_ROUND; n++, totals.steps++) {
      const { step, tensors } = randomStep(prng);
      const element = prng.below(step.count);
      const { value, proof } = proveElement(step, element, tensors);
      const word = await verifier.read.evaluate(proof).catch((error: unknown) => String(error).slice(0, 200));
      if (word !== value)
        disagree(seed, `step ${n}, element ${element}: the verifier gives ${word}, the definition ${value}`);
    }
    const { model, inputs } = randomProgram(prng, PROGRAM_LENGTH);
    const expected = executeReference(model, inputs);
    const executor = await createExecutor(model, variants[seed % variants.length]!.options);
    const { tensors } = await executor.run(inputs);
    await executor.close();
    expected.forEach((tensor, s) => {
      totals.tensors++;
      if (Buffer.compare(tensor, tensors[s]!) !== 0) disagree(seed, `program, step ${s}: the executors differ`);
    });
    const smallest = await soakGraphs(seed, GRAPHS_A_ROUND, variants, tally);
    if (smallest !== undefined) disagree(seed, smallest);
  }
  await opened.close();
  console.log(
    `seeds ${firstSeed} to ${firstSeed + totals.seeds - 1}: ${totals.steps} steps on chain, ${totals.tensors} tensors on two executors, ` +
      `${tally.graphs} graphs of ${tally.operators.size} operators on ${variants.length + 1} executors, ${totals.disagreements} disagreements`,
  );
  return totals.disagreements === 0;
}
