import { compileFunctions, instantiate } from "../../../src/executor/loops/compile.ts";
import { whileLoop } from "../../../src/numerics/kernels/assembler/control.ts";
import type { Code } from "../../../src/numerics/kernels/assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../../../src/numerics/kernels/assembler/functionBuilder.ts";
import { f64x2, i32, v128 } from "../../../src/numerics/kernels/assembler/instructions.ts";
import { relaxedMadd } from "../../../src/numerics/kernels/assembler/relaxed.ts";
import { wideEstimate } from "../../../src/numerics/kernels/elementary/certified.ts";
import type { Estimate } from "../../../src/numerics/kernels/elementary/vectorMath.ts";
import type { OpName } from "../../../src/program/operations.ts";

const VECTOR_BYTES = 16;

/** `(from, to, end)`: the float64 estimates of the float32 at `from .. end`, four at a time. */
function estimateFunction(estimate: Estimate): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32"]);
  const [from, to, end] = fn.parameters as [Local, Local, Local];
  const statements: Code[] = [];
  const keepOne = (type: "v128" | "i32", code: Code): Code => {
    const local = fn.local(type);
    statements.push(local.set(code));
    return local.get;
  };
  const operand = keepOne("v128", v128.load(from.get));
  const [first, second] = wideEstimate(estimate, keepOne, [operand]);
  return fn.emit(
    whileLoop(
      i32.ltU(from.get, end.get),
      statements,
      v128.store(to.get, first),
      v128.store(to.get, second, VECTOR_BYTES),
      from.set(i32.add(from.get, i32.const(VECTOR_BYTES))),
      to.set(i32.add(to.get, i32.const(2 * VECTOR_BYTES))),
    ),
  );
}

/** `(a, b, c) -> a b + c` by the instruction that the estimates use. */
function maddFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["f64", "f64", "f64"], "f64");
  const [a, b, c] = fn.parameters.map(({ get }) => f64x2.splat(get)) as [Code, Code, Code];
  return fn.emit(f64x2.extract(relaxedMadd(a, b, c), 0));
}

/** Runs the estimates of a function before they are rounded: their code is that of the kernels. */
type EstimateLoop = (from: number, to: number, end: number) => void;

/**
 * Compiles estimates of a function to loops over a memory, with the tables of the executor's own kernels.
 * @param memory The number of elements must be a multiple of 4.
 */
export function estimateLoops(
  name: OpName,
  estimates: readonly Estimate[],
  memory: WebAssembly.Memory,
): EstimateLoop[] {
  const compiled = compileFunctions((imports) => {
    // The first function to be asked for brings the tables.
    imports.elementary(name, 1);
    return estimates.map(estimateFunction);
  });
  return instantiate(compiled, memory);
}

/** Whether this process rounds `a b + c` once. */
export function isFused(memory: WebAssembly.Memory): boolean {
  const [madd] = instantiate(
    compileFunctions(() => [maddFunction()]),
    memory,
  );
  const near1 = 1 + 2 ** -30;
  return madd!(near1, near1, -(1 + 2 ** -29)) !== 0;
}
