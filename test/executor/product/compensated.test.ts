import { expect } from "chai";
import { float32Bits } from "../../../src/executor/arrays.ts";
import { compensatedError } from "../../../src/executor/product/compensated.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { productKernels } from "../../../src/numerics/kernels/productKernels.ts";
import { ExactSum } from "../../../src/numerics/exactSum.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** ExactSum counts in units of 2^-298. Floats here are well below 2^700, so scaling them is exact. */
const UNIT = 2 ** 298;

const memory = kernelMemory(1);
const { compensatedDot } = productKernels(memory);
const [A, B] = [0, 4096];

function dot(left: Float32Array, right: Float32Array): number {
  new Float64Array(memory.buffer, A, left.length).set(left);
  new Float64Array(memory.buffer, B, right.length).set(right);
  return compensatedDot(A, B, left.length);
}

/**
 * Numbers over many binades, then the same in another order and of the other sign, all but a few: ill-conditioned sums.
 */
function cancelling(prng: Prng, terms: number): [Float32Array, Float32Array] {
  const left = new Float32Array(terms);
  const right = new Float32Array(terms);
  const half = terms >> 1;
  for (let k = 0; k < terms; k++) {
    const isMirror = k >= half && prng.below(8) !== 0;
    const number = (): number => (prng.uint32() / 2 ** 32 - 0.5) * 2 ** (prng.below(40) - 20);
    left[k] = isMirror ? -left[terms - 1 - k]! : number();
    right[k] = isMirror ? right[terms - 1 - k]! : number();
  }
  return [left, right];
}

describe("compensated dot product", () => {
  it("cancellingSums_areWithinTheErrorBound", () => {
    const prng = new Prng(21);
    for (let round = 0; round < 400; round++) {
      const terms = 1 + prng.below(300);
      const [left, right] = cancelling(prng, terms);
      const exact = new ExactSum();
      let magnitude = 0;
      left.forEach((value, k) => {
        exact.addProduct(BigInt(float32Bits(left)[k]!), BigInt(float32Bits(right)[k]!));
        magnitude += Math.abs(value * right[k]!);
      });
      const sum = dot(left, right);
      const distance = exact.value - BigInt(sum * UNIT);
      const bound = BigInt(Math.ceil(compensatedError(sum, terms, magnitude) * UNIT));
      expect(distance <= bound && -distance <= bound, `round ${round}`).to.equal(true);
    }
  });

  it("tooManyTerms_haveNoBound", () => {
    expect(compensatedError(1, 2 ** 26, 1)).to.deep.equal(NaN);
  });
});
