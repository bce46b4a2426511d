import { expect } from "chai";
import { WORDS_BYTES, WORDS_SCRATCH } from "../../../src/numerics/kernels/exactWords.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { productKernels } from "../../../src/numerics/kernels/productKernels.ts";
import { exactSumOfProducts } from "../../../src/numerics/exactSum.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const memory = kernelMemory(64);
const kernels = productKernels(memory);
const [LEFT, RIGHT, OUT, SCRATCH] = [0, 1, 2, 3].map((n) => n << 20) as [number, number, number, number];
const ONE = 0x3f800000;

/** The sums' words by the kernel, as bytes in hexadecimal. Memory behind them must stay as it was. */
function byKernel(a: Uint32Array, b: Uint32Array, bStep: number, terms: number, count: number): string[] {
  new Uint32Array(memory.buffer, LEFT, a.length).set(a);
  new Uint32Array(memory.buffer, RIGHT, b.length).set(b);
  const out = new Uint8Array(memory.buffer, OUT, count * WORDS_BYTES + 8).fill(0xa5);
  kernels.exactWords(LEFT, RIGHT, bStep, terms, count, OUT, SCRATCH);
  expect(new Uint8Array(memory.buffer, SCRATCH, WORDS_SCRATCH).every((byte) => byte === 0)).to.equal(true);
  expect(out.subarray(count * WORDS_BYTES).every((byte) => byte === 0xa5)).to.equal(true);
  return Array.from({ length: count }, (_, k) =>
    Buffer.from(out.subarray(k * WORDS_BYTES, (k + 1) * WORDS_BYTES)).toString("hex"),
  );
}

/** The same by the definition. */
function byDefinition(a: Uint32Array, b: Uint32Array, bStep: number, terms: number, count: number): string[] {
  return Array.from({ length: count }, (_, k) => {
    const factors = bStep === 0 ? new Uint32Array(terms).fill(b[0]!) : b.subarray(k * terms, (k + 1) * terms);
    const words = exactSumOfProducts(a, k * terms, factors, 0, terms).limbs();
    const hex = words.map((word) => Buffer.from(word.toString(16).padStart(64, "0"), "hex").reverse().toString("hex"));
    return hex.join("");
  });
}

describe("exactWords", function () {
  this.timeout(60_000);

  function compare(a: Uint32Array, b: Uint32Array, bStep: number, terms: number, count: number): void {
    expect(byKernel(a, b, bStep, terms, count)).to.deep.equal(byDefinition(a, b, bStep, terms, count));
  }

  it("areThoseOfTheDefinition_onAnyBits_withAndWithoutSecondFactors", () => {
    const prng = new Prng(11);
    const edges = float32Words(1, 20_000).map(Number);
    const finite = edges.filter((word) => (word & 0x7f800000) !== 0x7f800000);
    for (let round = 0; round < 1_500; round++) {
      const [terms, count] = [prng.below(12), 1 + prng.below(5)];
      const draw = (): Uint32Array =>
        Uint32Array.from({ length: terms * count }, () => prng.pick(round % 20 === 0 ? edges : finite));
      compare(draw(), draw(), 4, terms, count);
      compare(draw(), Uint32Array.of(ONE), 0, terms, count);
      compare(draw(), Uint32Array.of(prng.pick(edges)), 0, terms, count);
    }
  });

  it("areThoseOfTheDefinition_forManyLargestTerms_ofEitherSign_andForEachPairOfExponents", () => {
    for (const largest of [0x7f7fffff, 0xff7fffff]) {
      const all = new Uint32Array(200_000).fill(largest);
      compare(all, new Uint32Array(all.length).fill(0x7f7fffff), 4, all.length, 1);
    }
    for (let x = 0; x < 256; x += 5) {
      const row = Uint32Array.from({ length: 256 }, (_, y) => (y << 23) | 0x7fffff);
      compare(new Uint32Array(256).fill((x << 23) | 0x2aaaab), row, 4, 1, 256);
    }
  });

  it("sumsThatCancel_areZeros_andBorrowThroughAllLanes", () => {
    const tiny = Uint32Array.of(0x80000001);
    compare(tiny, Uint32Array.of(1), 4, 1, 1);
    compare(Uint32Array.of(0x7f7fffff, 0xff7fffff), Uint32Array.of(0x7f7fffff, 0x7f7fffff), 4, 2, 1);
    compare(new Uint32Array(0), new Uint32Array(0), 4, 0, 3);
  });

  it("manyTerms_ofAnySpread_andSumsOfChangingSize_areThoseOfTheDefinition", () => {
    const prng = new Prng(12);
    for (let round = 0; round < 400; round++) {
      const [terms, count, spread] = [
        1 + prng.below(70),
        1 + prng.below(6),
        1 + prng.below(round % 3 === 0 ? 120 : 20),
      ];
      const draw = (): Uint32Array => {
        const lowest = Array.from({ length: count }, () => prng.below(254 - spread));
        return Uint32Array.from({ length: terms * count }, (_, k) => {
          const field = 1 + lowest[Math.floor(k / terms)]! + prng.below(spread);
          return prng.below(9) === 0
            ? prng.below(2) << 31
            : ((prng.below(2) << 31) | (field << 23) | prng.below(2 ** 23)) >>> 0;
        });
      };
      const a = draw();
      compare(a, draw(), 4, terms, count);
      compare(a, Uint32Array.of(draw()[0]!), 0, terms, count);
    }
  });

  it("aTermThatIsNotFinite_amongManyThatAre_isFlagged_andTheNextSumIsRight", () => {
    for (const word of [0x7f800000, 0xff800000, 0x7fc00000])
      for (const at of [0, 7, 16]) {
        const a = new Uint32Array(34).fill(0x3fc00001);
        a[at] = word;
        compare(a, new Uint32Array(34).fill(0x3dcccccd), 4, 17, 2);
        compare(a, Uint32Array.of(0), 0, 17, 2);
      }
  });
});
