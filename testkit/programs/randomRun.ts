import { dtypeBytes, DType } from "../../src/numerics/dtype.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Checkpoint, ProgramInput, Step, TensorRef } from "../../src/program/types.ts";
import { programRoot } from "../../src/program/root.ts";
import { validateProgram } from "../../src/program/validate.ts";
import type { Prng } from "../random/prng.ts";
import { randomStep } from "./randomStep.ts";
import { modelOfSteps } from "./stepModel.ts";

/** A model with carried state, and the inputs of a run. */
type RandomRun = { model: CompiledModel; inputs: RunInputs };

/**
 * Returns a run of random steps. A step reads an earlier step, a constant, a tensor of the job, of the item, or what
 * any step gave in the item before: an earlier one, a later one, itself. Checkpoints are drawn, some of them outputs.
 */
export function randomRun(prng: Prng, length: number, items: number): RandomRun {
  const given = Array.from({ length }, () => randomStep(prng));
  const types = given.map(({ step }) => step);
  const infos: ProgramInput[] = [];
  const bytes: Uint8Array[] = [];
  const constants = new Map<`0x${string}`, Uint8Array>();
  const carried: { input: number; step: number }[] = [];
  const steps: Step[] = [];
  const add = (info: ProgramInput, of: Uint8Array): number => infos.push(info) && bytes.push(of) - 1;
  for (const { step, tensors } of given) {
    const refs = step.inputs.map(({ dtype, count }, n): TensorRef => {
      const fitting = types.flatMap((type, s) => (type.dtype === dtype && type.count >= count ? [s] : []));
      const earlier = fitting.filter((s) => s < steps.length);
      const own = tensors[n]!;
      const kind = prng.below(6);
      if (kind < 2 && earlier.length > 0) {
        const index = prng.pick(earlier);
        return { kind: "step", index, dtype, count: types[index]!.count };
      }
      if (kind < 4 && fitting.length > 0 && dtype !== DType.limb) {
        const from = prng.pick(fitting);
        const all = new Uint8Array(types[from]!.count * dtypeBytes(dtype));
        all.set(own);
        const input = add({ dtype, count: types[from]!.count }, all);
        carried.push({ input, step: from });
        return { kind: "input", index: input, dtype, count: types[from]!.count };
      }
      if (kind === 4) {
        const root = tensorRoot(own);
        constants.set(root, own);
        return { kind: "constant", root, dtype, count };
      }
      if (prng.below(3) === 0) return { kind: "input", index: add({ dtype, count }, own), dtype, count };
      if (dtype === DType.int64 && count === 1)
        return {
          ...{ kind: "input", index: add({ dtype, count, source: { kind: "index" } }, new Uint8Array()) },
          ...{ dtype, count },
        };
      const each = Uint8Array.from({ length: items * own.length }, (_, k) => own[k % own.length]!);
      // Another permutation of the elements for each item.
      for (let item = 1; item < items; item++)
        each.copyWithin(item * own.length, 0, (item * dtypeBytes(dtype)) % own.length);
      return { kind: "input", index: add({ dtype, count, source: { kind: "each" } }, each), dtype, count };
    });
    steps.push({ ...step, inputs: refs });
  }
  const ends = new Set([...carried.map(({ step }) => step), length - 1]);
  for (let s = 0; s < length; s++) if (prng.below(3) === 0) ends.add(s);
  // Steps outside a step's range are read only at checkpoints.
  for (let before = -1; before < ends.size;) {
    before = ends.size;
    for (const [s, { inputs }] of steps.entries())
      for (const { kind, ...ref } of inputs as readonly (TensorRef & { index: number })[])
        if (kind === "step" && [...ends].some((end) => end > ref.index && end < s)) ends.add(ref.index);
  }
  const checkpoints: Checkpoint[] = [];
  for (const step of [...ends].sort((a, b) => a - b))
    checkpoints.push({ first: (checkpoints.at(-1)?.step ?? -1) + 1, step });
  for (const { input, step } of carried) {
    const checkpoint = checkpoints.findIndex((each) => each.step === step);
    infos[input] = { ...infos[input]!, source: { kind: "carried", checkpoint } };
  }
  const outputs = checkpoints.map((_, c) => c).filter((c) => c === checkpoints.length - 1 || prng.below(2) === 0);
  const plain = infos.map(({ dtype, count }) => ({ dtype, count }));
  const model = modelOfSteps(plain, steps, constants);
  const program = { ...model.program, inputs: infos, checkpoints, outputs };
  validateProgram(program);
  return {
    model: { ...model, program, programRoot: programRoot(program) },
    inputs: new RunInputs(infos, { items, firstItem: 3 }, bytes),
  };
}
