import { convert } from "../../../numerics/arithmetic.ts";
import { DType, dtypeBytes, isHalf, isSigned, type DType as DTypeCode, type Word } from "../../../numerics/dtype.ts";

/**
 * How a word of a type lies in a variable: 64 bits as `vec2u`, a limb as `B`, all others as `u32`. Narrow integers are
 * extended to 32 bits by their sign; 16-bit floats are the bits of the float32 with their value.
 */
export const slotType = (dtype: DTypeCode): string =>
  dtype === DType.limb ? "B" : dtypeBytes(dtype) === 8 ? "vec2u" : "u32";

export const isWide = (dtype: DTypeCode): boolean => dtype === DType.int64 || dtype === DType.uint64;

/** The format that a float operation rounds to, as the library numbers formats. */
export const formatNumber = (dtype: DTypeCode): number =>
  dtype === DType.float16 ? 1 : dtype === DType.bfloat16 ? 2 : 0;

export const formatOf = (dtype: DTypeCode): string => `${formatNumber(dtype)}u`;

/** Cuts a result in 32 bits to a narrow integer type. */
export function wrapped(text: string, dtype: DTypeCode): string {
  const bits = 8 * dtypeBytes(dtype);
  if (bits >= 32 || dtype === DType.bool) return text;
  if (!isSigned(dtype)) return `((${text}) & ${2 ** bits - 1}u)`;
  return `bitcast<u32>(bitcast<i32>((${text}) << ${32 - bits}u) >> ${32 - bits}u)`;
}

/** An integer of up to 32 bits as 64 bits. */
export function widened(text: string, dtype: DTypeCode): string {
  if (isWide(dtype)) return text;
  return isSigned(dtype) ? `vec2u(${text}, bitcast<u32>(bitcast<i32>(${text}) >> 31u))` : `vec2u(${text}, 0u)`;
}

/** The numbers that distinguish kernels with the same text: addresses, shapes, constants. Each is a word. */
export class Parameters {
  readonly #words: number[] = [];

  /** Adds a number and returns the text that reads the number as `u32`. */
  add(value: number): string {
    const k = this.#words.push(value >>> 0) - 1;
    return `P[${k >> 2}].${"xyzw"[k & 3]}`;
  }

  /** The same as `i32`. */
  signed(value: number): string {
    return `bitcast<i32>(${this.add(value)})`;
  }

  /** Adds a word of a type and returns the text of the slot. */
  word(value: Word, dtype: DTypeCode): string {
    const bits = isHalf(dtype) ? convert(value, dtype, DType.float32) : value;
    const parts = Array.from({ length: dtype === DType.limb ? 8 : dtypeBytes(dtype) === 8 ? 2 : 1 }, (_, k) =>
      this.add(Number(BigInt.asUintN(32, bits >> BigInt(32 * k)))),
    );
    return parts.length === 1 ? parts[0]! : `${slotType(dtype)}(${parts.join(", ")})`;
  }

  /** The words, filled up to whole vectors. */
  get words(): Uint32Array<ArrayBuffer> {
    const all = new Uint32Array(Math.max(4, Math.ceil(this.#words.length / 4) * 4));
    all.set(this.#words);
    return all;
  }
}
