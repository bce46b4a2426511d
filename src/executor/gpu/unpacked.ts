import { readWord } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { evaluateElement } from "../../program/evaluate.ts";
import { isElementary } from "../../program/operations.ts";
import { Reduce, type Program, type Step } from "../../program/types.ts";
import { elementOperations } from "./generate/cost.ts";
import { reasonForCpu } from "./onCpu.ts";

/** How often each element may be computed again by a reader. */
const MOST_READS = 4;

/** The most operations for unpacking an element: a step with more has its own kernel, and is computed once. */
const MOST_OPERATIONS = 1_000;

/**
 * Returns the steps that only unpack weights: element by element, from constants. Their readers unpack what they read,
 * so the weights stay packed, and no item of a run writes them unpacked.
 * @param isFactored Whether a step reads each element of its factors once, however often the element is used.
 */
export function unpackingSteps(
  { steps, checkpoints }: Pick<Program, "steps" | "checkpoints">,
  isFactored: (step: number) => boolean,
): Set<number> {
  const committed = new Set(checkpoints.map(({ step }) => step));
  const found = new Set(steps.flatMap((step, s) => (unpacks(step) && !committed.has(s) ? [s] : [])));
  const isRead = new Set<number>();
  steps.forEach((reader, r) => {
    const terms = reader.redDigits.reduce((product, radix) => product * radix, reader.count);
    for (const [n, ref] of reader.inputs.entries()) {
      if (ref.kind !== "step" || !found.has(ref.index)) continue;
      const { index } = ref;
      isRead.add(index);
      // A product's epilogue is computed for each output.
      const ofEpilogue = reader.epilogueReads.some(({ input }) => input === n) ? reader.count : 0;
      const isOften = (isFactored(r) ? ofEpilogue : terms) > MOST_READS * steps[index]!.count;
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
  elementOperations(step, false) <= MOST_OPERATIONS &&
  reasonForCpu(step) === undefined;
