/** Operands for float64's elementary functions: hard to round, or with results at an edge. */
import { canonicalWord, DType, type Word } from "../../src/numerics/dtype.ts";
import { Op, type OpName } from "../../src/program/operations.ts";
import { Prng } from "../random/prng.ts";
import type { OperandPair } from "./elementaryCases.ts";

const buffer = new DataView(new ArrayBuffer(8));

/** The float64 word of a number. */
export function word64(value: number): Word {
  buffer.setFloat64(0, value);
  return canonicalWord(buffer.getBigUint64(0), DType.float64);
}

/** The number of a float64 word. */
export function number64(word: Word): number {
  buffer.setBigUint64(0, word);
  return buffer.getFloat64(0);
}

const POWERS_OF_TWO = [-1074, -1073, -1023, -1022, -200, -126, -80, -60, -55, -54, -53, -52, -51, -28, -27, -26, -13];

/**
 * Where functions leave x, 0 or 1, change their algorithm, over- or underflow; the float64 closest to a multiple of
 * pi/2 (6381956970095103 * 2^797).
 */
const TURNS = [
  ...POWERS_OF_TWO.map((power) => 2 ** power),
  ...[0.1, 0.125, 0.25, 0.3465735902799727, 0.4, 0.5, Math.SQRT1_2, 0.75, 1 - 2 ** -53, 1, Math.SQRT2, 1.5, 2, 2.5],
  ...[3, 4, 5, 5.863584748755167, 5.9215871957945065, 6, 10, 18.714973875118524, 19.061547465398498, 20, 32, 36.7, 40],
  ...[64, 100, 708.3964185322641, 709.782712893384, 710.4758600739439, 744.4400719213812, 745.1332191019412, 746, 1024],
  ...[Math.PI / 4, Math.PI / 2, (3 * Math.PI) / 4, Math.PI, 2 * Math.PI, 100 * Math.PI, 6381956970095103 * 2 ** 797],
  ...[2 ** 53, 2 ** 121, 2 ** 122, 2 ** 123, 2 ** 124, 2 ** 242, 2 ** 243, 2 ** 252, 2 ** 253, 2 ** 254, 2 ** 1023],
  Number.MAX_VALUE,
];

/** Returns hard operands for functions with a single operand, including neighbours and both signs. */
export function hardOperands64(): Word[] {
  const words = TURNS.map(word64);
  const near = words.flatMap((word) => [-2n, -1n, 0n, 1n, 2n].map((step) => word + step)).filter((word) => word >= 0n);
  // sigmoid is 1/2 + x/4 - x^3/48. With x/4 half-way between two neighbours of 1/2, the next term amounts to about
  // 2^-160.
  const midpoints = Array.from({ length: 32 }, (_, i) => word64((2 * i + 1) * 2 ** -53));
  const all = [...near, ...midpoints].flatMap((word) => [word, word | (1n << 63n)]);
  return [...all, 0x7ff0000000000000n, 0xfff0000000000000n, 0x7ff8000000000000n].map((word) =>
    canonicalWord(word, DType.float64),
  );
}

const uniform = (prng: Prng): number => (prng.uint32() + prng.uint32() / 2 ** 32) / 2 ** 32;
const sign = (prng: Prng): number => (prng.below(2) === 0 ? 1 : -1);

/** From any t into a function's domain: towards 0 and, for |t| above 1, towards its ends. */
const intoUnit = (t: number): number => (Math.abs(t) < 1 ? t : Math.sign(t) - 1 / (t * t * t));
const DOMAINS: Partial<Record<OpName, (t: number) => number>> = {
  asin: intoUnit,
  acos: intoUnit,
  atanh: intoUnit,
  acosh: (t) => 1 + Math.abs(t),
};

/** Returns operands of ordinary size in the function's domain, and a few arbitrary operands. */
export function relevantOperands64(name: OpName, count: number): OperandPair[] {
  const prng = new Prng(Op[name]);
  if (name === "pow") return balancedPowers64(prng, count);
  const inside = DOMAINS[name] ?? ((t: number) => t);
  return Array.from({ length: count }, (_, i): OperandPair => {
    if (i % 8 === 0) return [anyWord(prng), 0n];
    const t = sign(prng) * (1 + uniform(prng)) * 2 ** (prng.below(40) - 30);
    return [word64(inside(t)), 0n];
  });
}

const anyWord = (prng: Prng): Word =>
  canonicalWord((BigInt(prng.uint32()) << 32n) | BigInt(prng.uint32()), DType.float64);

/** Pairs whose power is finite and not 0: y is about c / log2 x. */
function balancedPowers64(prng: Prng, count: number): OperandPair[] {
  return Array.from({ length: count }, (_, i): OperandPair => {
    const x = i % 2 === 0 ? 1 + sign(prng) * uniform(prng) * 2 ** -prng.below(50) : Math.abs(number64(anyWord(prng)));
    const y = (sign(prng) * uniform(prng) * 1080) / Math.log2(x);
    return [word64(x), Number.isFinite(y) ? word64(y) : 0n];
  });
}

/** Hard pairs for pow: exact results, exact midpoints, over- and underflow, special values. */
export function hardPowPairs64(): OperandPair[] {
  const pairs: [number, number][] = [];
  // 54 bits: midpoints. For an odd k, 2^27 + k is odd, and the square has 55 bits above sqrt(2) 2^27.
  for (let k = 1; k < 200; k += 2) pairs.push([2 ** 27 + k, 2], [94906267 + k, 2], [-(94906267 + k), 2]);
  for (const base of [3, 5, 7, 9, 11, 99, 262147, 181_000_001])
    for (const n of [2, 3, 4, 5, 17, 23, 33, 34, -1, -2, 0.5, 1.5, 0.25]) pairs.push([base, n], [-base, n]);
  for (let m = 1; m < 2 ** 26; m = 3 * m + 1) pairs.push([m * m, 0.5], [m * m, -0.5], [m * m * 2 ** -200, 1.5]);
  for (let m = 1; m < 2 ** 13; m += 777) pairs.push([m ** 4, 0.25], [m ** 4, 0.75], [m ** 4, 1.25]);
  for (let n = -1076; n < 1026; n += n > -1070 && n < 1020 ? 97 : 1)
    pairs.push([2, n], [0.5, n], [4, n / 2], [2 ** -1074, n / 1074], [-2, n], [1 + 2 ** -52, n * 2 ** 52]);
  const special = [0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, 2 ** 53, 2 ** 53 - 1, 2 ** 1000, -(2 ** 1000), 5e-324];
  const edges = [...special, Infinity, -Infinity, NaN, Number.MAX_VALUE, -Number.MAX_VALUE];
  for (const x of edges) for (const y of edges) pairs.push([x, y]);
  return pairs.map(([x, y]) => [word64(x), word64(y)]);
}
