import { DType, dtypeBytes, isSigned, type Word } from "../../src/numerics/dtype.ts";
import type { Prng } from "../random/prng.ts";

export const INTEGER_TYPES: readonly DType[] = [
  DType.uint8,
  DType.int8,
  DType.uint16,
  DType.int16,
  DType.int32,
  DType.uint32,
  DType.int64,
  DType.uint64,
];

/** The edge values of an integer type. */
export function integerWords(dtype: DType): Word[] {
  const bits = BigInt(8 * dtypeBytes(dtype));
  const [lowest, highest] = isSigned(dtype)
    ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n]
    : [0n, (1n << bits) - 1n];
  const small = [0n, 1n, 2n, 3n, 7n, bits - 1n, bits, bits + 1n];
  const near = [lowest, lowest + 1n, highest, highest - 1n, highest / 2n, highest / 2n + 1n];
  return [...small, ...near, ...(isSigned(dtype) ? small.slice(1).map((value) => -value) : [])];
}

const EDGES = new Map(INTEGER_TYPES.map((dtype) => [dtype, integerWords(dtype)]));

/** An edge value, a small number, or any number of any length, of an integer type. */
export function integerWord(prng: Prng, dtype: DType): Word {
  if (prng.below(3) === 0) return prng.pick(EDGES.get(dtype)!);
  const bits = 8 * dtypeBytes(dtype);
  const magnitude = prng.bits(1 + prng.below(bits));
  const value = prng.below(2) === 0 ? magnitude : -magnitude;
  return isSigned(dtype) ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}
