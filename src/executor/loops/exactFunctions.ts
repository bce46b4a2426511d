import { DType } from "../../numerics/dtype.ts";
import { fromNumber, toNumber } from "../../numerics/float32.ts";
import type { ExactFunctions } from "../../numerics/kernels/elementary/elementary.ts";
import { ESTIMATES64, quick64, type Name64 } from "../../numerics/kernels/elementary64/elementary64.ts";
import { ELEMENTARY } from "../../numerics/kernels/elementary/estimates.ts";
import { applyOperation } from "../../program/expression.ts";
import { Op } from "../../program/operations.ts";

/**
 * Maximum number of kept results. The exact functions see few inputs: about one in 2^19 float32 for each function.
 * Inputs chosen to be slow would repeat the same values.
 */
const MAX_RESULTS = 2 ** 16;

function remembering(exact: (x: number, y: number) => number): (x: number, y: number) => number {
  const results = new Map<number, Map<number, number>>();
  let count = 0;
  return (x, y) => {
    const known = results.get(x)?.get(y);
    if (known !== undefined) return known;
    if (count++ >= MAX_RESULTS) {
      results.clear();
      count = 0;
    }
    const result = exact(x, y);
    const row = results.get(x) ?? new Map<number, number>();
    results.set(x, row.set(y, result));
    return result;
  };
}

/**
 * The definitions of elementary functions on numbers, for elements that estimates do not settle; functions of one
 * number are called with one.
 */
export const EXACT: ExactFunctions = Object.fromEntries(
  ELEMENTARY.map((name) => {
    const exact = (x: number, y: number): number =>
      toNumber(applyOperation(Op[name], DType.float32, fromNumber(x), fromNumber(y), 0n));
    // Powers equal to one rounded product often lie halfway between two float32.
    const quick = name === "pow" ? (x: number, y: number) => (y === 2 ? Math.fround(x * x) : exact(x, y)) : exact;
    return [name, remembering((x, y) => quick(x, y))];
  }),
);

const pair = new DataView(new ArrayBuffer(16));

/** An elementary function of float64 by its definition. */
function defined64(name: Name64, x: number, y: number): number {
  pair.setFloat64(0, x);
  pair.setFloat64(8, y);
  pair.setBigUint64(0, applyOperation(Op[name], DType.float64, pair.getBigUint64(0), pair.getBigUint64(8), 0n));
  return pair.getFloat64(0);
}

/** Elementary functions of float64: by estimates, and where these do not settle the result, by the definition. */
export const EXACT64: Readonly<Record<string, (x: number, y: number) => number>> = Object.fromEntries(
  (Object.keys(ESTIMATES64) as Name64[]).map((name) => {
    const quick = quick64(name);
    return [
      name,
      (x: number, y: number): number => {
        const result = quick(x, y);
        return Number.isNaN(result) ? defined64(name, x, y) : result;
      },
    ];
  }),
);

/** C's fmod, exact. */
export const fmodNumber = (x: number, y: number): number => x % y;
