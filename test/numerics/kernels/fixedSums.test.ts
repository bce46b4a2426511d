import { expect } from "chai";
import { DType } from "../../../src/numerics/dtype.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { productKernels } from "../../../src/numerics/kernels/productKernels.ts";
import { cast } from "../../../src/numerics/cast.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const memory = kernelMemory(64);
const kernels = productKernels(memory);
const [LEFT, RIGHT, OUT] = [0, 1, 2].map((n) => n << 20) as [number, number, number];
const { float32, float64, int64 } = DType;
const ONE = 0x3f800000;

type Terms = { a: Uint32Array; b: Uint32Array; bStep: number; terms: number; count: number };
type Unit = { scale: number; limit: number };

/** The sums by the kernel. Memory behind them must stay as it was. */
function byKernel({ a, b, bStep, terms, count }: Terms, { scale, limit }: Unit): bigint[] {
  new Uint32Array(memory.buffer, LEFT, a.length).set(a);
  new Uint32Array(memory.buffer, RIGHT, b.length).set(b);
  const out = new BigInt64Array(memory.buffer, OUT, count + 1).fill(-1n);
  kernels.fixedSums(LEFT, RIGHT, bStep, terms, count, OUT, scale, -limit, limit);
  expect(out[count]).to.equal(-1n);
  return [...out.subarray(0, count)];
}

const word = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!;

/** The same by the operations of the definition, one after the other. */
function byDefinition({ a, b, bStep, terms, count }: Terms, { scale, limit }: Unit): bigint[] {
  const wide = (bits: number): bigint => cast(BigInt(bits), float32, float64);
  const of = (op: Op, x: bigint, y = 0n): bigint => applyOperation(op, float64, x, y, 0n);
  return Array.from({ length: count }, (_, k) => {
    let sum = 0n;
    for (let t = k * terms; t < (k + 1) * terms; t++) {
      const product = of(Op.mul, wide(a[t]!), wide(b[bStep === 0 ? 0 : t]!));
      const rounded = of(Op.round, of(Op.mul, product, word(scale)));
      const clamped = of(Op.max, of(Op.min, rounded, word(limit)), word(-limit));
      sum += BigInt.asIntN(64, cast(clamped, float64, int64));
    }
    return BigInt.asIntN(64, sum);
  });
}

describe("fixedSums", function () {
  this.timeout(60_000);

  function compare(terms: Terms, unit: Unit): void {
    expect(byKernel(terms, unit)).to.deep.equal(byDefinition(terms, unit));
  }

  it("areThoseOfTheDefinition_onAnyBits_withAndWithoutSecondFactors", () => {
    const prng = new Prng(13);
    const edges = float32Words(1, 20_000).map(Number);
    const usual = edges.filter((bits) => ((bits >>> 23) & 255) > 60 && ((bits >>> 23) & 255) < 150);
    for (let round = 0; round < 600; round++) {
      const [terms, count] = [1 + prng.below(40), 1 + prng.below(5)];
      const unit = { scale: 2 ** prng.below(41), limit: 2 ** (40 + prng.below(22)) };
      const draw = (): Uint32Array =>
        Uint32Array.from({ length: terms * count }, () => prng.pick(round % 4 === 0 ? edges : usual));
      compare({ a: draw(), b: draw(), bStep: 4, terms, count }, unit);
      compare({ a: draw(), b: Uint32Array.of(ONE), bStep: 0, terms, count }, unit);
      compare({ a: draw(), b: Uint32Array.of(prng.pick(edges)), bStep: 0, terms, count }, unit);
    }
  });

  it("halves_clampedTerms_andSumsBeyondFloat64_areThoseOfTheDefinition", () => {
    const bits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;
    const all = (value: number, terms: number): Uint32Array => new Uint32Array(terms).fill(bits(value));
    for (const value of [0.5, 1.5, 2.5, -0.5, 2 ** 21, -(2 ** 22), 2 ** 60, NaN, Infinity])
      for (const terms of [1, 2, 9, 5_000])
        compare(
          { a: all(value, terms), b: all(1, terms), bStep: 4, terms, count: 1 },
          { scale: 2 ** 10, limit: 2 ** 49 },
        );
    compare(
      { a: all(1 + 2 ** -20, 1_024), b: all(0.75, 1_024), bStep: 4, terms: 1_024, count: 1 },
      { scale: 2 ** 40, limit: 2 ** 52 },
    );
  });
});
