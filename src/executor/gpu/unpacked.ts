import { readWord } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { evaluateElement } from "../../program/evaluate.ts";
import { isElementary } from "../../program/operations.ts";
import { Reduce, type Program, type Step } from "../../program/types.ts";
import { reasonForCpu } from "./onCpu.ts";

/** How often each element may be computed again by a reader. */
const MOST_READS = 4;

/**
 * Returns the steps that only unpack weights: element by element, from constants. Their readers unpack what they read,
 * so the weights stay packed, and no item of a run writes them unpacked.
 * @param isFactored Whether a step reads each element of its inputs once, however often it is used.
 */
export function unpackingSteps({ steps, checkpoints }: Program, isFactored: (step: number) => boolean): Set<number> {
  const committed = new Set(checkpoints.map(({ step }) => step));
  const found = new Set(steps.flatMap((step, s) => (unpacks(step) && !committed.has(s) ? [s] : [])));
  const isRead = new Set<number>();
  steps.forEach((reader, r) => {
    const terms = reader.redDigits.reduce((product, radix) => product * radix, reader.count);
    for (const { kind, index } of reader.inputs.filter((ref) => ref.kind === "step")) {
      if (kind !== "step" || !found.has(index)) continue;
      isRead.add(index);
      const isOften = !isFactored(r) && terms > MOST_READS * steps[index]!.count;
      if (isOften || reasonForCpu(reader) !== undefined) found.delete(index);
    }
  });
  return new Set([...found].filter((s) => isRead.has(s)));
}

/** The function that gives an element of a step that unpacks weights, by the definition. */
export function unpackedBy({ program, constants }: CompiledModel, s: number): (at: number) => bigint {
  const step = program.steps[s]!;
  const sources = step.inputs.map((ref) =>
    ref.kind === "constant" ? constantBytes(constants, ref) : new Uint8Array(),
  );
  const read = (input: number, at: number): bigint => readWord(sources[input]!, at, step.inputs[input]!.dtype);
  return (at) => evaluateElement(step, at, read);
}

const unpacks = (step: Step): boolean =>
  step.reduce === Reduce.none &&
  step.inputs.length > 0 &&
  step.inputs.every(({ kind }) => kind === "constant") &&
  !step.epilogue.code.some(({ op }) => isElementary(op)) &&
  reasonForCpu(step) === undefined;
