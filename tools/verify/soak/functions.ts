import { compileLoops } from "../../../src/executor/loops/compile.ts";
import { EXACT } from "../../../src/executor/loops/exactFunctions.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import { UsageError } from "../../options.ts";

/** Kummer's series, whose terms are all positive. */
function erf(x: number): number {
  if (!(Math.abs(x) < 6)) return Math.sign(x);
  let term = (2 / Math.sqrt(Math.PI)) * x * Math.exp(-x * x);
  let sum = term;
  for (let n = 1; sum + term !== sum; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return sum;
}

/** Estimates by another mathematical library. The definition is asked only where the two round differently. */
const ESTIMATES = {
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log1p: Math.log1p,
  tanh: Math.tanh,
  sinh: Math.sinh,
  cosh: Math.cosh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  erf,
  sigmoid: (x: number): number => 1 / (1 + Math.exp(-x)),
} as const;
type Tested = keyof typeof ESTIMATES;

const BLOCK = 2 ** 20;
const ALL = 2 ** 32;

/**
 * Compares an elementary kernel on every `stride`-th float32 with another library, and where they differ with the
 * definition.
 * @returns Whether all results are right.
 */
export function soakFunction(name: string, stride: number): boolean {
  if (!(name in ESTIMATES))
    throw new UsageError(`--function ${name}: no independent estimate; choose of ${Object.keys(ESTIMATES).join(", ")}`);
  const estimate = ESTIMATES[name as Tested];
  const memory = kernelMemory(256);
  const axes = [{ extent: BLOCK, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
  const [loop] = compileLoops([
    {
      digits: [{ digit: 0, radix: BLOCK }],
      reads: [{ input: 0, fill: 0n, axes }],
      sourceTypes: [DType.float32],
      constants: [],
      code: [{ op: Op[name as Tested], dtype: DType.float32, a: 0, b: 0, c: 0 }],
      outs: [1],
    },
  ]).on(memory);
  const bits = new Uint32Array(memory.buffer, 0, BLOCK);
  const inputs = new Float32Array(memory.buffer, 0, BLOCK);
  const results = new Float32Array(memory.buffer, 4 * BLOCK, BLOCK);
  let asked = 0;
  let wrong = 0;
  for (let first = 0; first < ALL; first += BLOCK * stride) {
    for (let i = 0; i < BLOCK; i++) bits[i] = first + i * stride;
    loop!([0], [4 * BLOCK], 0, BLOCK);
    for (let i = 0; i < BLOCK; i++) {
      const [x, result] = [inputs[i]!, results[i]!];
      if (Object.is(result, Math.fround(estimate(x)) + 0)) continue;
      asked++;
      if (!Object.is(result, EXACT[name]!(x, 0))) wrong++;
    }
  }
  console.log(`${name}: ${Math.ceil(ALL / stride)} inputs, ${asked} compared with the definition, ${wrong} wrong`);
  return wrong === 0;
}
