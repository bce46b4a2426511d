import { expect } from "chai";
import { DType, dtypeName, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Axis, type Step, type View } from "../../../src/program/types.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";

const axis = (extent: number, change: Partial<Axis>): Axis => ({
  extent,
  stride: 1,
  base: 0,
  div: 1,
  coeffs: [],
  ...change,
});
/** By how much digits 1 and 2, which count terms, move a coordinate. */
const moves = (...by: number[]): Axis["coeffs"] => by.map((coeff, k) => ({ digit: 1 + k, coeff }));

/** The sum over two digits of the last read, or the dot product of the last two. */
function sumOf(dtype: DTypeCode, redDigits: number[], counts: [DTypeCode, number][], views: View[], dot = false): Step {
  return {
    dtype,
    count: 1,
    inputs: counts.map(([type, count], index) => ({ kind: "input", index, dtype: type, count })),
    outDigits: [1],
    redDigits,
    reduce: dot ? Reduce.dot : Reduce.sum,
    reduceType: dtype,
    constants: [],
    termReads: views,
    epilogueReads: [],
    term: { code: [], outA: views.length - (dot ? 2 : 1), outB: dot ? views.length - 1 : 0 },
    epilogue: { code: [], out: 0 },
  };
}

describe("Views on chain", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  async function check(step: Step, tensors: readonly Uint8Array[]): Promise<void> {
    const { value, proof } = proveElement(step, 0, tensors);
    const show = JSON.stringify(step.termReads, (_, v: unknown) => (typeof v === "bigint" ? Number(v) : v));
    expect(await verifier.read.evaluate(proof), show).to.equal(value);
  }

  const prng = new Prng(77);
  const words = (count: number): Word[] => Array.from({ length: count }, () => BigInt(prng.below(60_001) - 30_000));

  it("anAxisThatMoves_withADivisor_isTheDefinitions", async () => {
    const data = tensorOf(DType.int16, words(15));
    for (const div of [1, 2, 3])
      for (const coeff of [1, 2, 3, -1, -2, -3, -6])
        for (const base of [-20, -3, 0, 4, 9, 14, 33]) {
          const view = { input: 0, fill: 5n, axes: [axis(15, { base, div, coeffs: moves(0, coeff) })] };
          await check(sumOf(DType.int16, [1, 9], [[DType.int16, 15]], [view]), [data]);
        }
  });

  it("twoAxesThatMove_areTheDefinitions", async () => {
    const data = tensorOf(DType.int16, words(15));
    for (const row of [1, -1, 2])
      for (const column of [1, 2, -1, -2])
        for (const [base, div] of [
          [0, 1],
          [2, 1],
          [4, 1],
          [6, 2],
        ] as const) {
          const axes = [
            axis(3, { stride: 5, base: row < 0 ? 2 : 0, coeffs: moves(0, row) }),
            axis(5, { base, div, coeffs: moves(1, column) }),
          ];
          for (const own of [axes, [...axes].reverse()]) {
            const view = { input: 0, fill: 5n, axes: own };
            await check(sumOf(DType.int16, [2, 5], [[DType.int16, 15]], [view]), [data]);
          }
        }
  });

  for (const dtype of [DType.int8, DType.uint8, DType.int16, DType.int64]) {
    it(`anIndex_${dtypeName(dtype)}_isTheDefinitions`, async () => {
      const signed = dtype !== DType.uint8;
      const indices = [
        2n,
        0n,
        6n,
        signed ? -1n : 1n,
        signed ? -7n : 5n,
        7n,
        signed ? -8n : 100n,
        signed ? -128n : 255n,
      ];
      const tensors = [tensorOf(dtype, indices), tensorOf(DType.int16, words(21))];
      // How digits move the index and the coordinate: neither, one, both.
      for (const [at, move, div] of [
        [1, 0, 1],
        [1, 1, 1],
        [1, -2, 1],
        [0, 1, 1],
        [0, -1, 1],
        [0, -1, 2],
        [-1, 2, 2],
      ] as const)
        for (const base of [0, 1, 7, -1]) {
          const index = {
            input: 0,
            fill: 3n,
            axes: [axis(8, { base: at < 0 ? 7 : 0, coeffs: moves(0, at) })],
          };
          const axes = [
            axis(3, { stride: 7, coeffs: moves(1) }),
            axis(7, { base, div, indirect: 0, coeffs: moves(0, move) }),
          ];
          for (const own of [axes, [...axes].reverse()]) {
            const views = [index, { input: 1, fill: 5n, axes: own }];
            const counts: [DTypeCode, number][] = [
              [dtype, 8],
              [DType.int16, 21],
            ];
            await check(sumOf(DType.int16, [3, 8], counts, views), tensors);
          }
        }
    });
  }

  it("anIndexThatStays_besideAnAxisThatLeavesTheTensor_isTheDefinitions", async () => {
    const tensors = [tensorOf(DType.int8, [2n, -1n, 9n]), tensorOf(DType.int16, words(21))];
    const counts: [DTypeCode, number][] = [
      [DType.int8, 3],
      [DType.int16, 21],
    ];
    for (const at of [0, 1, 2])
      for (const move of [1, -1, 2])
        for (const div of [1, 2]) {
          const index = { input: 0, fill: 3n, axes: [axis(3, { base: at })] };
          const axes = [
            axis(3, { stride: 7, base: move < 0 ? 2 : 0, coeffs: moves(0, move) }),
            axis(7, { div, indirect: 0 }),
          ];
          for (const own of [axes, [...axes].reverse()])
            await check(sumOf(DType.int16, [1, 8], counts, [index, { input: 1, fill: 5n, axes: own }]), tensors);
        }
  });

  for (const dtype of [DType.uint8, DType.int16, DType.int32, DType.int64]) {
    it(`elementsOfAnyStride_${dtypeName(dtype)}_areTheDefinitions`, async () => {
      const data = tensorOf(
        dtype,
        words(700).map((word) => (dtype === DType.uint8 ? word & 255n : word)),
      );
      const counts: [DTypeCode, number][] = [[dtype, 700]];
      for (const stride of [1, 2, 3, 5, 9, 17, 33]) {
        const terms = Math.floor(699 / stride);
        const up = { input: 0, fill: 5n, axes: [axis(700, { base: 3, coeffs: moves(0, stride) })] };
        const down = { input: 0, fill: 5n, axes: [axis(700, { base: 699, coeffs: moves(0, -stride) })] };
        const still = { input: 0, fill: 5n, axes: [axis(700, { base: 698 })] };
        for (const views of [
          [up, down],
          [down, up],
          [down, still],
          [still, up],
        ])
          await check(sumOf(dtype, [1, terms], counts, views, true), [data]);
      }
    });
  }

  it("aStridedReadBeforeBytesThatAreReadAsTheyLie_isTheDefinitions", async () => {
    const [floats, bytes] = [
      tensorOf(DType.int32, words(512)),
      tensorOf(
        DType.uint8,
        words(600).map((w) => w & 255n),
      ),
    ];
    for (const stride of [16, 64, 100, -64, -100]) {
      const base = stride < 0 ? 511 : 0;
      const strided = { input: 0, fill: 5n, axes: [axis(512, { base, coeffs: moves(0, stride) })] };
      const lying = { input: 1, fill: 5n, axes: [axis(600, { coeffs: moves(0, 37) })] };
      const step = sumOf(
        DType.int32,
        [1, 5],
        [
          [DType.int32, 512],
          [DType.uint8, 600],
        ],
        [strided, lying],
      );
      const code = [
        { op: Op.cast, dtype: DType.uint8, a: 1, b: DType.int32, c: 0 },
        { op: Op.mul, dtype: DType.int32, a: 0, b: 2, c: 0 },
      ];
      await check({ ...step, term: { code, outA: 3, outB: 0 } }, [floats, bytes]);
    }
  });
});
