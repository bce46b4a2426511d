import { i32, v128 } from "../assembler/instructions.ts";
import { TABLES } from "./tables.ts";
import type { Wide } from "./wide.ts";

/*
 * Vector constants in the memory of the elementary functions: a load is one instruction, while V8 builds a constant
 * from two moves of 64 bits through general registers.
 */
const BYTES = 16;
const MAX_CONSTANTS = 512;
export const POOL_BYTES = BYTES * MAX_CONSTANTS;

const offsets = new Map<bigint, number>();
const bits = new DataView(new ArrayBuffer(8));

/** Loads the same 64 bits into all lanes from the pool, which lies at the start of the memory. */
export function allBits(key: bigint): Wide {
  const offset = offsets.get(key) ?? BYTES * offsets.size;
  if (offset >= POOL_BYTES) throw new RangeError(`more than ${MAX_CONSTANTS} vector constants`);
  offsets.set(key, offset);
  const load = v128.load(i32.const(0), offset, TABLES);
  return [load, load];
}

/** The same float64 in all lanes. */
export function all(value: number): Wide {
  bits.setFloat64(0, value);
  return allBits(bits.getBigUint64(0));
}

/** Writes all constants that the generated code uses. */
export function writePool(memory: WebAssembly.Memory): void {
  const pool = new BigUint64Array(memory.buffer, 0, POOL_BYTES / 8);
  for (const [key, offset] of offsets) pool.fill(key, offset / 8, offset / 8 + 2);
}
