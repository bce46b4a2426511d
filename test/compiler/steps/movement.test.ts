import { expect } from "chai";
import fc from "fast-check";
import { canonicalBytes } from "../../../src/compiler/steps/canonicalBytes.ts";
import { copyElements } from "../../../src/compiler/steps/copyElements.ts";
import { canonicalWord, DType, dtypeBytes, readWord, writeWord } from "../../../src/numerics/dtype.ts";
import { evaluateElement } from "../../../src/program/evaluate.ts";
import type { Step } from "../../../src/program/types.ts";
import { NO_REDUCTION } from "../../../testkit/programs/stepModel.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const TYPES = [DType.uint8, DType.float16, DType.float32, DType.int64] as const;

/** A step that permutes the dimensions of a tensor, or reads it backwards, or the same element again and again. */
function permutation(dtype: DType, shape: readonly number[], order: readonly number[], modes: readonly number[]): Step {
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, dim) => product * dim, 1));
  const count = shape.reduce((product, dim) => product * dim, 1);
  const out = order.map((d) => shape[d]!);
  const axes = order.map((d, digit) => {
    const mode = modes[d]!;
    const [base, coeff] = mode === 0 ? [0, 1] : mode === 1 ? [shape[d]! - 1, -1] : [0, 0];
    return { extent: shape[d]!, stride: strides[d]!, base, div: 1, coeffs: coeff === 0 ? [] : [{ digit, coeff }] };
  });
  return {
    ...NO_REDUCTION,
    ...{ dtype, count, reduceType: dtype, outDigits: out },
    inputs: [{ kind: "input", index: 0, dtype, count }],
    epilogueReads: [{ input: 0, fill: 0n, axes }],
    epilogue: { code: [], out: 0 },
  };
}

describe("movement of constants", () => {
  it("anyPermutation_hasTheBytesOfItsDefinition", () => {
    const dims = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(64, 65, 130)), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(dims, fc.constantFrom(...TYPES), fc.integer({ min: 0, max: 2 ** 31 }), (drawn, dtype, seed) => {
        const prng = new Prng(seed);
        const shape = drawn.reduce<number[]>(
          (fitting, dim) => [...fitting, fitting.reduce((a, b) => a * b, dim) > 20_000 ? 2 : dim],
          [],
        );
        const order = shape.map((_, d) => d).sort(() => prng.below(3) - 1);
        const step = permutation(
          dtype,
          shape,
          order,
          shape.map(() => prng.below(3)),
        );
        const size = dtypeBytes(dtype);
        const drawnBytes = Uint8Array.from({ length: step.count * size }, () => prng.uint32());
        const source = canonicalBytes(drawnBytes, dtype);
        const [found, expected] = [new Uint8Array(source.length), new Uint8Array(source.length)];
        expect(copyElements(step, [source], found)).to.equal(true);
        const read = (_: number, offset: number): bigint => readWord(source, offset, dtype);
        for (let i = 0; i < step.count; i++) writeWord(expected, i, dtype, evaluateElement(step, i, read));
        expect(Buffer.compare(found, expected)).to.equal(0);
      }),
      { numRuns: 150 },
    );
  });

  for (const dtype of [DType.float16, DType.bfloat16, DType.float32, DType.float64])
    it(`floatsOfType${dtype}_haveOneZeroAndOneNaN_andTheSourceStays`, () => {
      const prng = new Prng(7);
      const size = dtypeBytes(dtype);
      const source = Buffer.from(Uint8Array.from({ length: 4_000 * size }, () => prng.uint32()));
      for (let i = 0; i < 4_000; i++) {
        const high = (i + 1) * size - 1;
        if (i % 4 === 0) source.fill(0, i * size, high).fill(0x80, high, high + 1);
        if (i % 4 === 1) source.fill(0xff, i * size + (i % size), high + 1);
        if (i % 8 === 2) source.fill(0, i * size, high).fill(0x7f, high, high + 1);
      }
      const before = Uint8Array.from(source);
      const canonical = canonicalBytes(source, dtype);
      expect(Buffer.compare(source, before)).to.equal(0);
      for (let i = 0; i < 4_000; i++)
        expect(readWord(canonical, i, dtype)).to.equal(canonicalWord(readWord(before, i, dtype), dtype));
    });
});
