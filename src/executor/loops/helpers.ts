import { DType, type Word } from "../../numerics/dtype.ts";
import { erf as exactErf } from "../../numerics/elementary/erf.ts";
import { exp as exactExp } from "../../numerics/elementary/exp.ts";
import { log as exactLog } from "../../numerics/elementary/log.ts";
import { pow as exactPow } from "../../numerics/elementary/pow.ts";
import { sigmoid as exactSigmoid } from "../../numerics/elementary/sigmoid.ts";
import { tanh as exactTanh } from "../../numerics/elementary/tanh.ts";
import { fromNumber, toNumber } from "../../numerics/float32.ts";
import { applyOperation } from "../../program/expression.ts";
import { Op } from "../../program/operations.ts";

/*
 * Elementary functions as speculation: a float64 estimate, taken where everything within its error bound rounds alike, else the exact
 * definition. No result depends on how good Math.* is as long as the bound holds: it has been measured on all 2^32 inputs to stay below
 * 8 units of 2^-53; the bound allows 512.
 */
const BOUND = 2 ** -44;
/** A rounded sum and a rounded product make the two ends: 2^-52 covers both. */
const MARGIN = BOUND + 2 ** -52;
/**
 * Kummer's series in float64: at most 110 positive terms of two roundings each, and as many additions: below 340 units of 2^-53 = 2^-44.5,
 * and the exponential and four products on top.
 */
const ERF_MARGIN = 2 ** -42 + 2 ** -52;

function rounded(estimate: number, margin: number, exact: (x: Word) => Word, x: number): number {
  const error = Math.abs(estimate) * margin;
  const low = Math.fround(estimate - error);
  // 0 and Infinity say nothing about what they estimate; NaN is unequal to itself.
  if (low === Math.fround(estimate + error) && estimate !== 0 && Math.abs(estimate) !== Infinity) return low + 0;
  return toNumber(exact(fromNumber(x)));
}

const exp = (x: number): number => rounded(Math.exp(x), MARGIN, exactExp, x);
const log = (x: number): number => rounded(Math.log(x), MARGIN, exactLog, x);
const tanh = (x: number): number => rounded(Math.tanh(x), MARGIN, exactTanh, x);
const sigmoid = (x: number): number => rounded(1 / (1 + Math.exp(-x)), MARGIN, exactSigmoid, x);

type Elementary = (x: number) => number;

/** Functions that Math has: off by less than 4 units of 2^-53 on 2^22 float32 each. */
function fromMath<Name extends keyof typeof Op & keyof typeof Math>(...names: Name[]): Record<Name, Elementary> {
  const helpers = names.map((name): [Name, Elementary] => {
    const estimate = Math[name] as Elementary;
    const exact = (x: Word): Word => applyOperation(Op[name], DType.float32, x, 0n, 0n);
    return [name, (x) => rounded(estimate(x), MARGIN, exact, x)];
  });
  return Object.fromEntries(helpers) as Record<Name, Elementary>;
}

const TWO_OVER_SQRT_PI = 1.1283791670955126;

/** See src/numerics/elementary/erf.ts for the series. */
function erf(x: number): number {
  if (!(Math.abs(x) < 4)) return toNumber(exactErf(fromNumber(x)));
  const square = x * x;
  let term = 1;
  let sum = 1;
  for (let divisor = 3; term > sum * 2 ** -60; divisor += 2) {
    term *= (2 * square) / divisor;
    sum += term;
  }
  return rounded(TWO_OVER_SQRT_PI * x * Math.exp(-square) * sum, ERF_MARGIN, exactErf, x);
}

/** Powers that are one correctly rounded operation are computed as such. */
function pow(x: number, y: number): number {
  if (y === 2) return Math.fround(x * x);
  if (y === 1) return x;
  if (y === 0.5 && x >= 0) return Math.fround(Math.sqrt(x));
  return toNumber(exactPow(fromNumber(x), fromNumber(y)));
}

/** C's fmod, exact. */
const fmod = (x: number, y: number): number => x % y;

/** What generated loops call by name: functions of float32. */
export const HELPERS = {
  ...{ exp, log, tanh, sigmoid, erf, pow, fmod },
  ...fromMath("expm1", "log1p"),
  ...fromMath("sin", "cos", "tan", "asin", "acos", "atan"),
  ...fromMath("sinh", "cosh", "asinh", "acosh", "atanh"),
} as const;
