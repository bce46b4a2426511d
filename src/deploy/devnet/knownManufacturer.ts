import { createECDH, createHash, createPrivateKey } from "node:crypto";

/** Everybody can compute the key, as the keys of the development accounts: devices of one local market fit them all. */
const SEED = "manufacturer of the devices of local markets";

/** The private key of the manufacturer of local markets, PKCS #8 PEM. */
export function knownManufacturerPem(): string {
  const scalar = createHash("sha256").update(SEED).digest();
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(scalar);
  const point = curve.getPublicKey();
  const [d, x, y] = [scalar, point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const key = createPrivateKey({ format: "jwk", key: { kty: "EC", crv: "P-256", d: d!, x: x!, y: y! } });
  return key.export({ format: "pem", type: "pkcs8" }).toString();
}
