import { DType, type DType as DTypeCode } from "../numerics/dtype.ts";

const value = new Float32Array(1);
const bits = new Uint32Array(value.buffer);

/**
 * The bits of a float of 16 bits.
 * @param x Such a float.
 */
export function halfBits(x: number, dtype: DTypeCode): number {
  if (dtype === DType.bfloat16) {
    value[0] = x;
    return bits[0]! >>> 16;
  }
  // The exponent as float16 has it: exact, as x is a float16.
  value[0] = x * 2 ** -112;
  return ((bits[0]! >>> 13) & 0x7fff) | ((bits[0]! >>> 16) & 0x8000);
}

/** The float32 bits of a float of 16 bits; of a NaN those of the canonical one. */
export function widenedBits(word: number, dtype: DTypeCode): number {
  if (dtype === DType.bfloat16) return (word << 16) >>> 0;
  const magnitude = word & 0x7fff;
  if (magnitude > 0x7c00) return 0x7fc00000;
  bits[0] = magnitude << 13;
  value[0] = magnitude === 0x7c00 ? Infinity : value[0]! * 2 ** 112;
  return (bits[0] | ((word & 0x8000) << 16)) >>> 0;
}

/**
 * Rounds a canonical float32 to 16 bits and returns the bits. Returns undefined if the float32 lies halfway between two
 * 16-bit numbers (or between the largest number and the next power of two). In that case only the number before
 * rounding to float32 decides.
 * @param word The bits of the float32.
 */
export function narrowed(word: number, dtype: DTypeCode): number | undefined {
  const magnitude = word & 0x7fffffff;
  const sign = (word >>> 16) & 0x8000;
  const isBrain = dtype === DType.bfloat16;
  if (magnitude >= 0x7f800000) {
    const infinity = isBrain ? 0x7f80 : 0x7c00;
    return magnitude === 0x7f800000 ? infinity | sign : isBrain ? 0x7fc0 : 0x7e00;
  }
  const result = isBrain ? nearest(magnitude, 16) : narrowedTo16(magnitude);
  return result === undefined || result === 0 ? result : result | sign;
}

/** `magnitude / 2^drop`, to the nearest. */
function nearest(magnitude: number, drop: number): number | undefined {
  const half = 1 << (drop - 1);
  return (magnitude & (2 * half - 1)) === half ? undefined : (magnitude + half) >>> drop;
}

const MIN_NORMAL = 0x38800000;
const POWER_OF_16 = 0x47800000;
/** The difference between the exponent fields of float32 and float16, at the position of float16's exponent field. */
const REBIAS = 112 << 10;

function narrowedTo16(magnitude: number): number | undefined {
  if (magnitude >= POWER_OF_16) return 0x7c00;
  if (magnitude >= MIN_NORMAL) {
    const near = nearest(magnitude, 13);
    return near === undefined ? undefined : near - REBIAS;
  }
  // 16-bit subnormals are multiples of 2^-24; float32 subnormals and similar numbers are far below half that step.
  bits[0] = magnitude;
  const scaled = value[0]! * 2 ** 25;
  if (Number.isInteger(scaled) && scaled % 2 === 1) return undefined;
  return Math.round(scaled / 2);
}
