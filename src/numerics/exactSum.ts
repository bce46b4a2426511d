import { DType, type DType as DTypeCode, type Word } from "./dtype.ts";
import type { FloatArithmetic } from "./float.ts";
import { FLOAT32_ARITHMETIC } from "./float32.ts";
import { FLOAT32, FLOAT64, type FloatFormat } from "./format.ts";
import { roundToFormat } from "./round.ts";

/** Flags for the nonfinite terms of an exact sum. A product 0 * Infinity counts as NaN. */
export const SumFlag = { nan: 1, positiveInfinity: 2, negativeInfinity: 4 } as const;

/**
 * The number of words in a float32, float16 or bfloat16 sum: three 256-bit limbs for the finite part, lowest first, and
 * the flags; and the number of words in a float64 sum.
 */
export const LIMBS = 4;
export const FLOAT64_LIMBS = 18;
const LIMB_BITS = 256;
/** Fixed-point units, given as exponents of two: the lowest product bit for two float32, and for two float64. */
const UNIT = 2 * FLOAT32.lowestExponent;
const FLOAT64_UNIT = 2 * FLOAT64.lowestExponent;

/** Returns the number of words in an exact sum of a float type. */
export const limbCount = (dtype: DTypeCode): number => (dtype === DType.float64 ? FLOAT64_LIMBS : LIMBS);

/**
 * A sum over the reals, for words with one float type and their products. The order of terms does not matter, and
 * nothing is rounded before {@link ExactSum.round}.
 */
export class ExactSum {
  readonly #float: FloatArithmetic;
  readonly #isFloat64: boolean;
  /**
   * The fixed-point unit equals 2 to this power: 2^-298 for float32 and the types contained in float32, 2^-2148 for
   * float64. Every word product equals a multiple of the unit.
   */
  readonly #unit: number;
  /** The finite part in that unit. */
  value = 0n;
  /** {@link SumFlag} bits. */
  flags = 0;

  /** @param float The type for the terms and the rounded sum. */
  constructor(float: FloatArithmetic = FLOAT32_ARITHMETIC) {
    this.#float = float;
    this.#isFloat64 = float.format === FLOAT64;
    this.#unit = this.#isFloat64 ? FLOAT64_UNIT : UNIT;
  }

  /** Adds one word. */
  add(a: Word): void {
    const { isNaN, isInfinite, decode } = this.#float;
    if (isNaN(a) || isInfinite(a)) return this.addFlags(this.#flagOf(a));
    const { negative, mantissa, exponent } = decode(a);
    const term = mantissa << BigInt(exponent - this.#unit);
    this.value += negative ? -term : term;
  }

  /** Adds the unrounded product of two words. */
  addProduct(a: Word, b: Word): void {
    const { isNaN, isInfinite, decode, mul } = this.#float;
    if (isNaN(a) || isNaN(b) || isInfinite(a) || isInfinite(b)) return this.addFlags(this.#flagOf(mul(a, b)));
    const x = decode(a);
    const y = decode(b);
    const term = (x.mantissa * y.mantissa) << BigInt(x.exponent + y.exponent - this.#unit);
    this.value += x.negative === y.negative ? term : -term;
  }

  /** Adds {@link SumFlag} bits. */
  addFlags(flags: number): void {
    this.flags |= flags;
  }

  /** Adds another sum. */
  addSum(other: ExactSum): void {
    this.value += other.value;
    this.addFlags(other.flags);
  }

  /** The number of the sum's {@link limbs}. */
  get limbCount(): number {
    return this.#isFloat64 ? FLOAT64_LIMBS : LIMBS;
  }

  /**
   * Returns the sum in words: the finite part's limbs, two's complement modulo 2^768 (float64: 2^4352), lowest first,
   * then the flags.
   */
  limbs(): Word[] {
    return Array.from({ length: this.limbCount }, (_, k) => this.limb(k));
  }

  /** One of the {@link limbs}. */
  limb(k: number): Word {
    if (k === this.limbCount - 1) return BigInt(this.flags);
    return BigInt.asUintN(LIMB_BITS, this.value >> BigInt(LIMB_BITS * k));
  }

  /** Adds one word of a sum's {@link limbs}; the finite part may leave its range: see {@link wrapped}. */
  addLimb(limb: number, word: Word): void {
    if (limb === this.limbCount - 1) this.addFlags(Number(word & 7n));
    else this.value += word << BigInt(LIMB_BITS * limb);
  }

  /** The sum with its finite part modulo 2^768, from -2^767 on; for float64 modulo 2^4352, from -2^4351 on. */
  wrapped(): ExactSum {
    const sum = new ExactSum(this.#float);
    sum.value = BigInt.asIntN(LIMB_BITS * (this.limbCount - 1), this.value);
    sum.flags = this.flags;
    return sum;
  }

  /**
   * Returns the sum rounded once to the terms' type: NaN after a NaN or infinities with both signs, else any infinity;
   * +0 if empty.
   */
  round(): Word {
    return this.roundTo(this.#float.format);
  }

  /** The sum rounded once to a format, as {@link round} does. */
  roundTo(format: FloatFormat): Word {
    const infinities = this.flags & (SumFlag.positiveInfinity | SumFlag.negativeInfinity);
    if ((this.flags & SumFlag.nan) !== 0 || infinities === (SumFlag.positiveInfinity | SumFlag.negativeInfinity))
      return format.nan;
    if (infinities !== 0)
      return infinities === SumFlag.positiveInfinity ? format.infinity : format.sign | format.infinity;
    return roundToFormat(format, this.value < 0n, this.value < 0n ? -this.value : this.value, this.#unit);
  }

  /** Returns the flag of a nonfinite word. */
  #flagOf(a: Word): number {
    const { isNaN, format } = this.#float;
    if (isNaN(a)) return SumFlag.nan;
    return a === format.infinity ? SumFlag.positiveInfinity : SumFlag.negativeInfinity;
  }
}

/** The sum of float32 words over the reals, rounded once; +0 for none. */
export function exactSum(words: Iterable<Word>): Word {
  const sum = new ExactSum();
  for (const word of words) sum.add(word);
  return sum.round();
}

/** Returns the dot product over the reals of two equally long lists of float32 words, rounded once; +0 if empty. */
export function exactDot(as: readonly Word[], bs: readonly Word[]): Word {
  if (as.length !== bs.length)
    throw new RangeError(`a dot product needs two lists of one length, got ${as.length} and ${bs.length}`);
  const sum = new ExactSum();
  for (const [index, a] of as.entries()) sum.addProduct(a, bs[index]!);
  return sum.round();
}

/*
 * A product of two float32 is an integer below 2^48 times 2^(exponent - 298), with exponent 0 .. 506. Its upper and
 * lower 24 bits are added to one float64 bin each per exponent; BLOCK terms keep a bin below 2^52, so nothing is ever
 * rounded. Bins are folded into a bigint only at the end: no bigint work per term.
 */
const BINS = 507;
const HALF_BITS = 24;
const HALF = 2 ** HALF_BITS;
const BLOCK_BITS = 24;
const BLOCK = 2 ** BLOCK_BITS;

const lowBins = new Float64Array(BINS);
const highBins = new Float64Array(BINS);

/**
 * The exact dot product of `a[aOffset ..]` and `b[bOffset ..]`, `n` terms, rounded once. Operands and result are the
 * bits of float32 numbers. The bits are those of `exactDot`.
 */
export function exactDotFloat32(a: Uint32Array, aOffset: number, b: Uint32Array, bOffset: number, n: number): number {
  return Number(exactSumOfProducts(a, aOffset, b, bOffset, n).round());
}

/** The same sum, not rounded. */
export function exactSumOfProducts(
  a: Uint32Array,
  aOffset: number,
  b: Uint32Array,
  bOffset: number,
  n: number,
): ExactSum {
  if (aOffset < 0 || bOffset < 0 || n < 0 || aOffset + n > a.length || bOffset + n > b.length) {
    throw new RangeError(
      `${n} terms from ${aOffset} and ${bOffset} are not all inside arrays of ${a.length} and ${b.length}`,
    );
  }
  const sum = new ExactSum();
  for (let done = 0; done < n; done += BLOCK) {
    addBlock(sum, a, aOffset + done, b, bOffset + done, Math.min(BLOCK, n - done));
  }
  return sum;
}

function addBlock(sum: ExactSum, a: Uint32Array, aOffset: number, b: Uint32Array, bOffset: number, n: number): void {
  let lowest = BINS;
  let highest = -1;
  for (let k = 0; k < n; k++) {
    const x = a[aOffset + k]!;
    const y = b[bOffset + k]!;
    const xField = (x >>> 23) & 0xff;
    const yField = (y >>> 23) & 0xff;
    if (xField === 0xff || yField === 0xff) {
      sum.addProduct(BigInt(x), BigInt(y));
      continue;
    }
    const xMantissa = xField === 0 ? x & 0x7fffff : (x & 0x7fffff) | 0x800000;
    const yMantissa = yField === 0 ? y & 0x7fffff : (y & 0x7fffff) | 0x800000;
    const product = xMantissa * yMantissa;
    if (product === 0) continue;
    const exponent = (xField === 0 ? 1 : xField) + (yField === 0 ? 1 : yField) - 2;
    const upper = Math.floor(product / HALF);
    const lower = product - upper * HALF;
    if ((x ^ y) >= 0) {
      highBins[exponent]! += upper;
      lowBins[exponent]! += lower;
    } else {
      highBins[exponent]! -= upper;
      lowBins[exponent]! -= lower;
    }
    if (exponent < lowest) lowest = exponent;
    if (exponent > highest) highest = exponent;
  }
  if (highest < 0) return;
  drain(sum, lowBins, lowest, highest, 0, n);
  drain(sum, highBins, lowest, highest, HALF_BITS, n);
}

/** Moves the bins into the sum, as many at once as fit together in an exact float64, and zeroes the bins. */
function drain(sum: ExactSum, bins: Float64Array, lowest: number, highest: number, shift: number, n: number): void {
  const binBits = HALF_BITS + 32 - Math.clz32(n); // every |bin| < 2^binBits
  const group = 52 - binBits; // at least 3: sum of |bin| 2^k over k < group is below 2^52
  for (let first = lowest; first <= highest; first += group) {
    let value = 0;
    for (let exponent = Math.min(first + group - 1, highest); exponent >= first; exponent--) {
      value = 2 * value + bins[exponent]!;
      bins[exponent] = 0;
    }
    if (value !== 0) sum.value += BigInt(value) << BigInt(first + shift);
  }
}
