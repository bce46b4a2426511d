/**
 * Inputs on which elementary functions are hardest to round, or whose results lie at an edge; -0, NaNs and other edges
 * come with them.
 */
import { canonicalWord, DType, type Word } from "../../src/numerics/dtype.ts";
import { toNumber } from "../../src/numerics/float32.ts";
import { Op, OPERATIONS, type OpName } from "../../src/program/operations.ts";
import { EDGE_BITS } from "./float32Words.ts";
import { Prng } from "../random/prng.ts";

export type OperandPair = readonly [Word, Word];

/**
 * The float32 results closest to a rounding boundary for 26 univariate functions, including all functions tested here,
 * from exhaustive searches over all 2^32 operands. The list holds their operands. Tests try every function on every
 * operand.
 */
const HARDEST = [
  0xc16912cd, 0x65d890d3, 0x3ac37de2, 0xb3800000, 0x33800000, 0x3940ead6, 0xb52d1f9a, 0x3ea07ab9, 0xbac4c65c,
  0x610567e4, 0x3dc252dd, 0x35400003, 0xb76c9f62, 0x73243f06, 0x6115cb11, 0x5ffd33a4, 0x39ea41d0, 0x3f083a1a,
  0x39826222, 0x3d8d6b23, 0x3a1285ff, 0x3a6f7750, 0x655890d3, 0x3a71e7a1, 0x013a18e3, 0x010353b5,
];

/** Where results reach an edge: overflow, underflow, saturation at 1, the bounds of the algorithms' cases. */
const TURNS = [
  0x42b17217,
  0x42b17218, // exp: largest finite result, first infinite one
  0xc2aeac4f,
  0xc2aeac50, // exp: 2^-126
  0xc2ce8ecf,
  0xc2ce8ed0,
  0xc2cff1b4,
  0xc2cff1b5, // exp: 2^-149, 2^-150
  0x33000000,
  0xb3000000,
  0x33800000,
  0xb3800000,
  0xb2800000, // exp leaves 1
  0x3eb17218,
  0x3f851592,
  0xbeb17218, // |r| largest in the reduction by ln 2
  0x3f3504f3,
  0x3f3504f4,
  0x3fb504f3,
  0x3fb504f4, // sqrt(1/2), sqrt(2): log changes binade
  0x3f7fffff,
  0x3f800001,
  0x00000001,
  0x007fffff,
  0x00800000,
  0x7f7fffff,
  0x397fffff,
  0x39800000,
  0x41102cb3,
  0x41102cb4,
  0x417fffff,
  0x41800000, // tanh: x, 1
  0x418aa123,
  0x418aa124,
  0xc2cfffff,
  0xc2d00000,
  0xc2d00001, // sigmoid: 1, 0
  0x407ad444,
  0x407ad445,
  0x407fffff,
  0x40800000, // erf: 1
  0x42ffffff,
  0x43000000,
  0xc2ffffff,
  0xc3000000,
  0x3e800000,
  0xc18aa123,
  0x42b20000, // expm1: 1/4, -1, overflow
  0xbf800000,
  0x4b800000,
  0x7d000000, // log1p: -1, 1 + x inexact in float32, 1 dropped
  0x3f490fdb,
  0x3fc90fdb,
  0x4016cbe4,
  0x40490fdb,
  0x4096cbe4,
  0x40c90fdb,
  0x43c90fdb,
  0x6f79be45, // sin, cos, tan: multiples of pi/4, the float32 closest to a multiple of pi/2
  0x3ecccccd,
  0x3f000000,
  0x40200000, // asin, acos, atan: 2/5, 1/2, 5/2
  0x42b2d4fc,
  0x42b40000, // sinh, cosh: overflow
  0x40000000,
  0x5f000000, // asinh, acosh
];

/** Worst cases and range edges out of the list that the CORE-MATH project publishes for powf. */
const POW_WORST = [
  [0x3f882c00, 0x5fd00000],
  [0x3f882c00, 0xdfd00000],
  [0xbfa00000, 0x49634c90],
  [0x803fc1ff, 0xc9283990],
  [0xbfa003fe, 0x48fd4b80],
  [0xc021bf00, 0x489deb00],
  [0xc11f43fe, 0x47dc4100],
  [0x80000001, 0xcb1a4001],
  [0x80000001, 0xcb000001],
  [0xcf980000, 0x4b000001],
  [0x3547ed87, 0x0cd18d80],
  [0x2386ff07, 0x8a0e4417],
  [0x5639205c, 0x8c5a1110],
  [0x35cd0800, 0x3ff00000],
  [0x19cd0800, 0x3ff00000],
  [0x293b1960, 0xb42fc98a],
  [0xc23d63e0, 0x41b80000],
  [0x423d63e0, 0x41b80000],
  [0x303b3eb9, 0x3f801404],
  [0x041748bc, 0x3f8118bc],
  [0x02d512f8, 0x3f826c72],
  [0x42cd9ae3, 0x3f829e64],
  [0x32f34af5, 0x3f835351],
  [0x411f14df, 0x3f84f5cd],
  [0x3996658b, 0x3f85cde8],
  [0x136b54f5, 0x3f8924fe],
  [0x1d24db42, 0x3f8a84fb],
  [0x62458bc6, 0x3f8acf85],
  [0x5cac73ab, 0x3f8b69f8],
  [0x43ec607b, 0x3f8bf407],
  [0x0fe629f4, 0x3f8ddba9],
  [0x511f259c, 0x3f8ee10d],
  [0x1dc4d5ef, 0x3f8f3c1d],
  [0x784ae361, 0x3f8fbb8e],
  [0x650a3bcc, 0x3f930c6b],
  [0x3f60921e, 0x3f93778c],
  [0x1ba76048, 0x3f93bb37],
  [0x177a7f93, 0x3f952c20],
  [0x474014df, 0x3f96c609],
  [0x46e605ba, 0x3f983b6f],
  [0x0a1e6831, 0x3f99339a],
  [0x3f7fe063, 0x4830c465],
  [0x3f7fe1fe, 0x483a3a10],
  [0x3f7fe1fe, 0x483a3a0f],
  [0x3f7fffe2, 0xcc2a5cf7],
  [0x3f7fff98, 0x4b56fb4a],
  [0x3f7fff98, 0x4b56fb49],
  [0x3f7ffe9b, 0x4a7a8246],
  [0x3f7ffe9b, 0x4a7a8245],
  [0x1f800000, 0xc0000000],
  [0x2f800000, 0xc0800000],
  [0x37800000, 0xc1000000],
  [0x3f000000, 0xc3000000],
  [0x40000000, 0x43000000],
  [0x43800000, 0x41800000],
  [0x5f800000, 0x40000000],
  [0x3f81a4d7, 0x45bbcd21],
  [0x3f7da944, 0x45c39890],
  [0x3f80e71d, 0x45e2cb29],
  [0x3f7f44d9, 0xc6482f8b],
  [0x3f809555, 0x468e60da],
  [0x3f8063b7, 0x468e602d],
  [0x3f802af0, 0xc712f678],
  [0x3f7f9269, 0xc741c24d],
  [0x3f801b5f, 0x47b6bee7],
  [0x3f7fdd7e, 0x481456cf],
  [0x3f8007c6, 0x4898ec6b],
  [0x3f7ff960, 0xc94491e2],
  [0x3f800172, 0xc9b9828d],
  [0x3f7ffe58, 0xca4db5b8],
  [0x3f7fff35, 0xcada2145],
  [0x3f80000c, 0x4b205569],
  [0x3f7fff96, 0xcb3f8d99],
  [0x3f800019, 0x4b9d3713],
  [0x3f7fffdf, 0x4bc55230],
  [0x3f80000d, 0x4c32bae0],
  [0x3f7ffff2, 0xcc60dd36],
  [0x3f800004, 0xccb7e184],
  [0x3f7ffffa, 0xcd0ba910],
  [0x3f800004, 0xcd146f24],
  [0x3f800003, 0x4d386585],
  [0x3f800002, 0xcd755376],
  [0x3f800002, 0xcda88ee8],
  [0x3f7ffffd, 0xcdd9ce36],
  [0x3f7ffffe, 0xce28dd17],
  [0x3f7fffff, 0xce477f04],
  [0x3f7fffff, 0xce7e5c2e],
  [0x3f7fffff, 0x4eb3d378],
  [0x3f2bea9f, 0x435b587b],
  [0x3f2bea9f, 0x435b587a],
  [0x3f2c5071, 0x435ca047],
  [0x3f2c5071, 0x435ca046],
  [0x3f2c1d43, 0x435bfb21],
  [0x3f2c1d43, 0x435bfb20],
  [0x3f81c431, 0x45373666],
  [0x3f85db71, 0xc464bd2a],
  [0x3f81e1c0, 0x446c70c1],
  [0x3f89c0dd, 0x44936fa2],
  [0x3f7d64fa, 0x45b40045],
] as const;

/** The pairs closest to a midpoint without hitting the midpoint; `verify -- exhaust --powers` searched for them. */
const POW_CLOSEST = [
  [0x08399cf5, 0x30a07c45],
  [0x407fffff, 0x3f000000],
  [0x3fd1da38, 0xc0000000],
] as const;

/** `count` neighbours on either side of each word, both signs. */
function around(words: readonly number[], count: number): number[] {
  return words.flatMap((word) =>
    Array.from({ length: 2 * count + 1 }, (_, i) => (word + i - count) >>> 0).flatMap((bits) => [
      bits,
      (bits ^ 0x80000000) >>> 0,
    ]),
  );
}

const word = (bits: number): Word => canonicalWord(BigInt(bits), DType.float32);
const float32Bits = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0]!;

/** The functions of one operand. */
export const UNIVARIATE: readonly OpName[] = OPERATIONS.filter((name) => Op[name] >= Op.exp);

/** sigmoid is 1/2 + x/4 - x^3/48: x/4 half-way between two neighbours of 1/2 and then far beyond. */
const SIGMOID_MIDPOINTS = Array.from({ length: 64 }, (_, i) => float32Bits((2 * i + 1) * 2 ** -24));

/** Hard operands of the functions of one operand. */
export function hardOperands(): Word[] {
  return [...around(HARDEST, 2), ...around(TURNS, 2), ...around(SIGMOID_MIDPOINTS, 0), ...EDGE_BITS].map(word);
}

/**
 * Points at which a result is exact, reaches an edge, or lies next to a rounding boundary: first 0 and 1, which are
 * exact for most functions.
 */
export const POINTS: readonly number[] = [0, 0x3f800000, ...TURNS, ...HARDEST, ...SIGMOID_MIDPOINTS];

/** The operands at most 2^12 units in the last place from a point, of both signs. */
export const nearPoint = (point: number): Word[] => around([point], 2 ** 12).map(word);

/** Hard pairs for pow: published worst cases, exact results, exact midpoints, special values. */
export function hardPowPairs(): OperandPair[] {
  const pairs: (readonly [number, number])[] = [
    ...POW_WORST,
    ...POW_CLOSEST,
    ...EDGE_BITS.flatMap((x) => EDGE_BITS.map((y) => [x, y] as const)),
  ];
  for (const [x, y] of exactPowers()) pairs.push([float32Bits(x), float32Bits(y)]);
  return pairs.map(([x, y]) => [word(x), word(y)]);
}

function exactPowers(): [number, number][] {
  const powers: [number, number][] = [];
  // Odd bases: x^n has 25 bits or more, and many results are midpoints.
  for (let base = 3; base < 6000; base += base < 300 ? 2 : 62)
    for (const n of [2, 3, 4, 5, 7, 10, 15, -1]) powers.push([base, n], [-base, n]);
  for (let base = 4097; base < 4160; base += 2)
    powers.push([base, 2], [base * 2 ** -40, 2], [base * 2 ** -74, 2], [base * 2 ** 50, 2]);
  // Roots: (m^2)^(1/2), (m^4)^(1/4), (m^2)^(3/2).
  for (let m = 1; m < 4096; m += 61) powers.push([m * m, 0.5], [m * m, -0.5], [m * m * 2 ** -100, 0.5], [m * m, 1.5]);
  for (let m = 1; m < 64; m++) powers.push([m ** 4, 0.25], [m ** 4, 0.75], [m ** 4, 1.25]);
  // Powers of two down to and past the smallest subnormal, and up to and past overflow.
  for (let n = -152; n < 130; n++)
    powers.push([2, n], [0.5, n], [4, n / 2], [0.25, n / 2], [2 ** -149, n / 149], [-2, n]);
  return powers;
}

/** Operands of ordinary size, where no function has saturated. */
function ordinaryOperands(seed: number, count: number): OperandPair[] {
  const prng = new Prng(seed);
  const draw = (): Word => BigInt(((prng.below(2) << 31) | ((110 + prng.below(24)) << 23) | prng.below(1 << 23)) >>> 0);
  return Array.from({ length: count }, () => [draw(), draw()]);
}

/** Returns operands inside a function's domain, where special operands are worth trying. */
export function relevantOperands(name: OpName, seed: number, count: number): OperandPair[] {
  if (name === "pow") return balancedPowers(seed, count);
  const operands = ordinaryOperands(seed, count);
  const inside = DOMAINS[name];
  if (inside === undefined) return operands;
  return operands.map(([a, b]) => [BigInt(float32Bits(inside(toNumber(a)))), b]);
}

/** From 2^-17 <= |t| < 2^7 into a function's domain: towards 0 and, for |t| above 1, towards its ends. */
const intoUnit = (t: number): number => (Math.abs(t) < 1 ? t : Math.sign(t) - 1 / (t * t * t));
const DOMAINS: Partial<Record<OpName, (t: number) => number>> = {
  asin: intoUnit,
  acos: intoUnit,
  atanh: intoUnit,
  acosh: (t) => 1 + Math.abs(t),
};

/** Pairs whose power is finite and not 0: y is about c / log2 x. */
function balancedPowers(seed: number, count: number): OperandPair[] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, () => {
    const near1 = prng.below(2) === 0;
    const x = BigInt(
      near1 ? 0x3f800000 + prng.below(1 << prng.below(24)) - prng.below(1 << prng.below(23)) : prng.below(0x7f800000),
    );
    const y = (prng.below(300) - 150 + prng.below(1 << 24) / 2 ** 24) / Math.log2(toNumber(x));
    return [x, Number.isFinite(y) ? BigInt(float32Bits(y)) : 0n];
  });
}
