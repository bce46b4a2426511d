import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { axisRange } from "../../program/loops.ts";
import { isPartial } from "../../program/reduction.ts";
import { Reduce, type Program, type Step, type TensorRef, type View } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import { componentsOf, type Component, type Edge } from "./components.ts";

/** The rows of a tensor that may change: values of a digit. */
export type Rows = {
  digit: number;
  /** Always. */
  fixed: readonly number[];
};

/** A step equal to its carried tensor except where bools hold: a cache with a new row, for example. */
type InPlace = Rows & {
  /** The program's input with the tensor of the item before. */
  input: number;
  /** The bools, one for each value of the digit. */
  mask: TensorRef;
  /** Steps equal to the item before except for some rows, and for the carried tensor's changed rows. */
  followers: ReadonlyMap<number, Rows>;
};

/** A program's steps in the order for blocks, and the steps that write only changed rows into their carried tensors. */
export type BlockOrder = { components: readonly Component[]; inPlace: ReadonlyMap<number, InPlace> };

/**
 * Orders a program's steps for blocks. A tensor is changed in place if its readers can be executed item by item, each
 * before the next change, and if no reader takes longer alone.
 * @param guessed The checkpoints whose tensors the caller guesses.
 */
export function blockOrder(program: Program, guessed: ReadonlySet<number>): BlockOrder {
  const before = componentsOf(program, guessed);
  const inPlace = new Map<number, InPlace>();
  const edges: Edge[] = [];
  for (const s of program.steps.keys()) {
    const found = changedRows(program, s, guessed);
    if (found === undefined) continue;
    const circle = before.find(({ steps }) => steps.includes(s))!;
    const followers = new Map(
      circle.steps.flatMap((t) => {
        const rows = t < s ? followingRows(program, t, found, s) : undefined;
        return rows === undefined ? [] : [[t, rows]];
      }),
    );
    for (const some of followers.size === 0 ? [followers] : [followers, new Map<number, Rows>()]) {
      const own = edgesOf(program, s, found.input, some.keys());
      if (own === undefined || !staysSmall(program, guessed, circle, own)) continue;
      inPlace.set(s, { ...found, followers: some });
      edges.push(...own);
      break;
    }
  }
  return { components: inPlace.size === 0 ? before : componentsOf(program, guessed, edges), inPlace };
}

/** Edges from the readers of changed tensors to the changes. @returns undefined if a reader comes too late */
function edgesOf({ steps }: Program, s: number, input: number, followers: Iterable<number>): Edge[] | undefined {
  const edges = [s, ...followers].flatMap((to) =>
    steps.flatMap((step, from) => {
      const isReader = step.inputs.some(
        ({ kind, ...ref }) => (kind === "step" && isAt(ref, to)) || (to === s && kind === "input" && isAt(ref, input)),
      );
      return isReader && from !== to ? [{ from, to }] : [];
    }),
  );
  const isLate = edges.some(
    ({ from, to }) =>
      to === s && from > s && steps[from]!.inputs.some((ref) => ref.kind === "input" && ref.index === input),
  );
  return isLate ? undefined : edges;
}

const isAt = (ref: object, index: number): boolean => "index" in ref && ref.index === index;

/** Whether edges add only their own steps to a circle, and each added step can be executed item by item. */
function staysSmall(
  program: Program,
  guessed: ReadonlySet<number>,
  circle: Component,
  edges: readonly Edge[],
): boolean {
  const all = new Set([...circle.steps, ...edges.flatMap(({ from, to }) => [from, to])]);
  const isAlone = (step: Step): boolean =>
    !isPartial(step.reduce) &&
    (step.reduce === Reduce.none || step.termReads.every(({ input }) => step.inputs[input]!.kind !== "constant"));
  if (![...all].every((s) => circle.steps.includes(s) || isAlone(program.steps[s]!))) return false;
  const after = componentsOf(program, guessed, edges).find(({ steps }) => steps.includes(circle.steps[0]!))!;
  return after.steps.length === all.size;
}

/** Finds out whether a step equals the input carried from the step, except where bools hold. */
function changedRows(
  { steps, inputs, checkpoints }: Program,
  s: number,
  guessed: ReadonlySet<number>,
): Omit<InPlace, "followers"> | undefined {
  const step = steps[s]!;
  const { epilogueReads: reads, constants } = step;
  const { code, out } = step.epilogue;
  const last = code.at(-1);
  if (step.reduce !== Reduce.none || last?.op !== Op.select) return undefined;
  if (out !== reads.length + constants.length + code.length - 1) return undefined;
  const [condition, kept] = [reads[last.a], reads[last.c]];
  if (condition === undefined || kept === undefined) return undefined;
  const [mask, ref] = [step.inputs[condition.input]!, step.inputs[kept.input]!];
  if (ref.kind !== "input" || ref.dtype !== step.dtype || mask.kind === "constant" || mask.dtype !== DType.bool)
    return undefined;
  const carriers = [...inputs.keys()].filter((k) => {
    const { source } = inputs[k]!;
    return source?.kind === "carried" && checkpoints[source.checkpoint]!.step === s && !guessed.has(source.checkpoint);
  });
  const isCarrier = ({ input }: View): boolean => {
    const other = step.inputs[input]!;
    return other.kind === "input" && other.index === ref.index;
  };
  if (carriers.length !== 1 || carriers[0] !== ref.index || reads.filter(isCarrier).length !== 1) return undefined;
  const isPlace = (view: View, count: number, strides: readonly number[]): boolean => {
    const moves = movesOf(view, step, count);
    return moves !== undefined && step.outDigits.every((radix, k) => radix === 1 || moves[k] === strides[k]);
  };
  if (!isPlace(kept, ref.count, digitStrides(step.outDigits))) return undefined;
  const digit = step.outDigits.findIndex(
    (radix, k) =>
      radix === mask.count &&
      isPlace(
        condition,
        mask.count,
        step.outDigits.map((_, j) => Number(j === k)),
      ),
  );
  return digit < 0 ? undefined : { input: ref.index, mask, digit, fixed: [] };
}

/** Returns each digit's even move of a view's place; undefined for uneven moves, or if the view leaves the tensor. */
function movesOf({ axes }: View, { outDigits }: Step, count: number): number[] | undefined {
  const moves = evenMoves(axes, outDigits.length);
  const isInside = axes.every((axis) => {
    const [low, high] = axisRange(axis, (digit) => outDigits[digit]!);
    return low >= 0 && high < axis.extent;
  });
  const reached = moves && outDigits.reduce((sum, radix, k) => sum + (radix - 1) * moves[k]!, 0);
  return isInside && reached !== undefined && reached < count ? moves : undefined;
}

/** Returns each digit's even move of a place, from the tensor's first element on; undefined for uneven moves. */
function evenMoves(axes: View["axes"], digits: number): number[] | undefined {
  const moves = new Array<number>(digits).fill(0);
  for (const { div, indirect, base, coeffs, stride } of axes) {
    if (div !== 1 || indirect !== undefined || base * stride !== 0) return undefined;
    for (const { digit, coeff } of coeffs) moves[digit]! += coeff * stride;
  }
  return moves;
}

/**
 * Finds out whether a step's tensor has the rows of a carried tensor, and otherwise equals the item before except for
 * fixed rows.
 */
function followingRows(
  { steps }: Program,
  t: number,
  { input, digit: row }: Omit<InPlace, "followers">,
  s: number,
): Rows | undefined {
  const step = steps[t]!;
  if (step.reduce !== Reduce.none) return undefined;
  const [carried, others]: [View[], View[]] = [[], []];
  for (const view of step.epilogueReads) {
    const ref = step.inputs[view.input]!;
    if (ref.kind === "input" && ref.index === input) carried.push(view);
    else if (ref.kind !== "constant") others.push(view);
  }
  const moves = carried.length === 1 ? evenMoves(carried[0]!.axes, step.outDigits.length) : undefined;
  if (moves === undefined) return undefined;
  const own = steps[s]!.outDigits;
  const inner = digitStrides(own)[row]!;
  const outer = inner * own[row]!;
  const digit = moves.indexOf(inner);
  // Other digits must not move a place to another row.
  let within = 0;
  for (const [k, move] of moves.entries()) {
    if (k === digit || step.outDigits[k] === 1 || move % outer === 0) continue;
    if (move < 0) return undefined;
    within += move * (step.outDigits[k]! - 1);
  }
  if (digit < 0 || within >= inner || step.outDigits[digit]! < own[row]!) return undefined;
  const fixed = others.map((view) => reachedRows(view, digit, step.outDigits[digit]!));
  if (fixed.some((rows) => rows === undefined)) return undefined;
  return { digit, fixed: [...new Set(fixed.flatMap((rows) => rows!))].sort((a, b) => a - b) };
}

/** More fixed rows are not worth the analysis. */
const MOST_FIXED = 4;

/** The few values of a digit for which a view may read its tensor; undefined for many. */
function reachedRows({ axes }: View, digit: number, radix: number): number[] | undefined {
  const own = axes.filter(
    ({ coeffs, div, indirect }) =>
      div === 1 &&
      indirect === undefined &&
      coeffs.length === 1 &&
      coeffs[0]!.digit === digit &&
      coeffs[0]!.coeff !== 0,
  );
  const rows: number[] = [];
  for (let value = 0; value < radix; value++) {
    const isReached = own.every(({ base, coeffs, extent }) => {
      const at = base + value * coeffs[0]!.coeff;
      return at >= 0 && at < extent;
    });
    if (isReached && rows.push(value) > MOST_FIXED) return undefined;
  }
  return rows;
}
