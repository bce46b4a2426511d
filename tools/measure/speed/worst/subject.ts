import { stepSources } from "../../../../src/executor/sources.ts";
import { tensorRoot } from "../../../../src/program/merkle/tensor.ts";
import { DType, dtypeBytes, type DType as DTypeCode } from "../../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { LIMITS } from "../../../../src/program/limits.ts";
import { Op } from "../../../../src/program/operations.ts";
import type { Instruction, Step, TensorRef, View } from "../../../../src/program/types.ts";
import { programWork } from "../../../../src/program/work.ts";
import { modelOfSteps } from "../../../../testkit/programs/stepModel.ts";
import { Prng } from "../../../../testkit/random/prng.ts";

/** A program whose slowest execution is measured, with its inputs. */
export type WorstSubject = { name: string; model: CompiledModel; inputs: readonly Uint8Array[] };

/** The work that a step is repeated up to: 0.2 s. More elements than these would only fill memory. */
const ENOUGH_WORK = 20_000_000n;
const MAX_ELEMENTS = 2 ** 22;

/** A program of one step, which reads the given tensors: as constants where the step says so, else as inputs. */
function oneStep(name: string, step: Step, sources: readonly Uint8Array[]): WorstSubject {
  const inputs: Uint8Array[] = [];
  const infos: { dtype: DTypeCode; count: number }[] = [];
  const constants = new Map<`0x${string}`, Uint8Array>();
  const refs = step.inputs.map(({ kind, dtype, count }, n): TensorRef => {
    if (kind !== "constant") {
      infos.push({ dtype, count });
      return { kind: "input", index: inputs.push(sources[n]!) - 1, dtype, count };
    }
    const root = tensorRoot(sources[n]!);
    constants.set(root, sources[n]!);
    return { kind, root, dtype, count };
  });
  return { name, model: modelOfSteps(infos, [{ ...step, inputs: refs }], constants), inputs };
}

/** The same with random tensors, but for those that are given by their number. */
export const randomSubject = (
  name: string,
  step: Step,
  given: Readonly<Record<number, Uint8Array>> = {},
): WorstSubject =>
  oneStep(
    name,
    step,
    step.inputs.map(({ dtype, count }, n) => given[n] ?? randomTensor(dtype, count, n + 1)),
  );

/** Random bytes; float32 are of both signs, from 2^-20 to 2^20. */
export function randomTensor(dtype: DTypeCode, count: number, seed: number): Uint8Array {
  const prng = new Prng(seed);
  const bytes = count * dtypeBytes(dtype);
  const words = new Uint32Array(Math.ceil(bytes / 4)).map(() => prng.uint32());
  const sized = (word: number): number => (word & 0x807fffff) | ((107 + (word % 40)) << 23);
  if (dtype === DType.float32) words.forEach((word, k) => (words[k] = sized(word)));
  return new Uint8Array(words.buffer).subarray(0, bytes);
}

/** Each step of a program as a program of its own, repeated so often that its execution can be timed. */
export function repeatedSteps(
  name: string,
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  tensors: readonly Uint8Array[],
): WorstSubject[] {
  return model.program.steps.map((step, s) =>
    oneStep(`${name}, step ${s}`, repeated(step), stepSources(model, step, inputs, tensors)),
  );
}

/**
 * Returns the step with one more digit, the slowest, which no read depends on. A step with the maximum number of digits
 * is returned unchanged.
 */
function repeated(step: Step): Step {
  const work = programWork({ inputs: [], steps: [step] });
  const times = Math.min(Number(ENOUGH_WORK / work) + 1, Math.floor(MAX_ELEMENTS / step.count));
  if (times <= 1 || step.outDigits.length === LIMITS.digits) return step;
  const moved = (view: View): View => ({
    ...view,
    axes: view.axes.map((axis) => ({
      ...axis,
      coeffs: axis.coeffs.map(({ digit, coeff }) => ({ digit: digit + 1, coeff })),
    })),
  });
  const code = (list: readonly Instruction[]): Instruction[] =>
    list.map((each) => (each.op === Op.digit ? { ...each, a: each.a + 1 } : each));
  return {
    ...step,
    count: step.count * times,
    outDigits: [times, ...step.outDigits],
    termReads: step.termReads.map(moved),
    epilogueReads: step.epilogueReads.map(moved),
    term: { ...step.term, code: code(step.term.code) },
    epilogue: { ...step.epilogue, code: code(step.epilogue.code) },
  };
}
