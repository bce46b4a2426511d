import { expect } from "chai";
import { errorFactor } from "../../../src/numerics/kernels/certify.ts";
import { EXACT_SCRATCH } from "../../../src/numerics/kernels/exactDot.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { productKernels } from "../../../src/numerics/kernels/productKernels.ts";
import type { Word } from "../../../src/numerics/dtype.ts";
import { exactDot, exactSumOfProducts } from "../../../src/numerics/exactSum.ts";
import { canonical, fromNumber, toNumber } from "../../../src/numerics/float32.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const memory = kernelMemory(64);
const kernels = productKernels(memory);
const MEGABYTE = 1 << 20;
const [LEFT, RIGHT, VALUES, OUT, FLAGGED, SMALL] = [0, 1, 2, 3, 3.5, 3.75].map((n) => n * MEGABYTE) as Six;
type Six = [number, number, number, number, number, number];
const SCRATCH = SMALL + 128 * 1024;
const STATS = SCRATCH + EXACT_SCRATCH;

const doubles = (at: number, count: number): Float64Array => new Float64Array(memory.buffer, at, count);
const place = (at: number, words: readonly Word[]): void => doubles(at, words.length).set(words.map(toNumber));
const bits = (value: number): Word => fromNumber(value);

function exact(a: readonly Word[], b: readonly Word[]): Word {
  place(LEFT, a);
  place(RIGHT, b);
  const result = BigInt(kernels.exactDot(LEFT, RIGHT, a.length, SCRATCH));
  const scratch = new Uint8Array(memory.buffer, SCRATCH, EXACT_SCRATCH);
  expect(scratch.every((byte) => byte === 0)).to.equal(true);
  return result;
}

const finite = (word: Word): boolean => (word & 0x7f800000n) !== 0x7f800000n;

describe("product kernels", function () {
  this.timeout(30_000);

  it("exactDot_isTheDefinition_onAnyBits", () => {
    const prng = new Prng(1);
    const edges = float32Words(1, 20_000).map(canonical);
    const pool = edges.filter(finite);
    for (let round = 0; round < 3000; round++) {
      const from = round % 20 === 0 ? edges : pool;
      const n = prng.below(12);
      const a = Array.from({ length: n }, () => prng.pick(from));
      const b = Array.from({ length: n }, () => prng.pick(from));
      // Half of them cancel all but for one more term.
      if (round % 2 === 0)
        [a, b].forEach((list, k) => list.push(...list.map((word) => (k === 0 ? word : word ^ 0x80000000n))));
      a.push(prng.pick(from));
      b.push(prng.pick(pool));
      expect(exact(a, b), `${a.join()} . ${b.join()}`).to.equal(exactDot(a, b));
    }
  });

  it("canonicalise_isTheDefinition_onAnyBits_andChangesNothingBehind", () => {
    const words = float32Words(2, 8_000);
    const values = new Uint32Array(memory.buffer, LEFT, words.length + 1);
    values.set(words.map(Number));
    values[words.length] = 0x80000000;
    expect(words.length % 4).to.equal(0);
    kernels.canonicalise(LEFT, words.length / 4);
    words.forEach((word, k) => expect(BigInt(values[k]!), `0x${word.toString(16)}`).to.equal(canonical(word)));
    expect(values[words.length]).to.equal(0x80000000);
  });

  it("exactDot_ofNothing_ofTiesOfSubnormalsAndOfOverflows_isTheDefinition", () => {
    expect(exact([], [])).to.equal(0n);
    const one = 0x3f800000n;
    const half = 0x3f000000n;
    const cases: [Word[], Word[]][] = [
      [[1n], [half]],
      [[3n], [half]],
      [
        [1n, 1n],
        [half, 0x00000001n],
      ],
      [[0x80000001n], [half]],
      [
        [0x7f7fffffn, 0x73000000n],
        [one, one],
      ],
      [
        [0x7f7fffffn, 0x72ffffffn],
        [one, one],
      ],
      [
        [0xff7fffffn, 0xff7fffffn],
        [0x7f7fffffn, 0x7f7fffffn],
      ],
      [
        [0x7f7fffffn, 0xff7fffffn, 1n],
        [0x7f7fffffn, 0x7f7fffffn, one],
      ],
      [
        [one, 0x33800000n],
        [one, one],
      ],
      [
        [0x3f800001n, 0x33800000n],
        [one, one],
      ],
      [
        [one, 0x33800000n, 1n],
        [one, one, 1n],
      ],
    ];
    for (const [a, b] of cases) expect(exact(a, b), `${a.join()} . ${b.join()}`).to.equal(exactDot(a, b));
  });

  it("exactDot_ofMoreTermsThanABinHolds_isTheDefinition", () => {
    const prng = new Prng(2);
    const n = 70_000;
    const words = float32Words(2, n).filter(finite);
    for (const a of [new Array<Word>(n).fill(0x3fffffffn), new Array<Word>(n).fill(0xbfffffffn), words]) {
      const b = a.map((word) => (word === 0x3fffffffn ? word : prng.pick(words)));
      const [left, right] = [a, b].map((list) => Uint32Array.from(list, Number));
      expect(exact(a, b)).to.equal(exactSumOfProducts(left!, 0, right!, 0, a.length).round());
    }
  });

  it("unit_isTheLowestBitOfAllElements", () => {
    const cases: [number[], number][] = [
      [[0, 0], Infinity],
      [[1, 3, 0.5], 0.5],
      [[-48, 16], 16],
      [[2 ** -149, 1], 2 ** -149],
      [[2 ** 127, 0], 2 ** 127],
      [[Infinity, 1], NaN],
      [[NaN], NaN],
    ];
    for (const [values, expected] of cases) {
      doubles(LEFT, values.length).set(values);
      expect(kernels.unit(LEFT, values.length)).to.deep.equal(expected);
    }
  });

  it("norms_areEuclidean_forAnyLength", () => {
    const prng = new Prng(3);
    for (const inner of [1, 2, 3, 4, 5, 7, 8, 33]) {
      const vectors = Array.from({ length: 5 }, () => Array.from({ length: inner }, () => prng.below(1000) - 500));
      doubles(LEFT, 5 * inner).set(vectors.flat());
      kernels.norms(LEFT, inner, 5, SMALL);
      // Integers: exact.
      const expected = vectors.map((vector) => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)));
      expect([...doubles(SMALL, 5)]).to.deep.equal(expected);
    }
  });

  const makers: Record<string, (prng: Prng) => Word> = {
    ordinary: (prng) => bits((prng.uint32() / 2 ** 32 - 0.5) * 8),
    fewBits: (prng) => bits(prng.below(9) / 4 - 1),
    anyFinite: (prng) => {
      const word = canonical(BigInt(prng.uint32()));
      return finite(word) ? word : 1n;
    },
    wholeRange: (prng) => canonical(BigInt(prng.uint32())),
    tiny: (prng) => BigInt(prng.below(1 << 24)),
  };
  for (const [name, make] of Object.entries(makers))
    it(`certifyAndSettle_of${name}_giveTheBitsOfTheDefinition`, () => {
      const prng = new Prng(4);
      for (const [rows, columns, inner] of [
        [3, 9, 6],
        [5, 4, 40],
        [1, 7, 3],
        [7, 1, 1],
        [4, 6, 4],
      ] as const) {
        const left = Array.from({ length: rows * inner }, () => make(prng));
        // Half of the columns repeat the left vectors' elements with signs that make them cancel.
        const right = Array.from({ length: columns * inner }, (_, k) =>
          Math.floor(k / inner) % 2 === 0 ? make(prng) : canonical(left[k % inner]! ^ (k % 2 === 0 ? 0n : 0x80000000n)),
        );
        check(left, right, rows, columns, inner);
      }
    });

  it("sums_ofNothingButZeros_areSettledWithoutIntegers", () => {
    const prng = new Prng(5);
    const [rows, columns] = [6, 7];
    for (const inner of [1, 3, 4, 5, 8, 64, 65]) {
      const number = (): Word => bits((prng.uint32() / 2 ** 32 - 0.5) * 8);
      // Rows are 0 where columns are not, as behind a Relu; zeros have both signs.
      const zero = (): Word => (prng.below(2) === 0 ? 0n : 0x80000000n);
      const half = Array.from({ length: inner }, () => prng.below(2) === 0);
      const masked = (count: number, isOn: boolean): Word[] =>
        Array.from({ length: count * inner }, (_, k) => (half[k % inner] === isOn ? number() : zero()));
      const [left, right] = [masked(rows, true), masked(columns, false)];
      const stats = new Uint32Array(memory.buffer, STATS, 4).fill(0);
      check(left, right, rows, columns, inner);
      expect([...stats.slice(1)], `${inner} terms`).to.deep.equal([0, 0, 0]);
      // One product that is not zero, an infinity and a NaN: none of them is taken for zero.
      for (const word of [bits(2 ** -149), 0x7f800000n, 0x7fc00000n]) {
        const at = prng.below(inner);
        check(left.with(at, word), right.with(at, word), rows, columns, inner);
      }
    }
  });

  function check(left: Word[], right: Word[], rows: number, columns: number, inner: number): void {
    place(LEFT, left);
    place(RIGHT, right);
    const [a, b] = [doubles(LEFT, left.length), doubles(RIGHT, right.length)];
    const values = doubles(VALUES, rows * columns);
    for (let i = 0; i < values.length; i++) {
      let sum = 0;
      const [row, column] = [Math.floor(i / columns), i % columns];
      for (let k = 0; k < inner; k++) sum += a[row * inner + k]! * b[column * inner + k]!;
      values[i] = sum;
    }
    const [rowNorms, columnNorms, leftUnits, rightUnits] = [0, 1, 2, 3].map((n) => SMALL + n * 8192) as [
      number,
      number,
      number,
      number,
    ];
    doubles(leftUnits, rows).fill(0);
    doubles(rightUnits, columns).fill(0);
    kernels.norms(LEFT, inner, rows, rowNorms);
    kernels.norms(RIGHT, inner, columns, columnNorms);
    const factor = errorFactor(inner);
    const count = kernels.certify(VALUES, rowNorms, columnNorms, OUT, rows, columns, factor, FLAGGED);
    const flagged = new Set(new Uint32Array(memory.buffer, FLAGGED, count));
    expect(flagged.size).to.equal(count);
    const expected = Array.from({ length: rows * columns }, (_, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      return Number(
        exactDot(left.slice(row * inner, (row + 1) * inner), right.slice(column * inner, (column + 1) * inner)),
      );
    });
    const out = new Uint32Array(memory.buffer, OUT, rows * columns);
    expected.forEach((word, i) => {
      if (!flagged.has(i)) expect(out[i]).to.equal(word);
    });
    kernels.settle({
      ...{
        count,
        flagged: FLAGGED,
        values: VALUES,
        rowNorms,
        columnNorms,
        left: LEFT,
        right: RIGHT,
        leftUnits,
        rightUnits,
      },
      ...{ out: OUT, columns, inner, scratch: SCRATCH, stats: STATS },
    });
    expect([...out]).to.deep.equal(expected);
  }
});
