/**
 * A linear combination with integer coefficients, by wire. Wire 0 holds the constant 1. Nobody divides, so the
 * combination's value in the integers and in the field agree.
 */
export type Linear = ReadonlyMap<number, bigint>;

export const ZERO: Linear = new Map();
export const ONE: Linear = new Map([[0, 1n]]);

/** A constant as a combination. */
export const constant = (value: bigint): Linear => (value === 0n ? ZERO : new Map([[0, value]]));

/** `a + b * factor`. */
export function plus(a: Linear, b: Linear, factor = 1n): Linear {
  const sum = new Map(a);
  addTo(sum, b, factor);
  return sum;
}

/** `a - b`. */
export const minus = (a: Linear, b: Linear): Linear => plus(a, b, -1n);

/** Adds `b * factor` in place. */
export function addTo(sum: Map<number, bigint>, b: Linear, factor: bigint): void {
  for (const [wire, coefficient] of b) {
    const total = (sum.get(wire) ?? 0n) + coefficient * factor;
    if (total === 0n) sum.delete(wire);
    else sum.set(wire, total);
  }
}

/** `a * factor`. */
export function times(a: Linear, factor: bigint): Linear {
  if (factor === 0n) return ZERO;
  return factor === 1n ? a : new Map([...a].map(([wire, coefficient]) => [wire, coefficient * factor]));
}

/** A weighted sum. */
export function weighted(bits: readonly Linear[], weights: readonly bigint[]): Linear {
  const sum = new Map<number, bigint>();
  bits.forEach((bit, k) => addTo(sum, bit, weights[k]!));
  return sum;
}

/** The number with given bits, the lowest first. */
export const fromBits = (bits: readonly Linear[]): Linear =>
  weighted(
    bits,
    bits.map((_, k) => 1n << BigInt(k)),
  );
