import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { encodeAbiParameters, keccak256, type Hex } from "viem";
import { fromHash, sha256, toHex } from "../program/merkle/hash.ts";

/** A point of the curve P-256, in the chain's encoding. */
export type PublicKey = { x: Hex; y: Hex };

/** A P-256 key pair. */
export type P256Key = PublicKey & { privateKey: KeyObject };

/** The signature's r and s. The chain demands s in the lower half of the group order. */
export type P256Signature = { r: Hex; s: Hex };

/** The order of the P-256 group (FIPS 186-5, SP 800-186). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** A fresh key. */
export function generateKey(): P256Key {
  return withPoint(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
}

/** The key of a PKCS #8 PEM text. @throws Error if it holds no P-256 key */
export function keyFromPem(pem: string): P256Key {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("not a P-256 key");
  return withPoint(privateKey);
}

/** The PKCS #8 PEM text of a key: a secret. */
export const keyToPem = ({ privateKey }: P256Key): string =>
  privateKey.export({ format: "pem", type: "pkcs8" }).toString();

function withPoint(privateKey: KeyObject): P256Key {
  const { x, y } = createPublicKey(privateKey).export({ format: "jwk" }) as { x: string; y: string };
  const coordinate = (text: string): Hex => `0x${Buffer.from(text, "base64url").toString("hex").padStart(64, "0")}`;
  return { privateKey, x: coordinate(x), y: coordinate(y) };
}

/** ECDSA over SHA-256 of the message. */
export function signMessage({ privateKey }: P256Key, message: Uint8Array): P256Signature {
  const raw = sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" });
  return lowS({ r: `0x${raw.toString("hex", 0, 32)}`, s: `0x${raw.toString("hex", 32)}` });
}

/**
 * Returns a signature in the only form accepted by the chain. (r, s) and (r, n - s) both verify, and chips produce
 * either. The chain accepts only the lower s: each signature has one form.
 */
export function lowS({ r, s }: P256Signature): P256Signature {
  const value = BigInt(s);
  const low = value > ORDER / 2n ? ORDER - value : value;
  return { r, s: `0x${low.toString(16).padStart(64, "0")}` };
}

/** The id by which the chain knows a device: `sha256(x || y)`. Its ueid is 0x01 and this. */
export const deviceId = ({ x, y }: PublicKey): Hex => toHex(sha256(fromHash(x), fromHash(y)));

/** The id by which the chain knows a manufacturer: `keccak256(abi.encode(x, y))`. */
export function manufacturerId({ x, y }: PublicKey): Hex {
  return keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "bytes32" }], [x, y]));
}
