import { MAX_STEP_BYTES, MAX_STEP_GAS } from "../../../src/program/limits.ts";
import { makeProvable } from "../../../src/compiler/passes/provable/makeProvable.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { executeStepReference } from "../../../src/executor/referenceStep.ts";
import { estimateStepProofGas, gameGas } from "../../../src/program/gas.ts";
import type { Step } from "../../../src/program/types.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { longReduction } from "../../../testkit/programs/longReduction.ts";
import { randomProgram } from "../../../testkit/programs/randomProgram.ts";
import { randomStep } from "../../../testkit/programs/randomStep.ts";
import { newTally } from "../../../testkit/graphs/check.ts";
import { openVariants } from "../../../testkit/graphs/variants.ts";
import { openStepGasMeter } from "../../../testkit/verifier/stepGas.ts";
import { soakGraphs } from "./graphs.ts";

const STEPS_A_ROUND = 50;
const PROGRAM_LENGTH = 8;
const GRAPHS_A_ROUND = 100;
/** Steps whose proof takes less gas are not split: it is little more than any game costs. */
const MIN_LIMIT = 900_000;

/**
 * Tries random steps, programs and ONNX graphs for a bounded time: definition, executors and on-chain verifier must
 * agree on every bit.
 * @returns Whether all agreed. A disagreement prints the reproducing seed.
 */
export async function soakSteps(minutes: number, firstSeed: number): Promise<boolean> {
  const until = Date.now() + minutes * 60_000;
  const meter = await openStepGasMeter();
  const opened = await openVariants();
  const { variants } = opened;
  const tally = newTally();
  const totals = { seeds: 0, steps: 0, tensors: 0, disagreements: 0, tightest: Infinity };

  const disagree = (seed: number, what: string): void => {
    totals.disagreements++;
    console.error(`seed ${seed}: ${what}`);
  };

  /** The verifier gives the definition's word, for no more gas than estimated. */
  const onChain = async (seed: number, what: string, step: Step, element: number, tensors: readonly Uint8Array[]) => {
    totals.steps++;
    try {
      const measured = await meter.measure(step, element, tensors);
      const estimate = estimateStepProofGas(step) - gameGas(step.inputs.length);
      totals.tightest = Math.min(totals.tightest, estimate / measured);
      if (estimate < measured)
        disagree(seed, `${what}, element ${element}: estimated ${estimate} gas, takes ${measured}`);
    } catch (error) {
      disagree(seed, `${what}, element ${element}: ${String(error).slice(0, 200)}`);
    }
  };

  /**
   * A long reduction split under a random limit: its last part has the bits of the whole, and every part holds on
   * chain.
   */
  const splitOnChain = async (seed: number, prng: Prng) => {
    const { step, tensors } = longReduction(prng);
    const gas = estimateStepProofGas(step);
    const limit = Math.min(MAX_STEP_GAS, Math.floor(gas / (1 + prng.below(8))) - 1);
    const { steps } = makeProvable([step], { gas: Math.max(MIN_LIMIT, limit), bytes: MAX_STEP_BYTES });
    const results: Uint8Array[] = [];
    for (const [k, part] of steps.entries()) {
      const sources = part.inputs.map(
        (ref) => (ref.kind === "step" ? results : tensors)[(ref as { index: number }).index]!,
      );
      results.push(executeStepReference(part, sources));
      await onChain(seed, `part ${k} of a long reduction ${step.reduce}`, part, prng.below(part.count), sources);
    }
    if (Buffer.compare(results.at(-1)!, executeStepReference(step, tensors)) !== 0)
      disagree(seed, `a long reduction ${step.reduce} has other bits split`);
  };

  for (let seed = firstSeed; Date.now() < until; seed++, totals.seeds++) {
    const prng = new Prng(seed);
    for (let n = 0; n < STEPS_A_ROUND; n++) {
      const { step, tensors } = randomStep(prng);
      // The compiler splits steps above a transaction's gas limit.
      if (estimateStepProofGas(step) > MAX_STEP_GAS) continue;
      await onChain(seed, `step ${n}`, step, prng.below(step.count), tensors);
    }
    await splitOnChain(seed, prng);
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
    `seeds ${firstSeed} to ${firstSeed + totals.seeds - 1}: ${totals.steps} steps on chain, ` +
      `${totals.tensors} tensors on two executors, ` +
      `${tally.graphs} graphs of ${tally.operators.size} operators on ${variants.length + 1} executors, ` +
      `${totals.disagreements} disagreements; ` +
      `estimates of gas are at least ${totals.tightest.toFixed(2)} times what proofs take`,
  );
  return totals.disagreements === 0;
}
