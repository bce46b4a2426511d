/** Operands: random ones near the edges of the arithmetic, and operands for single mistakes. */
import { createHash } from "node:crypto";
import { Prng } from "../../../src/base/prng.ts";
import { dtypeBytes, DType, floatFormat, isSigned } from "../../../src/numerics/dtype.ts";
import { float32WordPairs } from "../../../testkit/numerics/float32Words.ts";

export type Pair = readonly [bigint, bigint];

const SIGN = 0x80000000n;
const ROWS = 40;
/** Distances of exponents, from where on an addition ignores the smaller term: Float32's and Float's. */
const FAR = [64, 192];

/** Zeros, the smallest number, one, the largest, infinities and NaNs, each with each; tied subnormal quotients. */
function specialPairs(dtype: DType): Pair[] {
  const { fractionBits, highestExponent, sign, infinity, nan } = floatFormat(dtype);
  const one = BigInt(highestExponent) << BigInt(fractionBits);
  const largest = infinity - 1n;
  const words = [0n, sign, 1n, one | sign, largest | sign, infinity, infinity | sign, nan, infinity | sign | 1n];
  const two = one + (1n << BigInt(fractionBits));
  const ties = [1n, 3n, 5n | sign].map((word): Pair => [word, two]);
  return [...words.flatMap((a) => words.map((b): Pair => [a, b])), ...ties];
}

/** Pairs of words of a float type: special ones, and `count` whose sums tie, whose products are near the ends. */
export function pairsOf(dtype: DType, seed: number, count = 96): readonly Pair[] {
  const random = new Prng(seed);
  const { bits, fractionBits, highestExponent, sign } = floatFormat(dtype);
  const last = 2 * highestExponent + 1;
  const fraction = (): bigint => {
    const any = random.bits(fractionBits);
    const bit = BigInt(random.below(fractionBits));
    return random.pick([any, any & ((1n << bit) - 1n), (any >> bit) << bit, (1n << bit) - 1n, 1n << bit, 0n]);
  };
  const word = (field: number): bigint => {
    const held = BigInt(Math.max(0, Math.min(last - 1, field)));
    return (random.below(2) === 0 ? 0n : sign) | (held << BigInt(fractionBits)) | fraction();
  };
  const pairs = specialPairs(dtype);
  for (let k = 0; k < count; k++) {
    const field = random.pick([0, 1, 2, last - 2, last - 1, random.below(last), random.below(last)]);
    const first = word(field);
    const distance = random.pick([...FAR.filter((each) => each < last), last >> 1]);
    const second = [
      BigInt.asUintN(bits, (first ^ (random.below(2) === 0 ? 0n : sign)) + BigInt(random.below(3) - 1)),
      word(field - fractionBits - random.below(4) + 1),
      word(3 * highestExponent - field + random.below(4) - 1),
      word(highestExponent - field - random.below(fractionBits + 5)),
      word(field - highestExponent - random.below(3)),
      word(field + highestExponent - 2 + random.below(fractionBits + 5)),
      word(field - distance + random.below(5) - 2),
      random.bits(bits),
    ][k % 8]!;
    pairs.push(random.below(2) === 0 ? [first, second] : [second, first]);
  }
  // A negative quotient rounds to zero, without a sign.
  pairs.push([sign | 1n, BigInt(highestExponent + 1) << BigInt(fractionBits)]);
  return pairs;
}

/** Pairs of float32. */
export const PAIRS: readonly Pair[] = [...float32WordPairs(530, 400), ...pairsOf(DType.float32, 530)];

const [ONE, INFINITY, NAN] = [0x3f800000n, 0x7f800000n, 0x7fc00000n];
/** 2^-24 ties with 1; products of 2^-50, and of the smallest number, only break a tie. */
const [TIE, SMALL, SMALLEST] = [0x33800000n, 0x26800000n, 1n];

/** Rows for single mistakes: a single sort of infinity, both, no number; ties broken far beneath. */
const ROWS_OF: Readonly<Record<number, readonly (readonly Pair[])[]>> = {
  1: [0n, ONE, ONE | SIGN, INFINITY, INFINITY | SIGN, NAN].flatMap((word): (readonly Pair[])[] => [
    [[word, INFINITY]],
    [[INFINITY | SIGN, word]],
    [[word, NAN | SIGN]],
  ]),
  2: [
    [INFINITY, INFINITY],
    [INFINITY, INFINITY | SIGN],
    [INFINITY | SIGN, INFINITY | SIGN],
    [INFINITY | SIGN, NAN],
    [TIE, TIE | SIGN],
  ].map((words) => words.map((word): Pair => [word, ONE])),
  3: [SMALL, SMALLEST].flatMap((small) =>
    [0n, SIGN].flatMap((sign) =>
      [ONE, ONE + 1n, ONE | SIGN].map((one): Pair[] => [
        [one, ONE],
        [TIE | (one & SIGN), ONE],
        [small, small | sign],
      ]),
    ),
  ),
};

/** Sums of products: rows of `terms` pairs each. Half of the rows cancel but for their last term. */
export const SUMS: readonly { readonly terms: number; readonly rows: readonly (readonly Pair[])[] }[] = [
  1, 2, 3, 7, 12,
].map((terms) => ({
  terms,
  rows: [
    ...(ROWS_OF[terms] ?? []),
    ...Array.from({ length: ROWS }, (_, row): readonly Pair[] => {
      const pairs = float32WordPairs(1_000 * terms + row, terms);
      if (row % 2 === 0) return pairs;
      const half = pairs.slice(0, (terms - 1) >> 1);
      const opposite = half.map(([a, b]) => [b, a ^ SIGN] as const);
      return [...half, ...opposite, ...pairs.slice(2 * half.length)];
    }),
  ],
}));

type Rounded = { negative: boolean; sticky: boolean; exponent: bigint; mantissa: bigint };

/** Reals for roundToFloat32 within its precondition: near each end of the type, at ties, and with sticky digits. */
export const ROUNDED: readonly Rounded[] = roundedRecords();

function roundedRecords(): Rounded[] {
  const random = new Prng(53);
  const records: Rounded[] = [];
  const add = (negative: boolean, sticky: boolean, exponent: bigint, mantissa: bigint): void => {
    if (!sticky || mantissa >= 1n << 24n || exponent <= -150n) records.push({ negative, sticky, exponent, mantissa });
  };
  for (const length of [1, 24, 25, 26, 60, 254, 255, 256])
    for (const top of [-400, -152, -151, -150, -149, -148, -140, -127, -126, -125, 0, 127, 128, 129, 400]) {
      const bit = 1n << BigInt(length - 1);
      // All ones carry; a bit beneath the last is a tie, after an even bit or an odd bit.
      const low = BigInt(Math.max(0, length - 1 - (top < -126 ? top + 150 : 24)));
      const mantissa = random.pick([
        bit,
        2n * bit - 1n,
        bit | (1n << low),
        bit | (3n << low),
        bit | random.bits(length),
      ]);
      add(random.below(2) === 1, random.below(2) === 1, BigInt(top - length + 1), mantissa & (2n * bit - 1n));
    }
  add(true, false, 5n, 0n);
  for (const exponent of [-(1n << 254n), 1n << 254n]) add(true, false, exponent, 3n);
  return records;
}

/** Integers of a type as words in two's complement. */
export function integerWords(dtype: DType): readonly bigint[] {
  const random = new Prng(dtype);
  const bits = 8 * dtypeBytes(dtype);
  const powers = Array.from({ length: bits }, (_, k) => 1n << BigInt(k));
  const all = powers.flatMap((power) => [power, power - 1n, random.bits(bits) & (2n * power - 1n)]);
  return all.map((value) => (isSigned(dtype) ? BigInt.asUintN(256, BigInt.asIntN(bits, value)) : value));
}

/** SHA-256 of two nodes. */
export const parent = (left: bigint, right: bigint): bigint =>
  BigInt(`0x${createHash("sha256").update(asNode(left)).update(asNode(right)).digest("hex")}`);

const asNode = (word: bigint): Buffer => Buffer.from(word.toString(16).padStart(64, "0"), "hex");

/** A leaf's path, lowest sibling first, with the root, the number of levels and the width to compare with. */
export type Opening = {
  readonly root: bigint;
  readonly levels: bigint;
  readonly width: bigint;
  readonly leaf: bigint;
  readonly index: bigint;
  readonly siblings: readonly bigint[];
};

/** Openings: right ones of every leaf of short lists, and each with a single mistake. */
export const OPENINGS: readonly Opening[] = openings();

function openings(): Opening[] {
  const random = new Prng(54);
  const all: Opening[] = [];
  for (const width of [1, 2, 3, 5, 8]) {
    const levels = Math.ceil(Math.log2(width));
    const leaves = Array.from({ length: 2 ** levels }, (_, k) => (k < width ? random.bits(256) : 0n));
    for (const index of new Set([0, width >> 1, width - 1])) {
      const siblings: bigint[] = [];
      let [nodes, at] = [leaves, index];
      for (; nodes.length > 1; at >>= 1) {
        siblings.push(nodes[at ^ 1]!);
        nodes = nodes.flatMap((node, k) => (k % 2 === 0 ? [parent(node, nodes[k + 1]!)] : []));
      }
      const right = { root: nodes[0]!, levels: BigInt(levels), width: BigInt(width), leaf: leaves[index]!, siblings };
      const opening = { ...right, index: BigInt(index) };
      const next = opening.index + 2n ** opening.levels;
      all.push(opening, { ...opening, leaf: opening.leaf ^ 1n }, { ...opening, root: opening.root ^ 1n });
      all.push({ ...opening, index: next }, { ...opening, index: next, width: next + 1n });
      all.push({ ...opening, index: opening.width }, { ...opening, siblings: [...siblings, 0n] });
      all.push({ ...opening, siblings: siblings.slice(1) }, { ...opening, width: 0n, index: 0n });
      all.push({ ...opening, siblings: siblings.map((node, k) => (k === siblings.length - 1 ? node ^ 1n : node)) });
    }
  }
  // As many levels as an index has bits, and more than a path may have.
  const long = all[0]!;
  for (const levels of [255, 256])
    for (const width of [(1n << 255n) + 1n, 1n << 255n])
      all.push({ ...long, levels: BigInt(levels), width, siblings: Array<bigint>(levels).fill(0n) });
  return all;
}
