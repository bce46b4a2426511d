import { expect } from "chai";
import { concatHex, numberToHex, type Hex } from "viem";
import { arithmeticOf } from "../../../src/numerics/arithmetic.ts";
import { DType, dtypeBytes, dtypeName, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { ExactSum, limbCount } from "../../../src/numerics/exactSum.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { OTHER_FLOATS } from "../../../testkit/numerics/floatWords.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

/**
 * How far below the first product the second one lies, whose sign is the other: next to it, below its bits, in another
 * window.
 */
const GAPS = [0, 1, 25, 49, 100, 128, 200, 300];

/** Rows of a call: few, because memory is dear. */
const BATCH = 40;

const pack = (words: readonly Word[], bytes: number): Hex =>
  concatHex(words.map((word) => numberToHex(word, { size: bytes })));

/** A product whose factors' exponent fields add up to `fields`, of all bits or of one, and its sign. */
function product(dtype: DTypeCode, fields: number, full: boolean, negative: boolean): [Word, Word] {
  const { fractionBits, sign } = arithmeticOf(dtype).format;
  const unit = 1n << BigInt(fractionBits);
  const field = fields >> 1;
  const [a, b] = [BigInt(field) * unit, BigInt(fields - field) * unit];
  return full ? [negative ? a + (unit - 1n) + sign : a + (unit - 1n), b + (unit - 1n)] : [negative ? a + sign : a, b];
}

/**
 * Rows of three products, at `count` places from the lowest product to the highest: one, an opposite one at or below
 * it, and the least.
 */
function rowsOf(dtype: DTypeCode, count: number): Word[][] {
  const { fractionBits, infinity, sign } = arithmeticOf(dtype).format;
  const highest = 2 * Number((infinity >> BigInt(fractionBits)) - 1n);
  const rows: Word[][] = [];
  for (let k = 0; k < count; k++) {
    const fields = 2 + Math.floor((k * (highest - 2)) / (count - 1));
    for (const [n, negative] of [false, true, false, true].entries()) {
      const gap = GAPS[(k + n) % GAPS.length]!;
      const first = product(dtype, fields, n < 2, negative);
      const second = product(dtype, Math.max(2, fields - gap), (k & 1) === 0, !negative);
      rows.push([...first, ...second, (k & 2) === 0 ? 1n : sign | 1n, (k & 4) === 0 ? 1n : 0n]);
    }
  }
  return rows;
}

function sumOf(dtype: DTypeCode, row: readonly Word[]): ExactSum {
  const sum = new ExactSum(arithmeticOf(dtype));
  for (let k = 0; k < row.length; k += 2) sum.addProduct(row[k]!, row[k + 1]!);
  return sum;
}

describe("Exact sums at every place", () => {
  const deploy = async () => {
    const { viem } = await createCallChain();
    return { own: await viem.deployContract("Float32Harness"), others: await viem.deployContract("FloatHarness") };
  };
  let chain: Awaited<ReturnType<typeof deploy>>;
  let verifier: DeployedVerifier;
  before(async () => {
    chain = await deploy();
    verifier = await deployVerifier();
  });

  async function compare(dtype: DTypeCode, all: readonly Word[][]): Promise<void> {
    const terms = BigInt(all[0]!.length / 2);
    for (let from = 0; from < all.length; from += BATCH) {
      const rows = all.slice(from, from + BATCH);
      const want = rows.map((row) => sumOf(dtype, row).round());
      if (dtype === DType.float32) {
        const [packed] = await chain.own.read.dots([pack(rows.flat(), 4), terms]);
        expect(packed).to.equal(pack(want, 4));
      } else {
        const args = [BigInt(dtype), BigInt(dtypeBytes(dtype)), pack(rows.flat(), 32), terms] as const;
        expect(await chain.others.read.dots(args)).to.equal(pack(want, 32));
      }
    }
  }

  for (const [dtype, places] of [
    [DType.float32, 507],
    ...OTHER_FLOATS.map((dtype) => [dtype, dtype === DType.float16 ? 59 : 100] as const),
  ] as const) {
    it(`${dtypeName(dtype)}_anyProductLessAnyOther_isTheDefinitions`, async () => {
      await compare(dtype, rowsOf(dtype, places));
      // Alone: no other term carries or borrows.
      await compare(
        dtype,
        rowsOf(dtype, places).map((row) => row.slice(0, 2)),
      );
    });
  }

  for (const dtype of [DType.float32, ...OTHER_FLOATS])
    it(`partialDotOf${dtypeName(dtype)}_anyProductLessAnyOther_isTheDefinitions`, async () => {
      const limbs = limbCount(dtype);
      for (const row of rowsOf(dtype, dtype === DType.float64 ? 7 : 18)) {
        const tensors = [0, 1].map((n) =>
          tensorOf(
            dtype,
            [0, 1, 2].map((k) => row[2 * k + n]!),
          ),
        );
        const axes = [{ extent: 3, stride: 1, base: 0, div: 1, coeffs: [{ digit: 1, coeff: 1 }] }];
        const step: Step = {
          dtype: DType.limb,
          count: limbs,
          inputs: [0, 1].map((index) => ({ kind: "input", index, dtype, count: 3 })),
          outDigits: [limbs],
          redDigits: [3],
          reduce: Reduce.partialDot,
          reduceType: dtype,
          constants: [],
          termReads: [0, 1].map((input) => ({ input, fill: 0n, axes })),
          epilogueReads: [],
          term: { code: [], outA: 0, outB: 1 },
          epilogue: { code: [], out: 0 },
        };
        for (const [k, want] of sumOf(dtype, row).limbs().entries()) {
          const { proof } = proveElement(step, k, tensors);
          expect(await verifier.read.evaluate(proof), `word ${k}`).to.equal(want);
        }
      }
    });
});
