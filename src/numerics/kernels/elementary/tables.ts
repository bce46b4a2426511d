import { FunctionBuilder, type Local } from "../assembler/functionBuilder.ts";
import { v128 } from "../assembler/instructions.ts";
import { ModuleBuilder } from "../assembler/moduleBuilder.ts";

/** Pages of the memory of tables and constants. */
export const TABLE_PAGES = 1;

/** Whether a module may have two memories (WebAssembly 3.0). */
export const hasTwoMemories = ((): boolean => {
  const fn = new FunctionBuilder(["i32"], "v128");
  const [address] = fn.parameters as [Local];
  const builder = new ModuleBuilder();
  for (const from of ["env", "tables"]) builder.importMemory(true, TABLE_PAGES, from);
  builder.define(fn.emit(v128.load(address.get, 0, 1)), "load");
  return WebAssembly.validate(builder.encode());
})();

/**
 * The tables' memory index for modules that read tables: 1 if two memories are possible, after the memory for
 * computing.
 */
export const TABLES = hasTwoMemories ? 1 : 0;

/** Imports the memory with tables and constants under the index `TABLES`. */
export function importTables(builder: ModuleBuilder): void {
  builder.importMemory(true, TABLE_PAGES, "tables");
}
