import type { ValueType } from "../assembler/control.ts";
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
import { cosPair, sinPair, tanPair } from "./trigonometric.ts";

export const ELEMENTARY = [
  ...["exp", "expm1", "sigmoid", "tanh", "sinh", "cosh", "log", "log1p", "asinh", "acosh", "atanh"],
  ...["sin", "cos", "tan", "asin", "acos", "atan", "erf", "pow"],
] as const;

/** The exact functions that flagged elements are given to. */
export type ExactFunctions = Readonly<Record<string, (x: number, y: number) => number>>;

/** The functions of float32 vectors, for other modules to import: `(v128) -> v128`; pow takes two. */
export type ElementaryFunctions = WebAssembly.Imports[string];

/** Where tables lie in the module's own memory. */
const EXPONENTIAL = 0;
const LOGARITHM = EXPONENTIAL + EXPONENTIAL_TABLE_BYTES;
const ARC = LOGARITHM + LOGARITHM_TABLE_BYTES;
const ERROR = ARC + ARC_TABLE_BYTES;
const PAGES = 1;

function elementaryModule(): WebAssembly.Module {
  const builder = new ModuleBuilder();
  builder.importMemory(true, PAGES);
  const exact = new Map(
    ELEMENTARY.map((name) => {
      const parameters = new Array<ValueType>(name === "pow" ? 2 : 1).fill("f32");
      return [name, builder.importFunction("exact", name, { parameters, results: ["f32"] })];
    }),
  );
  const exp = builder.define(expPair(EXPONENTIAL));
  const expm1 = builder.define(expm1Pair(EXPONENTIAL));
  const log = builder.define(logPair(LOGARITHM));
  const log1p = builder.define(log1pPair(log));
  const atan = builder.define(atanPair(ARC));
  const estimates: Record<string, Callable> = {
    ...{ exp, expm1, log, log1p, atan },
    sigmoid: builder.define(sigmoidPair(exp)),
    tanh: builder.define(tanhPair(expm1)),
    sinh: builder.define(sinhPair(expm1)),
    cosh: builder.define(coshPair(exp)),
    asinh: builder.define(asinhPair(log1p)),
    acosh: builder.define(acoshPair(log1p)),
    atanh: builder.define(atanhPair(log1p)),
    sin: builder.define(sinPair()),
    cos: builder.define(cosPair()),
    tan: builder.define(tanPair()),
    asin: builder.define(asinPair(atan)),
    acos: builder.define(acosPair(atan)),
    erf: builder.define(erfPair(ERROR)),
    pow: builder.define(powPair(log, exp)),
  };
  for (const name of ELEMENTARY) {
    const [arity, bound] = name === "pow" ? [2, POWER_BOUND] : [1, BOUND];
    builder.define(certifiedFunction(estimates[name]!, exact.get(name)!, arity, bound), name);
  }
  return new WebAssembly.Module(builder.encode());
}

/**
 * Elementary functions of float32 vectors, correctly rounded: estimates in float64 with proven bounds, and `exact` where those do not settle the result.
 * WebAssembly's arithmetic is deterministic: every machine asks for the same elements.
 */
export function elementaryFunctions(exact: ExactFunctions): ElementaryFunctions {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
  const tables = {
    [EXPONENTIAL]: exponentialTable(),
    [LOGARITHM]: logarithmTable(),
    [ARC]: arcTable(),
    [ERROR]: errorTable(),
  };
  for (const [at, values] of Object.entries(tables))
    new Float64Array(memory.buffer, Number(at), values.length).set(values);
  return new WebAssembly.Instance(elementaryModule(), { env: { memory }, exact }).exports as ElementaryFunctions;
}
