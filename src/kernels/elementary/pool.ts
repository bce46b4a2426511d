import type { Code } from "../assembler/encoding.ts";
import { i32, v128 } from "../assembler/instructions.ts";

/*
 * Vector constants in the memory of the elementary functions: a load is one instruction, while V8 builds a constant from two moves of 64 bits through general registers.
 */
const BYTES = 16;
const MOST = 512;
export const POOL_BYTES = BYTES * MOST;

const offsets = new Map<bigint, number>();
const bits = new DataView(new ArrayBuffer(8));

/** The same 64 bits in both lanes: a load from the pool, which is at the start of the memory. */
export function bothBits(key: bigint): Code {
  if (key === 0n) return v128.const(new Array<number>(BYTES).fill(0));
  const offset = offsets.get(key) ?? BYTES * offsets.size;
  if (offset >= POOL_BYTES) throw new RangeError(`more than ${MOST} vector constants`);
  offsets.set(key, offset);
  return v128.load(i32.const(0), offset);
}

/** The same float64 in both lanes. */
export function both(value: number): Code {
  bits.setFloat64(0, value);
  return bothBits(bits.getBigUint64(0));
}

/** Writes all constants that code has been generated with. */
export function writePool(memory: WebAssembly.Memory): void {
  const pool = new BigUint64Array(memory.buffer, 0, POOL_BYTES / 8);
  for (const [key, offset] of offsets) pool.fill(key, offset / 8, offset / 8 + 2);
}
