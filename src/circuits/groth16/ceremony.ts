import { bytesToHex, keccak256, type Hex } from "viem";
import type * as Mcl from "mcl-wasm";
import type { Circuit } from "../circuit.ts";
import { inverse, ORDER, powers as powersOf, residue, rootOfOne } from "../field.ts";
import type { Linear } from "../linear.ts";
import type { Curve, Point1, Point2 } from "./curve.ts";
import { keyWords, Origin, wordsHash, type KeySubject, type ProvingKey, type VerifyingKey } from "./keys.ts";
import type { Powers } from "./powers.ts";
import { randomScalar } from "./randomScalar.ts";
import { basisOf, transformPoints } from "./transformPoints.ts";

/**
 * What a contributor multiplies delta by, in public: delta afterwards in both groups, and a proof by Schnorr that the
 * contributor knows the factor.
 */
export type Contribution = {
  /** Who contributes, by the contributor's own word. */
  readonly name: string;
  readonly delta1: Point1;
  readonly delta2: Point2;
  readonly commitment: Point1;
  readonly response: bigint;
};

/** The transcript of a second phase: users trust at least one contributor to have forgotten a factor. */
export type Ceremony = {
  /** `hash` of the powers from which the key was begun. */
  readonly phase1: string;
  readonly contributions: readonly Contribution[];
};

/**
 * Begins a key for a circuit from powers. The key is for contributions alone: delta is gamma, so anybody could prove
 * anything, and readers refuse the key. Everybody gets the same points.
 * @param subject As `subjectOf` gives.
 * @param powers For as many rows as the circuit has.
 */
export function beginKey(curve: Curve, circuit: Circuit, subject: KeySubject, powers: Powers): ProvingKey {
  const { log } = powers;
  const [tau, alpha, beta] = [powers.tau1, powers.alpha1, powers.beta1].map((points) =>
    basisOf(curve, points, log),
  ) as [Mcl.G1[], Mcl.G1[], Mcl.G1[]];
  const tau2 = basisOf(curve, powers.tau2, log);
  const { a, b, c } = columnsOf(circuit);
  const sum1 = (...parts: [Mcl.G1[], Column][]): Mcl.G1 =>
    curve.product1(
      parts.flatMap(([basis, { rows }]) => rows.map((row) => basis[row]!)),
      parts.flatMap(([, { weights }]) => weights),
    );
  const combined = a.map((column, wire) => sum1([beta, column], [alpha, b[wire]!], [tau, c[wire]!]));
  const [one1, one2] = [curve.multiples1([1n])[0]!, curve.multiples2([1n])[0]!];
  const [alpha1, beta1] = [powers.alpha1[0]!, powers.beta1[0]!];
  const first = 1 + circuit.publicCount;
  return {
    verifying: {
      origin: Origin.ceremony,
      ...subject,
      alpha: curve.coordinates1(alpha1),
      beta: curve.coordinates2(powers.beta2),
      ...{ gamma: curve.coordinates2(one2), delta: curve.coordinates2(one2) },
      publics: combined.slice(0, first).map(curve.coordinates1),
    },
    log,
    ...{ alpha1, beta1, beta2: powers.beta2, delta1: one1, delta2: one2 },
    a: a.map((column) => sum1([tau, column])),
    b1: b.map((column) => sum1([tau, column])),
    b2: b.map(({ rows, weights }) =>
      curve.product2(
        rows.map((row) => tau2[row]!),
        weights,
      ),
    ),
    c: combined.slice(first),
    h: quotientPoints(curve, powers),
  };
}

/** A wire's weights in the rows. */
type Column = { rows: number[]; weights: bigint[] };

/** The columns of a circuit's three matrices, by wire, as `rowValues` has the rows. */
function columnsOf({ constraints, wireCount, publicCount }: Circuit): Record<"a" | "b" | "c", Column[]> {
  const columns = (): Column[] => Array.from({ length: wireCount }, () => ({ rows: [], weights: [] }));
  const [a, b, c] = [columns(), columns(), columns()];
  const add = (to: Column[], combination: Linear, row: number): void => {
    for (const [wire, weight] of combination) {
      to[wire]!.rows.push(row);
      to[wire]!.weights.push(residue(weight));
    }
  };
  constraints.forEach((constraint, row) => {
    add(a, constraint.a, row);
    add(b, constraint.b, row);
    add(c, constraint.c, row);
  });
  for (let k = 0; k <= publicCount; k++) add(a, new Map([[k, 1n]]), constraints.length + k);
  return { a, b, c };
}

/**
 * The points for the quotient's values at the odd roots. With n rows, the odd roots' Lagrange polynomials below degree
 * n times (x^n - 1) / -2.
 * SAFETY: the quotient has a degree below n - 1, so a last coefficient has no point: powers end at tau^(2n - 2). All
 * points are multiples of x^n - 1: any other would allow proofs about violated rows.
 */
function quotientPoints(curve: Curve, { log, tau1 }: Powers): Mcl.G1[] {
  const count = 2 ** log;
  const shifts = powersOf(inverse(rootOfOne(log + 1)), count);
  const byTwice = inverse(BigInt(2 * count));
  const zero = curve.subtract(tau1[0]!, tau1[0]!);
  const points = shifts.map((shift, k) =>
    k === count - 1 ? zero : curve.times(curve.subtract(tau1[k]!, tau1[count + k]!), (shift * byTwice) % ORDER),
  );
  return transformPoints(curve, points, inverse(rootOfOne(log)));
}

/**
 * Adds a factor to a key that only this call knows. Whoever has the key cannot compute the factor.
 * @param key Without a `contributorFault`.
 * @param name The contributor's, for the transcript.
 */
export function contribute(
  curve: Curve,
  key: ProvingKey,
  { phase1, contributions }: Ceremony,
  name: string,
): { key: ProvingKey; ceremony: Ceremony } {
  const [factor, nonce] = [randomScalar(), randomScalar()];
  const byFactor = inverse(factor);
  const [delta1, delta2] = [curve.times(key.delta1, factor), curve.times(key.delta2, factor)];
  const next = {
    ...{ name, delta1: curve.coordinates1(delta1), delta2: curve.coordinates2(delta2) },
    commitment: curve.coordinates1(curve.times(key.delta1, nonce)),
  };
  const challenge = challengeOf(linksOf(curve, key.verifying, { phase1, contributions }).at(-1)!, next);
  const response = residue(nonce + BigInt(challenge) * factor);
  const divided = (points: readonly Mcl.G1[]): Mcl.G1[] => points.map((point) => curve.times(point, byFactor));
  return {
    key: {
      ...key,
      verifying: { ...key.verifying, delta: next.delta2 },
      ...{ delta1, delta2, c: divided(key.c), h: divided(key.h) },
    },
    ceremony: { phase1, contributions: [...contributions, { ...next, response }] },
  };
}

/**
 * Why a transcript does not lead to a key's delta; undefined if the transcript does: each contributor knew a factor,
 * and all factors are in the key's delta. `keyFault` says the same of the key's points.
 */
export function transcriptFault(
  curve: Curve,
  { verifying, delta1, delta2 }: Pick<ProvingKey, "verifying" | "delta1" | "delta2">,
  ceremony: Ceremony,
): string | undefined {
  const [one1, one2] = [curve.multiples1([1n])[0]!, curve.multiples2([1n])[0]!];
  const links = linksOf(curve, verifying, ceremony);
  let [before, last] = [one1, one2];
  for (const [k, contribution] of ceremony.contributions.entries()) {
    const who = `contribution ${k + 1} (${JSON.stringify(contribution.name)})`;
    const [after, commitment] = [curve.point1(contribution.delta1), curve.point1(contribution.commitment)];
    const after2 = curve.point2(contribution.delta2);
    if (!after || !commitment || !after2) return `${who} has points outside the groups`;
    // Another number for the same response would give one contribution two hashes.
    if (contribution.response >= ORDER) return `${who} has a response outside the field`;
    if (after.isZero() || after2.isZero()) return `${who} has the factor 0`;
    const challenge = BigInt(challengeOf(links[k]!, contribution));
    const expected = curve.add(commitment, curve.times(after, challenge));
    if (!curve.times(before, contribution.response).isEqual(expected))
      return `${who} proves no knowledge of its factor`;
    if (!curve.pairsAlike([after, one2], [one1, after2])) return `${who} has another factor in the second group`;
    [before, last] = [after, after2];
  }
  const isLast = delta1.isEqual(before) && delta2.isEqual(last);
  const isNamed = String(curve.coordinates2(last)) === String(verifying.delta);
  return isLast && isNamed ? undefined : "the key's delta is not that of the last contribution";
}

/** A hash for each contribution, over all before: contributors publish theirs, and find them in the finished key. */
export const contributionHashes = (curve: Curve, key: VerifyingKey, ceremony: Ceremony): Hex[] =>
  linksOf(curve, key, ceremony).slice(1);

/** The hashes before the first contribution and after each. */
function linksOf(curve: Curve, key: VerifyingKey, { phase1, contributions }: Ceremony): Hex[] {
  const begun = { ...key, delta: curve.coordinates2(curve.multiples2([1n])[0]!) };
  const links = [textHash(["refute ceremony 1", phase1, wordsHash(keyWords(begun))])];
  for (const contribution of contributions)
    links.push(textHash([challengeOf(links.at(-1)!, contribution), String(contribution.response)]));
  return links;
}

/** The challenge for a proof of knowledge, over all that came before. */
const challengeOf = (link: Hex, { name, delta1, delta2, commitment }: Omit<Contribution, "response">): Hex =>
  textHash([link, name, ...[...delta1, ...delta2, ...commitment].map(String)]);

const textHash = (parts: readonly string[]): Hex =>
  keccak256(bytesToHex(new TextEncoder().encode(JSON.stringify(parts))));
