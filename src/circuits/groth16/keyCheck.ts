import type { Circuit } from "../circuit.ts";
import { inverse, ORDER, powers as powersOf, residue, rootOfOne, transform } from "../field.ts";
import { transcriptFault, type Ceremony } from "./ceremony.ts";
import type { Curve } from "./curve.ts";
import { Origin, type ProvingKey } from "./keys.ts";
import type { Powers } from "./powers.ts";
import { randomScalar } from "./randomScalar.ts";
import { logRows, rowSums, sizeFault } from "./rows.ts";

/**
 * Why a key's points are not those of a circuit over powers, with the factors of a ceremony in delta; undefined if all
 * are and somebody has contributed. Sums with random weights decide: a wrong point passes by a chance of 2^-254.
 * @param powers For as many rows as the circuit has, and right: `powersFault`.
 */
export function keyFault(...given: Parameters<typeof contributorFault>): string | undefined {
  const ceremony = given[3];
  return ceremony.contributions.length === 0 ? "nobody has contributed to the key" : contributorFault(...given);
}

/**
 * The same for a contributor, who may be the first. SAFETY: `contribute` divides points by the contributor's
 * factor. Whoever gets another point divided, such as a public value's in the place of a row's, forges proofs.
 */
export function contributorFault(
  curve: Curve,
  circuit: Circuit,
  key: ProvingKey,
  ceremony: Ceremony,
  powers: Powers,
): string | undefined {
  const { verifying } = key;
  const log = logRows(circuit);
  const [count, wires, first] = [2 ** log, circuit.wireCount, 1 + circuit.publicCount];
  if (verifying.origin !== Origin.ceremony) return "the key's words say that a machine knew its secrets";
  if (ceremony.phase1 !== powers.hash || powers.log !== log) return "the key began from other powers";
  const size = sizeFault(circuit, key);
  if (size !== undefined) return size;
  const { product1, product2, pairsAlike } = curve;
  const one2 = curve.multiples2([1n])[0]!;
  const isNamed =
    String(verifying.alpha) === String(curve.coordinates1(powers.alpha1[0]!)) &&
    String(verifying.beta) === String(curve.coordinates2(powers.beta2)) &&
    String(verifying.gamma) === String(curve.coordinates2(one2));
  const isKnown =
    key.alpha1.isEqual(powers.alpha1[0]!) && key.beta1.isEqual(powers.beta1[0]!) && key.beta2.isEqual(powers.beta2);
  if (!isNamed || !isKnown) return "the key has another alpha, beta or gamma";
  const publics = verifying.publics.map(curve.point1);
  if (!publics.every((point) => point !== undefined)) return "a point of a public value is off the curve";

  const weights = Array.from({ length: wires }, randomScalar);
  const all = polynomialsOf(circuit, weights, log);
  const [tau1, alpha1, beta1] = [powers.tau1.slice(0, count), powers.alpha1, powers.beta1];
  if (!product1(key.a, weights).isEqual(product1(tau1, all.a))) return "the points of the first factors are others";
  if (!product1(key.b1, weights).isEqual(product1(tau1, all.b))) return "the points of the second factors are others";
  // Each by itself: within a sum, a point of order 10,069 would pass once in 10,069 checks.
  if (!key.b2.every((point) => point.isZero() || point.isValidOrder()))
    return "a point of the second factors lies outside the second group";
  if (!product2(key.b2, weights).isEqual(product2(powers.tau2, all.b)))
    return "the points of the second factors in the second group are others";
  /** What the points of some wires add up to, without gamma and delta. */
  const combined = (chosen: readonly bigint[]): ReturnType<Curve["product1"]> => {
    const { a, b, c } = polynomialsOf(circuit, chosen, log);
    return product1([...beta1, ...alpha1, ...tau1], [...a, ...b, ...c]);
  };
  const ofPublics = weights.map((weight, wire) => (wire < first ? weight : 0n));
  if (!product1(publics, weights.slice(0, first)).isEqual(combined(ofPublics)))
    return "the points of the public values are others";
  const ofPrivates = weights.map((weight, wire) => (wire < first ? 0n : weight));
  if (!pairsAlike([product1(key.c, weights.slice(first)), key.delta2], [combined(ofPrivates), one2]))
    return "the points of private wires are others";
  const ofRows = Array.from({ length: count }, randomScalar);
  const quotient = product1(powers.tau1, quotientWeights(ofRows, log));
  const isQuotient = pairsAlike([product1(key.h, ofRows), key.delta2], [quotient, one2]);
  return isQuotient ? transcriptFault(curve, key, ceremony) : "the points of rows are others";
}

/** The coefficients of the three polynomials of wires with weights. */
function polynomialsOf(circuit: Circuit, weights: readonly bigint[], log: number): Record<"a" | "b" | "c", bigint[]> {
  const { a, b, c } = rowSums(circuit, weights);
  const byCount = inverse(BigInt(2 ** log));
  const coefficients = (rows: bigint[]): bigint[] => {
    transform(rows, inverse(rootOfOne(log)));
    return rows.map((value) => (value * byCount) % ORDER);
  };
  return { a: coefficients(a), b: coefficients(b), c: coefficients(c) };
}

/** What weights of rows give each power of tau, as `quotientPoints` of a ceremony's begin has the rows' points. */
function quotientWeights(ofRows: readonly bigint[], log: number): bigint[] {
  const count = ofRows.length;
  const sums = [...ofRows];
  transform(sums, inverse(rootOfOne(log)));
  const shifts = powersOf(inverse(rootOfOne(log + 1)), count);
  const byTwice = inverse(BigInt(2 * count));
  const low = sums.slice(0, -1).map((sum, k) => (((sum * shifts[k]!) % ORDER) * byTwice) % ORDER);
  return [...low, 0n, ...low.map((value) => residue(-value))];
}
