import { ModuleBuilder } from "../assembler/moduleBuilder.ts";
import { MAX_PAGES } from "../memory.ts";
import { narrowSettleFunction, narrowFunction, type NarrowSpec } from "./narrowProduct.ts";
import { windowSettleFunction, windowFunction, type WindowSpec } from "./windowSum.ts";

/**
 * Computes float32 sums of products from their float64 factors in memory. Sums that the error bound does not settle are
 * listed from `list` on, see ENTRY_BYTES.
 * @param bound `factor` times the largest magnitude of a left factor.
 * @param factor `errorFactor` of the number of terms; Infinity lists all sums.
 * @param count How many values the cut digit has.
 * @returns The end of the list.
 */
export type DirectCall = (
  ...args: [
    left: number,
    right: number,
    weightSums: number,
    out: number,
    list: number,
    bound: number,
    factor: number,
    count: number,
  ]
) => number;

/** One of the kernels. */
export type DirectSpec = { window: WindowSpec } | { narrow: NarrowSpec };

function define(builder: ModuleBuilder, spec: DirectSpec, name: string): void {
  const fn =
    "window" in spec
      ? windowFunction(spec.window, builder.define(windowSettleFunction(spec.window)))
      : narrowFunction(spec.narrow, builder.define(narrowSettleFunction(spec.narrow)));
  builder.define(fn, name);
}

/** A compiled module, with the function name of each requested kernel. Any thread can use the module. */
export type CompiledKernels = { module: WebAssembly.Module; names: readonly string[] };

/** Compiled kernels, for one memory at a time. */
export type DirectCode = { compiled: CompiledKernels; on(memory: WebAssembly.Memory): DirectCall[] };

/** Compiles kernels to one module; equal kernels share a function. */
export function compileDirect(specs: readonly DirectSpec[]): DirectCode {
  const builder = new ModuleBuilder();
  builder.importMemory(true, MAX_PAGES);
  const known = new Map<string, string>();
  const names = specs.map((spec) => {
    const key = JSON.stringify(spec);
    const name = known.get(key) ?? `f${known.size}`;
    if (!known.has(key)) define(builder, spec, name);
    known.set(key, name);
    return name;
  });
  return directCode({ module: new WebAssembly.Module(builder.encode()), names });
}

/** Returns kernels compiled by {@link compileDirect}, in this thread or another. */
export function directCode(compiled: CompiledKernels): DirectCode {
  return {
    compiled,
    on(memory) {
      const { exports } = new WebAssembly.Instance(compiled.module, { env: { memory } });
      return compiled.names.map((name) => {
        const call = exports[name] as DirectCall;
        return (...args) => call(...args) >>> 0;
      });
    },
  };
}
