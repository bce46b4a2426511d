import { coordinate, wholeCoordinate } from "../../executor/coordinates.ts";
import { DType, dtypeBytes, isFloat, readWord, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { wordNumber } from "../../numerics/numbers.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { isPlainFloatSum } from "../../program/loops.ts";
import { isDot, isPartial, isTotal, hasTwoResults } from "../../program/reduction.ts";
import { product } from "../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../program/types.ts";
import { splitDigits, viewOffset } from "../../program/view.ts";
import { runWide, wideConstant, type WideValue } from "./wideCode.ts";

/** Maximum cost of a float64 chain: terms of plain sums, about ten seconds. */
const MAX_COST = 2 ** 28;

/** The cost of any other term, in plain-sum terms. */
const OTHER_TERM = 40;

/** Floats as float64, or the raw bytes for other types. */
type Tensor = Float64Array | Uint8Array;

/**
 * Evaluates the program steps that the target needs, in float64 without intermediate rounding: the comparison shows
 * which float32 result lies nearer to the model's definition. Integers and truth values come from the exact execution,
 * to keep both on the same path.
 * @param inputs The job's inputs, in the program's order.
 * @param exact The exact execution's tensors, one per step.
 * @param target A step with a float tensor.
 * @returns the target's elements; undefined if the evaluation takes too long
 */
export function wideTensor(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  exact: readonly Uint8Array[],
  target: number,
): Float64Array | undefined {
  const { steps } = model.program;
  const needed = new Set<number>([target]);
  let cost = 0;
  // Steps read earlier ones only.
  for (let s = target; s >= 0; s--) {
    if (!needed.has(s)) continue;
    const step = steps[s]!;
    cost += step.count * product(step.redDigits) * (isPlain(step) ? 1 : OTHER_TERM);
    if (cost > MAX_COST) return undefined;
    for (const ref of step.inputs) if (ref.kind === "step" && isWide(ref.dtype)) needed.add(ref.index);
  }
  const results = new Map<number, Float64Array>();
  const sourceOf = (ref: TensorRef): Tensor => {
    if (ref.kind === "step" && isWide(ref.dtype)) return results.get(ref.index)!;
    const bytes =
      ref.kind === "constant"
        ? constantBytes(model.constants, ref)
        : (ref.kind === "input" ? inputs : exact)[ref.index]!;
    return isFloat(ref.dtype) ? numbersOf(bytes, ref.dtype) : bytes;
  };
  for (const s of [...needed].sort((a, b) => a - b))
    results.set(s, executeWide(steps[s]!, steps[s]!.inputs.map(sourceOf)));
  return results.get(target);
}

/** Words of exact sums are numbers too: the sum in the first word, 0 in the others. */
const isWide = (dtype: DTypeCode): boolean => isFloat(dtype) || dtype === DType.limb;

/** A tensor of floats as numbers. */
export function numbersOf(bytes: Uint8Array, dtype: DTypeCode): Float64Array {
  const size = dtypeBytes(dtype);
  if (dtype === DType.float32) return Float64Array.from(new Float32Array(Uint8Array.from(bytes).buffer));
  return Float64Array.from({ length: bytes.length / size }, (_, i) => wordNumber(readWord(bytes, i, dtype), dtype));
}

const isPlain = (step: Step): boolean => step.reduceType !== undefined && isPlainFloatSum(step);

function executeWide(step: Step, sources: readonly Tensor[]): Float64Array {
  const { outDigits, redDigits, count } = step;
  const constants = step.constants.map(({ value, dtype }) => wideConstant(value, dtype));
  const terms = product(redDigits);
  const sumOf = isPlain(step) ? plainSum(step, sources as readonly Float64Array[], terms) : undefined;
  const hasWords = isPartial(step.reduce) || step.reduce === Reduce.partialTotal;
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const digits = splitDigits(i, outDigits);
    if (hasWords && digits.at(-1) !== 0) continue;
    const slots = readAll(step, step.epilogueReads, digits, sources);
    if (sumOf !== undefined) slots.push(sumOf(digits));
    else if (step.reduceType !== undefined) slots.push(...reduced(step, digits, terms, sources, constants));
    slots.push(...constants);
    runWide(step.epilogue.code, slots, digits);
    out[i] = Number(slots[step.epilogue.out]!);
  }
  return out;
}

/** Returns a function that sums unmodified terms, from an element's digits. */
function plainSum(step: Step, sources: readonly Float64Array[], terms: number): (digits: readonly number[]) => number {
  const { term, termReads, reduce } = step;
  const row = (slot: number): ((digits: readonly number[]) => Float64Array) => {
    const view = termReads[slot]!;
    const source = sources[view.input]!;
    const fill = wideConstant(view.fill, step.inputs[view.input]!.dtype) as number;
    const values = new Float64Array(terms);
    const whole = wholeCoordinate(step, view);
    if (whole !== undefined) {
      const { moves, start } = coordinate(step, whole, new Int32Array(terms));
      return (digits) => {
        const first = start(digits);
        for (let r = 0; r < terms; r++) values[r] = source[first + moves[r]!]!;
        return values;
      };
    }
    const axes = view.axes.map((axis) => ({ ...axis, ...coordinate(step, axis, new Float64Array(terms)) }));
    return (digits) => {
      values.fill(0);
      const inside = new Uint8Array(terms).fill(1);
      for (const { extent, stride, div, moves, start } of axes) {
        const first = start(digits);
        for (let r = 0; r < terms; r++) {
          const at = (first + moves[r]!) / div;
          if (!Number.isInteger(at) || at < 0 || at >= extent) inside[r] = 0;
          else values[r]! += at * stride;
        }
      }
      for (let r = 0; r < terms; r++) values[r] = inside[r] === 1 ? source[values[r]!]! : fill;
      return values;
    };
  };
  const first = row(term.outA);
  const second = isDot(reduce) ? row(term.outB) : undefined;
  return (digits) => {
    const [a, b] = [first(digits), second?.(digits)];
    const sum = new Sum();
    for (let r = 0; r < terms; r++) sum.add(b === undefined ? a[r]! : a[r]! * b[r]!);
    return sum.result();
  };
}

/** A sum that adds the additions' rounding errors back (Neumaier): the order of the terms does not show. */
class Sum {
  #sum = 0;
  #lost = 0;

  add(x: number): void {
    const next = this.#sum + x;
    const lost = Math.abs(this.#sum) >= Math.abs(x) ? this.#sum - next + x : x - next + this.#sum;
    if (Number.isFinite(lost)) this.#lost += lost;
    this.#sum = next;
  }

  result(): number {
    return this.#sum + this.#lost;
  }
}

function readAll(
  step: Step,
  views: readonly View[],
  digits: readonly number[],
  sources: readonly Tensor[],
): WideValue[] {
  const values: WideValue[] = [];
  for (const view of views) {
    const { dtype } = step.inputs[view.input]!;
    // Indirect axes read whole numbers.
    const offset = viewOffset(view, digits, values as bigint[]);
    const source = sources[view.input]!;
    if (offset === undefined) values.push(wideConstant(view.fill, dtype));
    else values.push(source instanceof Float64Array ? source[offset]! : readWord(source, offset, dtype));
  }
  return values;
}

/** The accumulators of an element. */
function reduced(
  step: Step,
  digits: readonly number[],
  terms: number,
  sources: readonly Tensor[],
  constants: readonly WideValue[],
): WideValue[] {
  const { reduce, term, redDigits } = step;
  const sum = new Sum();
  let whole = 0n;
  let best: WideValue | undefined;
  let [at, last, found]: [bigint, WideValue, bigint] = [0n, wideConstant(0n, step.reduceType!), 0n];
  const adds = reduce === Reduce.sum || isDot(reduce) || isPartial(reduce) || isTotal(reduce);
  const isGreatest = reduce === Reduce.max || reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const takesLast = reduce === Reduce.argmaxLast || reduce === Reduce.argminLast;
  for (let r = 0; r < terms; r++) {
    const all = [...digits, ...splitDigits(r, redDigits)];
    const slots = [...readAll(step, step.termReads, all, sources), ...constants];
    runWide(term.code, slots, all);
    const a = slots[term.outA]!;
    const b = hasTwoResults(reduce) ? slots[term.outB]! : 0n;
    if (reduce === Reduce.last) {
      if (a !== 0n) [last, found] = [b, 1n];
    } else if (adds) {
      if (typeof a === "bigint") whole += isDot(reduce) ? a * (b as bigint) : a;
      else sum.add(isDot(reduce) ? a * (b as number) : a);
    } else {
      const wins = best === undefined || (isGreatest ? a > best : a < best) || (takesLast && a === best);
      if (wins || Number.isNaN(a)) [best, at] = [a, BigInt(r)];
    }
  }
  if (reduce === Reduce.last) return [last, found];
  if (adds) return [isWide(step.reduceType!) ? sum.result() : whole];
  return [reduce === Reduce.max || reduce === Reduce.min ? best! : at];
}
