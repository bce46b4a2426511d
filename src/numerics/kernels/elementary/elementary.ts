import type { ValueType } from "../assembler/control.ts";
import { FunctionBuilder } from "../assembler/functionBuilder.ts";
import { f32x4 } from "../assembler/instructions.ts";
import { ModuleBuilder, type Callable } from "../assembler/moduleBuilder.ts";
import { checked } from "../checked.ts";
import { certifiedFunction } from "./certified.ts";
import { ELEMENTARY, estimateOf, farEstimateOf, TABLES_END, writeTables } from "./estimates.ts";
import { POOL_BYTES, writePool } from "./pool.ts";
import { hasTwoMemories, importTables, TABLE_PAGES } from "./tables.ts";

/** The exact functions, for elements that no estimate settles. */
export type ExactFunctions = Readonly<Record<string, (x: number, y: number) => number>>;

/**
 * The functions of float32 vectors, for other modules to import: `(v128) -> v128`, pow takes two; and the memory of
 * their tables.
 */
export type ElementaryFunctions = { functions: WebAssembly.Imports[string]; tables: WebAssembly.Memory };

/** Makes a function on one float32 from a function on vectors. */
function ofOne(vectors: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["f32"], "f32");
  return fn.emit(f32x4.extract(vectors(f32x4.splat(fn.parameters[0]!.get)), 0));
}

function elementaryModule(): WebAssembly.Module {
  const builder = new ModuleBuilder();
  // If a module can have two memories, the second holds the tables: the first is the memory for computing.
  if (hasTwoMemories) builder.importMemory(true, TABLE_PAGES);
  importTables(builder);
  const exact = new Map(
    ELEMENTARY.map((name) => {
      const parameters = new Array<ValueType>(name === "pow" ? 2 : 1).fill("f32");
      return [name, builder.importFunction("exact", name, { parameters, results: ["f32"] })];
    }),
  );
  for (const name of ELEMENTARY) {
    const arity = name === "pow" ? 2 : 1;
    const far = farEstimateOf(name);
    const rest =
      far === undefined
        ? exact.get(name)!
        : builder.define(ofOne(builder.define(certifiedFunction(far, exact.get(name)!, arity))));
    builder.define(certifiedFunction(estimateOf(name), rest, arity), name);
  }
  return new WebAssembly.Module(checked("elementary functions", builder.encode()));
}

/**
 * Returns elementary functions of float32 vectors, correctly rounded: estimates in float64 with proven bounds, and
 * `exact` if the bounds do not settle the result. Machines that fuse multiplications with additions may call `exact`
 * for other elements than machines without fusing; the results are the same.
 * @throws OtherKernelsError if code, tables or constants differ from the tested ones
 */
export function elementaryFunctions(exact: ExactFunctions): ElementaryFunctions {
  const tables = new WebAssembly.Memory({ initial: TABLE_PAGES, maximum: TABLE_PAGES, shared: true });
  writeTables(tables);
  const module = elementaryModule();
  writePool(tables);
  const bytes = new Uint8Array(tables.buffer);
  checked("constants", bytes.slice(0, POOL_BYTES));
  checked("tables", bytes.slice(POOL_BYTES, TABLES_END));
  const instance = new WebAssembly.Instance(module, { env: { memory: tables }, tables: { memory: tables }, exact });
  return { functions: instance.exports as WebAssembly.Imports[string], tables };
}
