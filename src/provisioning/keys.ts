import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { encodeAbiParameters, keccak256, type Hex } from "viem";

/** A P-256 key pair, with the public point as the chain has it. */
export type P256Key = { privateKey: KeyObject; x: Hex; y: Hex };

/** r and s of a signature, s in the lower half of the group order, as the chain demands. */
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
  const s = BigInt(`0x${raw.toString("hex", 32)}`);
  // (r, s) and (r, n - s) both verify; only the lower is accepted, so that a signature has one form.
  const low = s > ORDER / 2n ? ORDER - s : s;
  return { r: `0x${raw.toString("hex", 0, 32)}`, s: `0x${low.toString(16).padStart(64, "0")}` };
}

/** The id by which the chain knows a key: `keccak256(abi.encode(x, y))`. */
export function keyId({ x, y }: Pick<P256Key, "x" | "y">): Hex {
  return keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "bytes32" }], [x, y]));
}
