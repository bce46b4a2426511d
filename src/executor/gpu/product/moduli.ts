/** How residues are multiplied: bytes, four at once; or integers in float32, for GPUs without byte products. */
export type ResidueKind = "bytes" | "floats";

/**
 * Pairwise coprime moduli. Residues determine a sum below half the moduli's product.
 */
export type Moduli = {
  kind: ResidueKind;
  moduli: readonly number[];
  /** The number of bits kept below a row's largest exponent. */
  alpha: number;
};

/** Residues lie in -2^(bits - 1) .. 2^(bits - 1). */
const BITS = { bytes: 8, floats: 10 } as const;

/** Each certificate adds sums of magnitudes in 32 bits. */
export const MAX_TERMS = 65_535;

/** With fewer bits the certificate's numbers are no integers; with more, they leave 64 bits. */
const [LEAST_ALPHA, MOST_ALPHA] = [17, 38];

/** How many moduli leave few sums open, for sums of up to 1024 terms and for longer ones. */
const COUNTS = { bytes: [10, 11], floats: [8, 9] } as const;
const FEW_TERMS = 1_024;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** The largest pairwise coprime numbers up to 2^bits. */
function coprimes(count: number, bits: number): number[] {
  const found: number[] = [];
  for (let p = 2 ** bits; found.length < count; p--) if (found.every((other) => gcd(p, other) === 1)) found.push(p);
  return found;
}

/**
 * The moduli for a sum.
 * @param terms At most {@link MAX_TERMS}.
 * @param count How many moduli, at most 12; by default enough for few open sums.
 * @returns undefined if so few moduli are too few for any certificate
 */
export function moduliFor(kind: ResidueKind, terms: number, count?: number): Moduli | undefined {
  const moduli = coprimes(count ?? COUNTS[kind][terms <= FEW_TERMS ? 0 : 1], BITS[kind]);
  const product = productOf(moduli);
  let alpha = MOST_ALPHA;
  while (alpha >= LEAST_ALPHA && 2n * BigInt(terms) * 2n ** BigInt(2 * alpha) >= product) alpha--;
  return alpha < LEAST_ALPHA ? undefined : { kind, moduli, alpha };
}

export const productOf = (moduli: readonly number[]): bigint => moduli.reduce((product, p) => product * BigInt(p), 1n);

/** How many residues a word of memory holds. */
export const perWordOf = (kind: ResidueKind): number => (kind === "bytes" ? 4 : 2);
