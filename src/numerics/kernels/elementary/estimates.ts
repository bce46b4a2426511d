import { acosPair, ARC_TABLE_BYTES, arcTable, asinPair, atanPair } from "./arc.ts";
import { BOUND, POWER_BOUND, type BoundedEstimate } from "./certified.ts";
import { ERROR_TABLE_BYTES, errorTable, erfPair } from "./errorFunction.ts";
import {
  coshPair,
  expm1Pair,
  EXPONENTIAL_TABLE_BYTES,
  exponentialTable,
  expPair,
  fineExpPair,
  sigmoidPair,
  sinhPair,
  tanhPair,
} from "./exponential.ts";
import {
  acoshPair,
  asinhPair,
  atanhPair,
  log1pPair,
  LOGARITHM_TABLE_BYTES,
  logarithmTable,
  logPair,
  powPair,
} from "./logarithm.ts";
import { POOL_BYTES } from "./pool.ts";
import type { Estimate } from "./vectorMath.ts";
import {
  cosPair,
  farReduction,
  nearReduction,
  sinPair,
  tanPair,
  type AngleReduction,
  TURNS_TABLE_BYTES,
  turnsTable,
} from "./trigonometric.ts";

/** Elementary functions that have kernels. */
export const ELEMENTARY = [
  ...["exp", "expm1", "sigmoid", "tanh", "sinh", "cosh", "log", "log1p", "asinh", "acosh", "atanh"],
  ...["sin", "cos", "tan", "asin", "acos", "atan", "erf", "pow"],
] as const;

/** Where tables lie in their memory, after the constants. */
const EXPONENTIAL = POOL_BYTES;
const LOGARITHM = EXPONENTIAL + EXPONENTIAL_TABLE_BYTES;
const ARC = LOGARITHM + LOGARITHM_TABLE_BYTES;
const TURNS = ARC + ARC_TABLE_BYTES;
const ERROR = TURNS + TURNS_TABLE_BYTES;
/** Where the last table ends. */
export const TABLES_END = ERROR + ERROR_TABLE_BYTES;

/** Returns the functions with an argument reduced to an angle. */
const periodic = (reduction: AngleReduction): Partial<Record<string, Estimate>> => ({
  sin: sinPair(reduction),
  cos: cosPair(reduction),
  tan: tanPair(reduction),
});

const exp = expPair(EXPONENTIAL);
const expm1 = expm1Pair(EXPONENTIAL);
const log = logPair(LOGARITHM);
const log1p = log1pPair(log);
const atan = atanPair(ARC);
const NEAR: Partial<Record<string, Estimate>> = {
  ...{ exp, expm1, log, log1p, atan },
  sigmoid: sigmoidPair(exp),
  tanh: tanhPair(expm1),
  sinh: sinhPair(expm1),
  cosh: coshPair(exp),
  asinh: asinhPair(log1p),
  acosh: acoshPair(log1p),
  atanh: atanhPair(log1p),
  ...periodic(nearReduction),
  asin: asinPair(atan),
  acos: acosPair(atan),
  erf: erfPair(ERROR),
  pow: powPair(log, fineExpPair(EXPONENTIAL)),
};
const FAR = periodic(farReduction(TURNS));

const bounded = (name: string, estimate: Estimate): BoundedEstimate => ({
  estimate,
  bound: name === "pow" ? POWER_BOUND : BOUND,
});

/** The estimate of an elementary function. */
export function estimateOf(name: string): BoundedEstimate {
  const estimate = NEAR[name];
  if (estimate === undefined) throw new RangeError(`no elementary function is called ${name}`);
  return bounded(name, estimate);
}

/**
 * Returns a second estimate for numbers that the first estimate does not settle, tried before calling the definition.
 */
export function farEstimateOf(name: string): BoundedEstimate | undefined {
  const estimate = FAR[name];
  return estimate && bounded(name, estimate);
}

/** Writes all tables. */
export function writeTables(memory: WebAssembly.Memory): void {
  const tables = {
    [EXPONENTIAL]: exponentialTable(),
    [LOGARITHM]: logarithmTable(),
    [ARC]: arcTable(),
    [TURNS]: turnsTable(),
    [ERROR]: errorTable(),
  };
  for (const [at, values] of Object.entries(tables))
    new Float64Array(memory.buffer, Number(at), values.length).set(values);
}
