import { bytesToHex, keccak256, type Hex } from "viem";
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

/** A verifier's part of a key. `publics` has a point for the constant too. */
export type VerifyingKey = {
  readonly origin: Origin;
  /** The circuit that the key is for. */
  readonly circuit: Hex;
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

/** A key's words for contracts: origin, circuit, then points. */
export const keyWords = ({ origin, circuit, alpha, beta, gamma, delta, publics }: VerifyingKey): bigint[] => [
  BigInt(origin),
  BigInt(circuit),
  ...alpha,
  ...words2(beta),
  ...words2(gamma),
  ...words2(delta),
  ...publics.flat(),
];

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
