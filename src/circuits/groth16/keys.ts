import { bytesToHex, keccak256, type Hex } from "viem";
import type * as Mcl from "mcl-wasm";
import type { Curve, Point1, Point2 } from "./curve.ts";

/**
 * Where the secrets behind a key came from. Whoever knows them proves anything, so a key with known secrets is for
 * tests and for machines of one's own only.
 */
export const Origin = { knownSecrets: 1, ceremony: 2 } as const;
export type Origin = (typeof Origin)[keyof typeof Origin];

/** What a verifier needs: points, one more `publics` than public values. */
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

/** A point for each wire, or none where all would be infinity. */
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

/** A point of the extension as words of Ethereum's precompiles, which take the imaginary part first. */
const words2 = ([x, xi, y, yi]: Point2): bigint[] => [xi, x, yi, y];

/** The words of a key, as contracts take them: origin, circuit, then the points. */
export const keyWords = ({ origin, circuit, alpha, beta, gamma, delta, publics }: VerifyingKey): bigint[] => [
  BigInt(origin),
  BigInt(circuit),
  ...alpha,
  ...words2(beta),
  ...words2(gamma),
  ...words2(delta),
  ...publics.flat(),
];

/** The words of a proof, as contracts take them. */
export const proofWords = ({ a, b, c }: Proof): bigint[] => [...a, ...words2(b), ...c];

/** The bytes of words, 32 each, big-endian. */
export function wordBytes(words: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(32 * words.length);
  const view = new DataView(bytes.buffer);
  words.forEach((word, i) => {
    for (let k = 0; k < 4; k++) view.setBigUint64(32 * i + 8 * k, BigInt.asUintN(64, word >> BigInt(64 * (3 - k))));
  });
  return bytes;
}

/** The hash by which a key is named: of its bytes. */
export const keyHash = (key: VerifyingKey): Hex => keccak256(bytesToHex(wordBytes(keyWords(key))));

/** Bytes of a proving key with 64 bytes a point, 128 over the extension. */
export function provingKeyBytes(curve: Curve, { a, b1, b2, c, h }: ProvingKey): number {
  const count = (points: readonly { isZero(): boolean }[]): number => points.filter((point) => !point.isZero()).length;
  return 64 * (count(a) + count(b1) + count(c) + count(h)) + 128 * count(b2);
}
