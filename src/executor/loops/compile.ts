import type { FunctionBuilder, Signature } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { ModuleBuilder, type Callable } from "../../numerics/kernels/assembler/moduleBuilder.ts";
import { elementaryFunctions, type ElementaryFunctions } from "../../numerics/kernels/elementary/elementary.ts";
import { writePool } from "../../numerics/kernels/elementary/pool.ts";
import { hasTwoMemories, importTables } from "../../numerics/kernels/elementary/tables.ts";
import { MAX_PAGES } from "../../numerics/kernels/memory.ts";
import { axisRange, REACH } from "../../program/loops.ts";
import { EXACT, EXACT64, fmodNumber } from "./exactFunctions.ts";
import { HALF_HELPERS } from "./halfHelpers.ts";
import { loopFunction } from "./loopFunction.ts";
import type { LoopSpec } from "./spec.ts";
import type { Imports } from "./values.ts";

/**
 * Runs the loops for values `start .. end - 1` of the ranged digit. Stores canonical results at the places of their
 * digits. `sources` and `outs` are byte addresses modulo 2^32. An out's address is the place for all digits 0, whether
 * or not the call stores that element.
 */
export type LoopCall = (sources: readonly number[], outs: readonly number[], start: number, end: number) => void;

/** Compiled loops. `on` binds them to their main memory and to further memories for reading only. */
export type LoopCode = {
  compiled: CompiledFunctions;
  on(memory: WebAssembly.Memory, far?: readonly WebAssembly.Memory[]): LoopCall[];
};

/**
 * A module and its functions' names, in request order. Threads can send the module to each other. A module with
 * elementary functions includes their tables, because the code contains the tables' addresses.
 */
export type CompiledFunctions = {
  module: WebAssembly.Module;
  names: readonly string[];
  tables: WebAssembly.Memory | undefined;
  /** How many memories are read from besides. */
  far: number;
};

/** Compiled modules by their bytes: equal modules are compiled once. Emptied when full. */
const modules = new Map<string, WebAssembly.Module>();
const MAX_MODULES = 4096;

/** Returns true if 32 bits suffice for the address of every read in the expression. */
export function canCompile(spec: LoopSpec): boolean {
  const radices = new Map(spec.digits.map(({ digit, radix }) => [digit, radix]));
  return spec.reads.every((view) =>
    view.axes.every((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices.get(digit) ?? 1);
      return low >= -REACH && high < REACH && axis.extent * axis.div < REACH;
    }),
  );
}

/** Compiles nests of loops to one WebAssembly module; equal nests share a function. */
export function compileLoops(specs: readonly LoopSpec[]): LoopCode {
  const far = specs.reduce((max, { sourceMemories = [] }) => Math.max(max, ...sourceMemories), 0);
  return loopCode(compileFunctions((imports) => specs.map((spec) => loopFunction(spec, imports)), far));
}

/** Returns the loops compiled by {@link compileLoops} in this or another thread. */
export function loopCode(compiled: CompiledFunctions): LoopCode {
  return {
    compiled,
    on: (memory, far) =>
      instantiate(compiled, memory, far).map((run) => (sources, outs, start, end) => {
        run(...sources, ...outs, start, end);
      }),
  };
}

let functions: ElementaryFunctions | undefined;
const elementary = (): ElementaryFunctions => (functions ??= elementaryFunctions(EXACT));

type Run = (...values: number[]) => number | undefined;

/**
 * Compiles functions to one module. Equal modules are compiled once.
 * @param make Makes the functions, given the called functions.
 * @param far The number of further memories read by the functions.
 */
export function compileFunctions(make: (imports: Imports) => readonly FunctionBuilder[], far = 0): CompiledFunctions {
  const builder = new ModuleBuilder();
  builder.importMemory(true, MAX_PAGES);
  let tables: WebAssembly.Memory | undefined;
  const needTables = (): void => {
    if (tables !== undefined) return;
    ({ tables } = elementary());
    if (hasTwoMemories) importTables(builder);
  };
  // The tables' memory has the number before the far memories' numbers.
  if (far > 0) needTables();
  for (let k = 1; k <= far; k++) builder.importMemory(true, MAX_PAGES, `far${k}`);
  const imported = new Map<string, Callable>();
  const importOnce = (from: string, name: string, signature: Signature): Callable => {
    const key = `${from} ${name}`;
    const callable = imported.get(key) ?? builder.importFunction(from, name, signature);
    imported.set(key, callable);
    return callable;
  };
  const imports: Imports = {
    elementary: (name, arity) => {
      needTables();
      return importOnce("elementary", name, { parameters: new Array<"v128">(arity).fill("v128"), results: ["v128"] });
    },
    elementary64: (name, arity) =>
      importOnce("elementary64", name, { parameters: new Array<"f64">(arity).fill("f64"), results: ["f64"] }),
    fmod: (type) => importOnce("scalar", `fmod ${type}`, { parameters: [type, type], results: [type] }),
    half: (name, arity) =>
      importOnce("half", name, { parameters: new Array<"f32">(arity).fill("f32"), results: ["f32"] }),
  };
  const names = new Map<string, string>();
  const functions = make(imports).map((fn) => {
    const key = `${fn.parameters.length} ${Buffer.from(fn.bytes()).toString("latin1")}`;
    const name = names.get(key) ?? `f${names.size}`;
    if (!names.has(key)) builder.define(fn, name);
    names.set(key, name);
    return name;
  });
  if (tables !== undefined) writePool(tables);
  return { module: moduleOf(builder.encode()), names: functions, tables, far };
}

/** The functions on a memory, in the order of the request. */
export function instantiate(
  { module, names, tables, far }: CompiledFunctions,
  memory: WebAssembly.Memory,
  others: readonly WebAssembly.Memory[] = [],
): Run[] {
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory },
    ...Object.fromEntries(others.slice(0, far).map((other, k) => [`far${k + 1}`, { memory: other }])),
    ...(tables === undefined ? {} : { tables: { memory: tables }, elementary: elementary().functions }),
    scalar: { "fmod f32": fmodNumber, "fmod f64": fmodNumber },
    elementary64: EXACT64,
    half: HALF_HELPERS,
  });
  return names.map((name) => exports[name] as Run);
}

function moduleOf(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  const key = Buffer.from(bytes).toString("latin1");
  const known = modules.get(key);
  if (known !== undefined) return known;
  const module = new WebAssembly.Module(bytes);
  if (modules.size >= MAX_MODULES) modules.clear();
  modules.set(key, module);
  return module;
}
