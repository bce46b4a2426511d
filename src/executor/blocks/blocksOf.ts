import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { Reduce, type Program, type ProgramInput, type Step, type TensorRef } from "../../program/types.ts";
import type { ExecutorOptions } from "../createExecutor.ts";
import { neededDigits } from "../loops/slots.ts";
import { isConstantFactor, termExpression } from "../plan/productLayout.ts";
import { stepNanoseconds } from "../plan/stepNanoseconds.ts";
import { apartProgram, inputBytes } from "./apart.ts";
import { blockOrder } from "./inPlace.ts";

/**
 * The items of a block, from short to long. Widening the weights once a block takes the time of the products of twenty
 * items. Blocks of four items widen nothing.
 */
const LENGTHS = [4, 8, 16, 32, 48, 64];
/** Block lengths for items of different runs. */
const APART_LENGTHS = [2, 4, 8];
/** The most bytes that the tensors of all blocks in execution take at a time, by estimate. */
const BLOCK_BYTES = 2 ** 30;
/** The largest share of the time in steps that items must take one after the other. */
const MAX_CIRCLES = 0.5;

/**
 * The least share of the time for products of few vectors with constants, in programs without carried tensors: products
 * of many vectors have faster plans item by item.
 */
const MIN_WEIGHTS = 0.5;
/** With more vectors, a single item's product uses each weight often enough. */
const FEW_VECTORS = 8;

/** Whether a step multiplies few vectors with a constant. */
function readsWeights(step: Step): boolean {
  const { reduce, reduceType } = step;
  if (reduce !== Reduce.dot || reduceType !== DType.float32) return false;
  const { outA, outB } = step.term;
  const [isA, isB] = [isConstantFactor(step, outA), isConstantFactor(step, outB)];
  if (isA === isB) return false;
  const radices = [...step.outDigits, ...step.redDigits];
  const vectors = [...neededDigits(termExpression(step), isA ? outB : outA, radices)]
    .filter((digit) => digit < step.outDigits.length)
    .reduce((count, digit) => count * radices[digit]!, 1);
  return vectors < FEW_VECTORS;
}

/**
 * Chooses the blocks in which an executor executes a program's items.
 * @param guessed The checkpoints that are guessed.
 * @param executors How many executors execute blocks of the program at once.
 * @returns undefined if blocks are not faster, or if there is no memory for them
 */
export function blocksOf(program: Program, guessed: readonly number[], executors = 1): ExecutorOptions["blocks"] {
  const { steps } = program;
  const { components, inPlace } = blockOrder(program, new Set(guessed));
  const time = (of: readonly number[]): number => of.reduce((sum, s) => sum + stepNanoseconds(steps[s]!), 0);
  // Where tensors are changed in place, single items take less time in a block than alone.
  const slow = components.filter((each) => each.isCircle && !each.steps.some((s) => inPlace.has(s)));
  const inCircles = slow.reduce((sum, each) => sum + time(each.steps), 0);
  const all = time([...steps.keys()]);
  if (inCircles > MAX_CIRCLES * all) return undefined;
  if (!mayGain(program)) return undefined;
  const bytes = mostBytes(
    program,
    components.flatMap((each) => each.steps),
  );
  const lengths = LENGTHS.filter((length) => length * bytes <= BLOCK_BYTES / executors);
  return lengths.length === 0 ? undefined : { lengths, guessed };
}

/**
 * Chooses block lengths for items of different runs.
 * @returns an empty list if blocks are not faster, or need too much memory
 */
export function apartLengths(program: Program): readonly number[] {
  if (!mayGain(program)) return [];
  const apart = apartProgram(program);
  const bytes = inputBytes(apart) + mostBytes(apart, [...apart.steps.keys()]);
  return APART_LENGTHS.filter((length) => length * bytes <= BLOCK_BYTES);
}

/** Whether a program carries tensors, or mostly reads weights. */
function mayGain({ inputs, steps }: Program): boolean {
  if (inputs.some(({ source }) => source?.kind === "carried")) return true;
  const time = (of: readonly Step[]): number => of.reduce((sum, step) => sum + stepNanoseconds(step), 0);
  return time(steps.filter(readsWeights)) >= MIN_WEIGHTS * time(steps);
}

/** The most bytes of an item's tensors that are needed at a time, if steps are executed in an order. */
function mostBytes({ steps, inputs }: Program, order: readonly number[]): number {
  const last = new Map<number, number>();
  // Steps with equal results for all items execute once.
  const same = new Set<number>();
  const isSame = (ref: TensorRef): boolean =>
    ref.kind === "step" ? same.has(ref.index) : ref.kind === "constant" || isShared(inputs[ref.index]!);
  for (const s of order) if (steps[s]!.inputs.every(isSame)) same.add(s);
  order.forEach((s, at) => {
    last.set(s, at);
    for (const ref of steps[s]!.inputs) if (ref.kind === "step") last.set(ref.index, at);
  });
  const ends: number[] = order.map(() => 0);
  let [now, most] = [0, 0];
  order.forEach((s, at) => {
    const bytes = same.has(s) ? 0 : steps[s]!.count * dtypeBytes(steps[s]!.dtype);
    now += bytes;
    ends[last.get(s)!]! += bytes;
    most = Math.max(most, now);
    now -= ends[at]!;
  });
  return most;
}

const isShared = ({ source }: ProgramInput): boolean => source === undefined || source.kind === "shared";
