import { DType } from "../../../../src/numerics/dtype.ts";
import { limbCount } from "../../../../src/numerics/exactSum.ts";
import { Reduce, type Step, type TensorRef } from "../../../../src/program/types.ts";
import { axis, matMulStep, rowSumStep } from "../../../../testkit/programs/stepModel.ts";
import { randomSubject, randomTensor, type WorstSubject } from "./subject.ts";

/** Rows, terms and columns. */
const PRODUCTS = [
  [1024, 1, 1024],
  [1024, 2, 512],
  [512, 9, 512],
  [256, 64, 256],
  [64, 4096, 64],
  [4, 4096, 4],
  [1, 4096, 1024],
  [3, 4096, 512],
  [1, 2 ** 20, 1],
] as const;
/** Sums and terms. */
const SUMS = [
  [2 ** 19, 1],
  [2 ** 19, 2],
  [2 ** 17, 16],
  [2 ** 12, 2 ** 10],
  [1, 2 ** 22],
] as const;
/** The same for types that the definition adds, and for sums in words. */
const SLOW_SUMS = [
  [2 ** 12, 1],
  [2 ** 9, 16],
  [8, 2 ** 10],
] as const;
const WORDS = [
  [2 ** 10, 1],
  [2 ** 8, 64],
  [1, 2 ** 16],
] as const;
/** A tensor larger than the caches: the number of elements, and the excess bits of a random number. */
const LARGE = 2 ** 24;
const EXCESS = 2 ** 7;

/**
 * Yields exact sums and products: with few terms and many, along memory and across, with constants, at random places.
 */
export function* sums(): Generator<WorstSubject> {
  for (const [rows, inner, columns] of PRODUCTS) {
    const name = `product ${rows} x ${inner} x ${columns}`;
    const step = matMulStep(rows, inner, columns);
    const [left, right] = step.inputs as [TensorRef, TensorRef];
    yield randomSubject(name, step);
    yield randomSubject(`${name}, constant`, { ...step, inputs: [left, constant(right)] });
    // All terms have the same exponent: each term waits for the previous term. A sum below zero is negated before
    // rounding.
    yield randomSubject(`${name}, all -1`, step, { 0: all(-1, rows * inner), 1: all(1, columns * inner) });
  }
  for (const [rows, inner] of SUMS) {
    yield randomSubject(`sums of ${inner}`, rowSumStep(rows, inner));
    yield randomSubject(`sums of ${inner}, across`, acrossStep(rows, inner));
    yield randomSubject(`sums of ${inner}, at random places`, gatheredStep(rows, inner));
  }
  for (const [rows, inner] of SLOW_SUMS)
    for (const dtype of [DType.float16, DType.bfloat16, DType.float64]) {
      yield randomSubject(`sums of ${inner}, type ${dtype}`, ofType(rowSumStep(rows, inner), dtype));
      yield randomSubject(`products of ${inner}, type ${dtype}`, ofType(matMulStep(rows, inner, 4), dtype));
    }
}

const all = (value: number, count: number): Uint8Array => new Uint8Array(new Float32Array(count).fill(value).buffer);

/** Returns the tensor in constant form; the root is set when the bytes are known. */
const constant = ({ dtype, count }: TensorRef): TensorRef => ({ kind: "constant", root: "0x", dtype, count });

const ofType = (step: Step, dtype: DType): Step => ({
  ...step,
  dtype,
  reduceType: dtype,
  inputs: step.inputs.map((ref) => ({ ...ref, dtype })),
});

/** Sums of columns. */
const acrossStep = (rows: number, inner: number): Step => ({
  ...rowSumStep(rows, inner),
  termReads: [{ input: 0, fill: 0n, axes: [axis(0, rows, 1), axis(1, inner, rows)] }],
});

/** Sums elements at random places in a large tensor. */
function gatheredStep(rows: number, inner: number): Step {
  const step = rowSumStep(rows, inner);
  const count = rows * inner;
  const place = { extent: LARGE, stride: 1, base: 0, div: EXCESS, indirect: 0, coeffs: [] };
  return {
    ...step,
    inputs: [
      { kind: "input", index: 0, dtype: DType.uint32, count },
      { kind: "input", index: 1, dtype: DType.float32, count: LARGE },
    ],
    termReads: [step.termReads[0]!, { input: 1, fill: 0n, axes: [place] }],
    term: { code: [], outA: 1, outB: 0 },
  };
}

/** Yields exact sums in words, and sums over such words, for each float type. */
export function* words(): Generator<WorstSubject> {
  yield* wordsOf(DType.float32, WORDS);
  for (const dtype of [DType.float16, DType.bfloat16, DType.float64]) yield* wordsOf(dtype, SLOW_SUMS);
}

function* wordsOf(float: DType, sizes: readonly (readonly [number, number])[]): Generator<WorstSubject> {
  const dtype = DType.limb;
  const limbs = limbCount(float);
  for (const [rows, inner] of sizes) {
    const step = ofType(rowSumStep(rows, inner), float);
    const inWords = { dtype, count: rows * limbs, outDigits: [rows, limbs] };
    const along = (terms: number) => [{ input: 0, fill: 0n, axes: [axis(0, rows, terms), axis(2, terms, 1)] }];
    yield randomSubject(`sums of ${inner} in words, type ${float}`, {
      ...step,
      ...inWords,
      reduce: Reduce.partialSum,
      termReads: along(inner),
    });
    const total = rowSumStep(rows, inner * limbs);
    const inputs = [{ kind: "input", index: 0, dtype, count: rows * inner * limbs } as const];
    const given = { 0: randomTensor(dtype, rows * inner * limbs, 1) };
    const totals = { ...total, dtype: float, inputs, reduceType: float, reduce: Reduce.total };
    yield randomSubject(`totals of ${inner}, type ${float}`, totals, given);
    const partial = { reduce: Reduce.partialTotal, reduceType: dtype };
    yield randomSubject(
      `totals of ${inner} in words, type ${float}`,
      { ...totals, ...inWords, ...partial, termReads: along(inner * limbs) },
      given,
    );
  }
}
