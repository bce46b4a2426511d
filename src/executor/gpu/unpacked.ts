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

const unpacks = (step: Step): boolean =>
  step.reduce === Reduce.none &&
  step.inputs.length > 0 &&
  step.inputs.every(({ kind }) => kind === "constant") &&
  !step.epilogue.code.some(({ op }) => isElementary(op)) &&
  reasonForCpu(step) === undefined;
