import { bytesToHex, keccak256, numberToHex, type Hex } from "viem";
import type * as Mcl from "mcl-wasm";
import type { Point1, Point2 } from "./curve.ts";

/**
 * The origin of a key's secrets. Anybody who knows the secrets can prove anything: a key with known secrets serves
 * tests and local chains only.
 */
export const Origin = { knownSecrets: 1, ceremony: 2 } as const;
export type Origin = (typeof Origin)[keyof typeof Origin];

/** The chain whose contracts take keys with known secrets. */
export const LOCAL_CHAIN = 31_337;

/** What a key says it is for. Contracts compare program and layout, and the key's hash covers all three. */
export type KeySubject = {
  /** The circuit's hash: `circuitHash`. */
  readonly circuit: Hex;
  /** The program's root. */
  readonly program: Hex;
  /** The hash over types and lengths of inputs and outputs: `layoutHash`. */
  readonly layout: Hex;
};

/** A verifier's part of a key. `publics` has a point for the constant too. */
export type VerifyingKey = KeySubject & {
  readonly origin: Origin;
  readonly alpha: Point1;
  readonly beta: Point2;
  readonly gamma: Point2;
  readonly delta: Point2;
  readonly publics: readonly Point1[];
};

/** A prover's part of a key: points by wire. */
export type ProvingKey = {
  readonly verifying: VerifyingKey;
  /** Rows: 2^log. */
  readonly log: number;
  readonly alpha1: Mcl.G1;
  readonly beta1: Mcl.G1;
  readonly beta2: Mcl.G2;
  readonly delta1: Mcl.G1;
  readonly delta2: Mcl.G2;
  readonly a: readonly Mcl.G1[];
  readonly b1: readonly Mcl.G1[];
  readonly b2: readonly Mcl.G2[];
  /** Of private wires. */
  readonly c: readonly Mcl.G1[];
  /** Of rows. */
  readonly h: readonly Mcl.G1[];
};

/** A proof: three points. */
export type Proof = { readonly a: Point1; readonly b: Point2; readonly c: Point1 };

/** Ethereum's precompiles take imaginary parts first. */
const words2 = ([x, xi, y, yi]: Point2): Point2 => [xi, x, yi, y];

/** Words before a key's points, and before the points of constant and public values. */
const SUBJECT_WORDS = 4;
export const HEAD_WORDS = 18;

/** A key's words for contracts: origin, circuit, program, layout, then points. */
export const keyWords = (key: VerifyingKey): bigint[] => [
  ...[key.origin, key.circuit, key.program, key.layout].map(BigInt),
  ...key.alpha,
  ...words2(key.beta),
  ...words2(key.gamma),
  ...words2(key.delta),
  ...key.publics.flat(),
];

/** Whether words can be a key's by their number: the constant and the context have points at least. */
export const isKeyLength = (words: number): boolean => words >= HEAD_WORDS + 4 && words % 2 === 0;

/** The key of the words of {@link keyWords}. */
export function keyOf(words: readonly bigint[]): VerifyingKey {
  const hash = (at: number): Hex => numberToHex(words[at]!, { size: 32 });
  const point2 = (at: number): Point2 => [words[at + 1]!, words[at]!, words[at + 3]!, words[at + 2]!];
  const [alpha, beta, gamma, delta] = [0, 2, 6, 10].map((at) => SUBJECT_WORDS + at) as [number, number, number, number];
  return {
    origin: words[0] === BigInt(Origin.ceremony) ? Origin.ceremony : Origin.knownSecrets,
    ...{ circuit: hash(1), program: hash(2), layout: hash(3) },
    alpha: [words[alpha]!, words[alpha + 1]!],
    ...{ beta: point2(beta), gamma: point2(gamma), delta: point2(delta) },
    publics: Array.from({ length: (words.length - HEAD_WORDS) / 2 }, (_, k) => [
      words[HEAD_WORDS + 2 * k]!,
      words[HEAD_WORDS + 2 * k + 1]!,
    ]),
  };
}

/**
 * A flaw by which anybody could prove anything from the key's points alone, in words; undefined if there is none.
 * Contracts refuse such keys too.
 */
export function flawOf({ alpha, beta, gamma, delta, publics }: VerifyingKey): string | undefined {
  const isNone = (point: readonly bigint[]): boolean => point.every((coordinate) => coordinate === 0n);
  // Equal first coordinates: the same point, or the negated one.
  const isAlike = (p: Point2, q: Point2): boolean => p[0] === q[0] && p[1] === q[1];
  if (publics.length < 2) return "it has no point for the context";
  for (const [name, point] of Object.entries({ alpha, beta, gamma, delta }))
    if (isNone(point)) return `its ${name} is the point at infinity`;
  if (isAlike(gamma, delta)) return "its gamma is its delta, up to the sign";
  if (isAlike(beta, gamma)) return "its beta is its gamma, up to the sign";
  if (isAlike(beta, delta)) return "its beta is its delta, up to the sign";
  const unbound = publics.findIndex((point, k) => k > 0 && isNone(point));
  if (unbound === 1) return "its point for the context is the point at infinity";
  return unbound === -1 ? undefined : `its point for public value ${unbound - 1} is the point at infinity`;
}

/** A proof's words for contracts. */
export const proofWords = ({ a, b, c }: Proof): readonly [...Point1, ...Point2, ...Point1] => [
  ...a,
  ...words2(b),
  ...c,
];

/** The proof of the words of {@link proofWords}. */
export const proofOf = ([ax, ay, bxi, bx, byi, by, cx, cy]: ReturnType<typeof proofWords>): Proof => ({
  a: [ax, ay],
  b: [bx, bxi, by, byi],
  c: [cx, cy],
});

/** The bytes of words, 32 each, big-endian. */
function wordBytes(words: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(32 * words.length);
  const view = new DataView(bytes.buffer);
  words.forEach((word, i) => {
    for (let k = 0; k < 4; k++) view.setBigUint64(32 * i + 8 * k, BigInt.asUintN(64, word >> BigInt(64 * (3 - k))));
  });
  return bytes;
}

/** The hash of words' bytes. */
export const wordsHash = (words: readonly bigint[]): Hex => keccak256(bytesToHex(wordBytes(words)));

/** The hash by which a key is named. */
export const keyHash = (key: VerifyingKey): Hex => wordsHash(keyWords(key));

/** A proving key's bytes: 64 a point, 128 over the extension. */
export function provingKeyBytes({ a, b1, b2, c, h }: ProvingKey): number {
  const count = (points: readonly { isZero(): boolean }[]): number => points.filter((point) => !point.isZero()).length;
  return 64 * (count(a) + count(b1) + count(c) + count(h)) + 128 * count(b2);
}
