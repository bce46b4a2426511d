import { float64Bytes, type Code } from "../assembler/encoding.ts";
import { i32, v128 } from "../assembler/instructions.ts";

/*
 * Vector constants in the memory of the elementary functions: a load is one instruction, while V8 builds a constant from two moves of 64 bits through general registers.
 */
const BYTES = 16;
const MOST = 512;
export const POOL_BYTES = BYTES * MOST;

const offsets = new Map<bigint, number>();
const bits = new DataView(new ArrayBuffer(8));

/** The same float64 in both lanes: a load from the pool, which is at the start of the memory. */
export function both(value: number): Code {
  bits.setFloat64(0, value);
  const key = bits.getBigUint64(0);
  if (key === 0n) return v128.const([...float64Bytes(0), ...float64Bytes(0)] as number[]);
  const offset = offsets.get(key) ?? BYTES * offsets.size;
  if (offset >= POOL_BYTES) throw new RangeError(`more than ${MOST} vector constants`);
  offsets.set(key, offset);
  return v128.load(i32.const(0), offset);
}

/** Writes all constants that code has been generated with. */
export function writePool(memory: WebAssembly.Memory): void {
  const pool = new BigUint64Array(memory.buffer, 0, POOL_BYTES / 8);
  for (const [key, offset] of offsets) pool.fill(key, offset / 8, offset / 8 + 2);
}
