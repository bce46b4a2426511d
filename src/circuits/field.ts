/** BN254's group order: circuits compute modulo this prime. */
export const ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Two integers with these bits have a sum below the order. */
export const SAFE_BITS = 252;

/** The residue class's number in [0, ORDER). */
export function residue(value: bigint): bigint {
  const rest = value % ORDER;
  return rest < 0n ? rest + ORDER : rest;
}

/** The residue class's number nearest to zero. */
export function centred(value: bigint): bigint {
  const rest = residue(value);
  return rest > ORDER / 2n ? rest - ORDER : rest;
}

/** The inverse of a residue; 0 for 0. */
export function inverse(value: bigint): bigint {
  let [previous, rest] = [ORDER, residue(value)];
  let [before, factor] = [0n, 1n];
  while (rest !== 0n) {
    const quotient = previous / rest;
    [previous, rest] = [rest, previous - quotient * rest];
    [before, factor] = [factor, before - quotient * factor];
  }
  return previous === 1n ? residue(before) : 0n;
}

/** A residue to the power of a natural number. */
export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = residue(base); exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * square) % ORDER;
    square = (square * square) % ORDER;
  }
  return result;
}

/** Inverts nonzero residues with a single inversion. */
export function inverses(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    product = (product * value) % ORDER;
  }
  let rest = inverse(product);
  const result = new Array<bigint>(values.length);
  for (let k = values.length - 1; k >= 0; k--) {
    result[k] = (rest * before[k]!) % ORDER;
    rest = (rest * values[k]!) % ORDER;
  }
  return result;
}

/** The field has 2^28 roots of unity, and rows need a root each. */
export const MAX_LOG_ROWS = 28;
/** 5 generates the multiplicative group. */
const GENERATOR = 5n;

/** A primitive 2^log-th root of unity. */
export const rootOfOne = (log: number): bigint => power(GENERATOR, (ORDER - 1n) >> BigInt(log));

/** A residue's powers from 0 to count - 1. */
export function powers(base: bigint, count: number): bigint[] {
  const result = new Array<bigint>(count);
  let current = 1n;
  for (let k = 0; k < count; k++) {
    result[k] = current;
    current = (current * base) % ORDER;
  }
  return result;
}

/**
 * The discrete Fourier transform over the field, in place: coefficients become values at the powers of a root.
 * @param values 2^n residues
 * @param root A primitive 2^n-th root; the inverse root gives the inverse transform times 2^n.
 */
export function transform(values: bigint[], root: bigint): void {
  const count = values.length;
  for (let i = 1, j = 0; i < count; i++) {
    let bit = count >> 1;
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [values[i], values[j]] = [values[j]!, values[i]!];
  }
  const roots = powers(root, count >> 1);
  for (let half = 1; half < count; half <<= 1) {
    const stride = count / (2 * half);
    for (let k = 0; k < half; k++) {
      const factor = roots[k * stride]!;
      for (let i = k; i < count; i += 2 * half) {
        const low = values[i]!;
        const high = (values[i + half]! * factor) % ORDER;
        const sum = low + high;
        values[i] = sum >= ORDER ? sum - ORDER : sum;
        values[i + half] = low >= high ? low - high : low - high + ORDER;
      }
    }
  }
}
