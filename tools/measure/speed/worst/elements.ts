import { DType, isFloat, type DType as DTypeCode } from "../../../../src/numerics/dtype.ts";
import { product } from "../../../../src/program/sums.ts";
import { Op, OPERATIONS, signature, type OpName } from "../../../../src/program/operations.ts";
import { Reduce, type Axis, type Instruction, type Step, type View } from "../../../../src/program/types.ts";
import { axis, NO_REDUCTION, rowSumStep } from "../../../../testkit/programs/stepModel.ts";
import { randomSubject, type WorstSubject } from "./subject.ts";

/**
 * Element counts: for a tensor larger than the caches, for large and usual tensors, and for tensors computed by the
 * definition.
 */
const LARGE = 2 ** 24;
const MANY = 2 ** 21;
const USUAL = 2 ** 19;
const FEW = 2 ** 13;
const SIDES = [1024, 4096, 8192];
const CHAIN = 32;
const TYPES = Object.values(DType);
const isSlow = (dtype: DTypeCode): boolean => dtype === DType.float64 || dtype === DType.limb;

/** An input's type and count. */
type Source = readonly [dtype: DTypeCode, count: number];

/** Returns a step without a reduction, with the last slot as the result. */
export function plainStep(
  dtype: DTypeCode,
  outDigits: readonly number[],
  sources: readonly Source[],
  views: readonly View[],
  code: readonly Instruction[] = [],
): Step {
  return {
    ...NO_REDUCTION,
    dtype,
    count: product(outDigits),
    inputs: sources.map(([type, count], index) => ({ kind: "input", index, dtype: type, count })),
    outDigits,
    epilogueReads: views,
    epilogue: { code, out: views.length + code.length - 1 },
  };
}

/** Returns a view over all elements of an input, in order. */
export const whole = (input: number, count: number): View => ({ input, fill: 0n, axes: [axis(0, count, 1)] });

/** Reads: copies, transpositions, random places, many axes with bounds and divisors. */
export function* reads(): Generator<WorstSubject> {
  for (const dtype of TYPES) {
    const count = isSlow(dtype) ? FEW : MANY;
    yield randomSubject(`copy of type ${dtype}`, plainStep(dtype, [count], [[dtype, count]], [whole(0, count)]));
  }
  for (const side of SIDES)
    for (const dtype of [DType.float32, DType.uint8]) {
      const view = { input: 0, fill: 0n, axes: [axis(0, side, 1), axis(1, side, side)] };
      const step = plainStep(dtype, [side, side], [[dtype, side * side]], [view]);
      yield randomSubject(`transposition of ${side} x ${side}, type ${dtype}`, step);
    }
  const places = new Int32Array(MANY).map((_, k) => Math.imul(k, 0x9e3779b1) >>> 8);
  for (const dtype of [DType.float32, DType.uint8, DType.int64]) {
    const axes = [{ extent: LARGE, stride: 1, base: 0, div: 1, indirect: 0, coeffs: [] }];
    const sources: Source[] = [
      [DType.int32, MANY],
      [dtype, LARGE],
    ];
    const step = plainStep(dtype, [MANY], sources, [whole(0, MANY), { input: 1, fill: 0n, axes }]);
    yield randomSubject(`random reads of type ${dtype}`, step, { 0: new Uint8Array(places.buffer) });
  }
  for (const count of [1, 4, 8])
    for (const times of [1, 8]) {
      const view: View = { input: 0, fill: 0n, axes: slantedAxes(count) };
      const step = plainStep(DType.float32, SLANTED, [[DType.float32, product(SLANTED)]], Array(times).fill(view));
      yield randomSubject(`${times} reads of ${count} axes`, step);
    }
}

const SLANTED = new Array<number>(8).fill(6);

/** Axes that depend on all digits, leave their bounds, and are divided. */
const slantedAxes = (count: number): Axis[] =>
  SLANTED.slice(0, count).map((radix, k) => ({
    extent: radix,
    stride: radix ** k,
    base: -1,
    div: 2,
    coeffs: SLANTED.map((_, digit) => ({ digit, coeff: ((digit + k) % 3) - 1 })),
  }));

/** Each operation of each type, once and in a chain; each conversion. */
export function* operations(): Generator<WorstSubject> {
  const others: readonly OpName[] = ["cast", "select", "digit"];
  for (const name of OPERATIONS.filter((each) => !others.includes(each))) {
    const { accepts, bool } = signature(Op[name])!;
    for (const dtype of TYPES.filter(accepts))
      for (const times of [1, CHAIN]) {
        const count = (isSlow(dtype) ? FEW : USUAL) / times;
        const sources: Source[] = [
          [dtype, count],
          [dtype, count],
        ];
        const out = bool === true ? DType.bool : dtype;
        const step = plainStep(out, [count], sources, [whole(0, count), whole(1, count)], chain(name, dtype, times));
        yield randomSubject(`${times} x ${name} of type ${dtype}`, step);
      }
  }
  const types = TYPES.filter(signature(Op.cast)!.accepts);
  for (const from of types)
    for (const to of types) {
      const count = isSlow(from) || isSlow(to) || to === DType.bfloat16 ? FEW : USUAL;
      const code = [{ op: Op.cast, dtype: from, a: 0, b: to, c: 0 }];
      const step = plainStep(to, [count], [[from, count]], [whole(0, count)], code);
      yield randomSubject(`cast from type ${from} to ${to}`, step);
    }
}

/** An operation on two reads, then on its result and a read, and so on; a condition on the reads only. */
function chain(name: OpName, dtype: DTypeCode, times: number): Instruction[] {
  const { arity, bool } = signature(Op[name])!;
  const first = (k: number): number => (k === 0 || bool === true ? 0 : k + 1);
  return Array.from({ length: times }, (_, k) => ({ op: Op[name], dtype, a: first(k), b: arity > 1 ? 1 : 0, c: 0 }));
}

const FOLDS = [Reduce.sum, Reduce.dot, Reduce.max, Reduce.min, Reduce.argmax, Reduce.argminLast, Reduce.last] as const;
const FOLDED = [DType.float32, DType.float16, DType.float64, DType.int8, DType.int32, DType.int64, DType.uint64];
/** Results and terms. */
const FOLD_SIZES = [
  [2 ** 18, 1],
  [2 ** 16, 8],
  [8, 2 ** 16],
] as const;

/** Reductions other than exact sums. */
export function* folds(): Generator<WorstSubject> {
  for (const reduce of FOLDS)
    for (const dtype of FOLDED) {
      const adds = reduce === Reduce.sum || reduce === Reduce.dot;
      if (adds && isFloat(dtype)) continue;
      for (const [rows, inner] of FOLD_SIZES) {
        const terms = isSlow(dtype) ? Math.max(1, inner / 64) : inner;
        const step = foldStep(reduce, dtype, (rows * inner) / terms > MANY / 8 && isSlow(dtype) ? FEW : rows, terms);
        yield randomSubject(`reduction ${reduce} of ${terms}, type ${dtype}`, step);
      }
    }
}

function foldStep(reduce: Reduce, dtype: DTypeCode, rows: number, inner: number): Step {
  const step = rowSumStep(rows, inner);
  const [view] = step.termReads as [View];
  const count = rows * inner;
  const isPosition = reduce >= Reduce.argmax && reduce <= Reduce.argminLast;
  const hasTwo = reduce === Reduce.last || reduce === Reduce.dot;
  const first = reduce === Reduce.last ? DType.bool : dtype;
  return {
    ...step,
    dtype: isPosition ? DType.int64 : dtype,
    reduce,
    reduceType: dtype,
    inputs: (hasTwo ? [first, dtype] : [first]).map((type, index) => ({ kind: "input", index, dtype: type, count })),
    termReads: hasTwo ? [view, { ...view, input: 1 }] : [view],
    term: { code: [], outA: 0, outB: hasTwo ? 1 : 0 },
  };
}
