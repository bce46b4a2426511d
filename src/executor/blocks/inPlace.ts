import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Program, type Step, type View } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import { componentsOf, type Component, type Edge } from "./components.ts";

/** Where a step differs from its carried tensor: at the values of a digit for which a tensor of bools holds. */
export type ChangedRows = {
  /** The step's input with the bools, one for each value of the digit. */
  mask: number;
  digit: number;
};

/** A step that is the tensor which it carries, except for some rows: a cache with a new row, for example. */
export type InPlace = ChangedRows & {
  /** The program's input with the tensor of the item before. */
  input: number;
};

/** A program's steps in the order for blocks, and the steps that write only what differs into their carried tensors. */
export type BlockOrder = { components: readonly Component[]; inPlace: ReadonlyMap<number, InPlace> };

/**
 * Orders a program's steps for blocks. A tensor is changed in place if its readers can be executed with the change,
 * item by item, and no reader would lose by that.
 * @param guessed The checkpoints whose tensors the caller guesses.
 */
export function blockOrder(program: Program, guessed: ReadonlySet<number>): BlockOrder {
  const before = componentsOf(program, guessed);
  const inPlace = new Map<number, InPlace>();
  const edges: Edge[] = [];
  program.steps.forEach((step, s) => {
    const found = changedRows(program, s, guessed);
    const circle = before.find(({ steps }) => steps.includes(s))!;
    if (found === undefined) return;
    const readers = readersOf(program, found.input, s);
    const expected = new Set([...circle.steps, ...readers.map(({ reader }) => reader)]);
    const isLate = readers.some(({ reader, isBefore }) => isBefore && reader > s);
    if (isLate || ![...expected].every((r) => circle.steps.includes(r) || canBeAlone(program, program.steps[r]!))) return;
    const own = readers.map(({ reader }): Edge => ({ from: reader, to: s }));
    const after = componentsOf(program, guessed, own).find(({ steps }) => steps.includes(s))!;
    if (after.steps.length !== expected.size) return;
    inPlace.set(s, found);
    edges.push(...own);
  });
  return { components: inPlace.size === 0 ? before : componentsOf(program, guessed, edges), inPlace };
}

/** The steps that read a tensor before or after its change, other than the changing step. */
function readersOf({ steps }: Program, input: number, s: number): { reader: number; isBefore: boolean }[] {
  return steps.flatMap((step, reader) => {
    if (reader === s) return [];
    const isBefore = step.inputs.some((ref) => ref.kind === "input" && ref.index === input);
    const isAfter = step.inputs.some((ref) => ref.kind === "step" && ref.index === s);
    return isBefore || isAfter ? [{ reader, isBefore }] : [];
  });
}

/** Whether a step takes no longer item by item: no constants are read for all items at once. */
const canBeAlone = (_: Program, step: Step): boolean =>
  step.reduce === Reduce.none || step.termReads.every(({ input }) => step.inputs[input]!.kind !== "constant");

/** Finds out whether a step is what an input carries from the step, except where bools hold. */
function changedRows({ steps, inputs, checkpoints }: Program, s: number, guessed: ReadonlySet<number>): InPlace | undefined {
  const step = steps[s]!;
  const { code, out } = step.epilogue;
  const reads = step.epilogueReads;
  const last = code.at(-1);
  if (step.reduce !== Reduce.none || last?.op !== Op.select) return undefined;
  if (out !== reads.length + step.constants.length + code.length - 1) return undefined;
  const [condition, kept] = [reads[last.a], reads[last.c]];
  const ref = kept && step.inputs[kept.input];
  const mask = condition && step.inputs[condition.input];
  if (ref?.kind !== "input" || ref.dtype !== step.dtype || mask?.dtype !== DType.bool) return undefined;
  const carriers = inputs.flatMap(({ source }, k) =>
    source?.kind === "carried" && checkpoints[source.checkpoint]!.step === s && !guessed.has(source.checkpoint) ? [k] : [],
  );
  if (carriers.length !== 1 || carriers[0] !== ref.index || mask.kind === "constant") return undefined;
  if (reads.filter(({ input }) => step.inputs[input] === ref || isSame(step.inputs[input]!, ref)).length !== 1)
    return undefined;
  const strides = digitStrides(step.outDigits);
  if (!isPlace(kept!, step, ref.count, strides)) return undefined;
  const digit = step.outDigits.findIndex(
    (radix, k) => radix === mask.count && isPlace(condition!, step, mask.count, step.outDigits.map((_, j) => Number(j === k))),
  );
  return digit < 0 ? undefined : { input: ref.index, mask: condition!.input, digit };
}

const isSame = (a: Step["inputs"][number], b: Step["inputs"][number]): boolean =>
  a.kind === "input" && b.kind === "input" && a.index === b.index;

/** Whether a view reads the element whose place is moved by each digit as `strides` say. */
function isPlace({ axes }: View, { outDigits }: Step, count: number, strides: readonly number[]): boolean {
  const moves = outDigits.map(() => 0);
  for (const { div, indirect, base, coeffs, stride, extent } of axes) {
    if (div !== 1 || indirect !== undefined || base !== 0) return false;
    let most = 0;
    for (const { digit, coeff } of coeffs) {
      if (coeff < 0) return false;
      moves[digit]! += coeff * stride;
      most += coeff * (outDigits[digit]! - 1);
    }
    if (most >= extent) return false;
  }
  const reached = outDigits.reduce((sum, radix, k) => sum + (radix - 1) * moves[k]!, 0);
  return reached < count && outDigits.every((radix, k) => radix === 1 || moves[k] === strides[k]);
}
