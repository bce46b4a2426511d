import type { ValueType } from "../assembler/control.ts";
import { FunctionBuilder } from "../assembler/functionBuilder.ts";
import { f32x4 } from "../assembler/instructions.ts";
import { ModuleBuilder, type Callable } from "../assembler/moduleBuilder.ts";
import { acosPair, ARC_TABLE_BYTES, arcTable, asinPair, atanPair } from "./arc.ts";
import { BOUND, certifiedFunction, POWER_BOUND } from "./certified.ts";
import { errorTable, erfPair } from "./errorFunction.ts";
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
import { POOL_BYTES, writePool } from "./pool.ts";
import type { Estimate } from "./vectorMath.ts";
import {
  cosPair,
  farReduction,
  nearReduction,
  sinPair,
  tanPair,
  type Reduction,
  TURNS_TABLE_BYTES,
  turnsTable,
} from "./trigonometric.ts";

export const ELEMENTARY = [
  ...["exp", "expm1", "sigmoid", "tanh", "sinh", "cosh", "log", "log1p", "asinh", "acosh", "atanh"],
  ...["sin", "cos", "tan", "asin", "acos", "atan", "erf", "pow"],
] as const;

/** The exact functions that flagged elements are given to. */
export type ExactFunctions = Readonly<Record<string, (x: number, y: number) => number>>;

/** The functions of float32 vectors, for other modules to import: `(v128) -> v128`; pow takes two. */
export type ElementaryFunctions = WebAssembly.Imports[string];

/** Where tables lie in the module's own memory. */
const EXPONENTIAL = POOL_BYTES;
const LOGARITHM = EXPONENTIAL + EXPONENTIAL_TABLE_BYTES;
const ARC = LOGARITHM + LOGARITHM_TABLE_BYTES;
const TURNS = ARC + ARC_TABLE_BYTES;
const ERROR = TURNS + TURNS_TABLE_BYTES;
const PAGES = 1;

/** Functions that an angle is reduced for. */
const periodic = (reduction: Reduction): Partial<Record<string, Estimate>> => ({
  sin: sinPair(reduction),
  cos: cosPair(reduction),
  tan: tanPair(reduction),
});

/** A function of vectors as one of a float32. */
function ofOne(vectors: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["f32"], "f32");
  return fn.emit(f32x4.extract(vectors(f32x4.splat(fn.parameters[0]!.get)), 0));
}

function elementaryModule(): WebAssembly.Module {
  const builder = new ModuleBuilder();
  builder.importMemory(true, PAGES);
  const exact = new Map(
    ELEMENTARY.map((name) => {
      const parameters = new Array<ValueType>(name === "pow" ? 2 : 1).fill("f32");
      return [name, builder.importFunction("exact", name, { parameters, results: ["f32"] })];
    }),
  );
  const exp = expPair(EXPONENTIAL);
  const expm1 = expm1Pair(EXPONENTIAL);
  const log = logPair(LOGARITHM);
  const log1p = log1pPair(log);
  const atan = atanPair(ARC);
  const estimates: Partial<Record<string, Estimate>> = {
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
  const far = periodic(farReduction(TURNS));
  for (const name of ELEMENTARY) {
    const [arity, bound] = name === "pow" ? [2, POWER_BOUND] : [1, BOUND];
    const farEstimate = far[name];
    const rest =
      farEstimate === undefined
        ? exact.get(name)!
        : builder.define(ofOne(builder.define(certifiedFunction(farEstimate, exact.get(name)!, arity, bound))));
    builder.define(certifiedFunction(estimates[name]!, rest, arity, bound), name);
  }
  return new WebAssembly.Module(builder.encode());
}

/**
 * Elementary functions of float32 vectors, correctly rounded: estimates in float64 with proven bounds, and `exact` where those do not settle the result.
 * Which elements are asked for may differ between machines that fuse multiplications with additions and others; results do not.
 */
export function elementaryFunctions(exact: ExactFunctions): ElementaryFunctions {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
  const tables = {
    [EXPONENTIAL]: exponentialTable(),
    [LOGARITHM]: logarithmTable(),
    [ARC]: arcTable(),
    [TURNS]: turnsTable(),
    [ERROR]: errorTable(),
  };
  for (const [at, values] of Object.entries(tables))
    new Float64Array(memory.buffer, Number(at), values.length).set(values);
  const module = elementaryModule();
  writePool(memory);
  return new WebAssembly.Instance(module, { env: { memory }, exact }).exports as ElementaryFunctions;
}
