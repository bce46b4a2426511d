import { compileFunctions, instantiate, type CompiledFunctions } from "./compile.ts";
import { reductionFunction } from "./reductionFunction.ts";
import type { ReductionSpec } from "./reductionSpec.ts";

/**
 * Runs a reduction for values `start .. end - 1` of the first out digit; results are stored canonical, at the places of
 * their digits, as in a loop. Float32 sums and dot products that their error bound does not settle are listed by their
 * row-major indices over the out digits, u32 from `flagged` on; their stored results mean nothing.
 * @returns How many are listed.
 */
export type ReductionCall = (
  sources: readonly number[],
  outs: readonly number[],
  flagged: number,
  start: number,
  end: number,
) => number;

/** Compiled reductions, for one memory at a time. */
export type ReductionCode = { compiled: CompiledFunctions; on(memory: WebAssembly.Memory): ReductionCall[] };

/**
 * Compiles reductions to one WebAssembly module; equal ones share a function. Their reads are subject to `canCompile`.
 */
export function compileReductions(specs: readonly ReductionSpec[]): ReductionCode {
  return reductionCode(compileFunctions((imports) => specs.map((spec) => reductionFunction(spec, imports))));
}

/** Returns the reductions compiled by {@link compileReductions} in this or another thread. */
export function reductionCode(compiled: CompiledFunctions): ReductionCode {
  return {
    compiled,
    on: (memory) =>
      instantiate(compiled, memory).map((run) => (sources, outs, flagged, start, end) => {
        return run(...sources, ...outs, flagged, start, end) as number;
      }),
  };
}
