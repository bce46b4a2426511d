import { createPublicKey, verify } from "node:crypto";
import { AsnConvert } from "@peculiar/asn1-schema";
import { Certificate, CertificateList, Name } from "@peculiar/asn1-x509";
import { bytesToHex, encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import type { PublicKey } from "../keys.ts";
import { CollateralFormError } from "./errors.ts";

/** The facts read from a certificate. */
export type CertificateFacts = {
  serial: bigint;
  /** keccak256 of the name, as DER. */
  issuer: Hex;
  subject: Hex;
  commonName: string;
  key: PublicKey;
  notAfter: Date;
};

/** The facts about a platform in the platform's certificate. */
type PckFacts = { ppid: Hex; fmspc: Hex; pceId: Hex };

const COMMON_NAME = "2.5.4.3";
const SGX_EXTENSION = "1.2.840.113741.1.13.1";

/** An uncompressed point. */
const POINT_BYTES = 65;

/** Reads a certificate in DER. @throws CollateralFormError */
export function readCertificate(der: Uint8Array, name: string): CertificateFacts {
  const { tbsCertificate: tbs } = parse(der, Certificate, name);
  const point = new Uint8Array(tbs.subjectPublicKeyInfo.subjectPublicKey);
  if (point.length !== POINT_BYTES) throw new CollateralFormError(`${name}: its key is none of P-256`);
  const common = tbs.subject.flatMap((part) => [...part]).find(({ type }) => type === COMMON_NAME);
  return {
    serial: serialOf(tbs.serialNumber),
    issuer: nameHash(tbs.issuer),
    subject: nameHash(tbs.subject),
    commonName: common?.value.toString() ?? "",
    key: { x: bytesToHex(point.subarray(1, 33)), y: bytesToHex(point.subarray(33)) },
    notAfter: tbs.validity.notAfter.getTime(),
  };
}

/** Reads the facts about a platform from the platform's certificate. @throws CollateralFormError */
export function readPck(der: Uint8Array, name: string): PckFacts {
  const { extensions } = parse(der, Certificate, name).tbsCertificate;
  const extension = extensions?.find(({ extnID }) => extnID === SGX_EXTENSION);
  if (extension === undefined) throw new CollateralFormError(`${name}: no certificate of a platform of Intel's`);
  const text = Buffer.from(extension.extnValue.buffer).toString("hex");
  const value = (id: number, bytes: number): Hex => {
    // OBJECT IDENTIFIER of ten bytes, then OCTET STRING.
    const length = bytes.toString(16).padStart(2, "0");
    const found = new RegExp(`060a2a864886f84d010d010${id}04${length}([0-9a-f]{${2 * bytes}})`).exec(text)?.[1];
    if (found === undefined) throw new CollateralFormError(`${name}: Intel's extension lacks part ${id}`);
    return `0x${found}`;
  };
  return { ppid: value(1, 16), pceId: value(3, 2), fmspc: value(4, 6) };
}

/** The facts read from a revocation list. */
export type CrlFacts = { issuer: Hex; thisUpdate: Date; nextUpdate: Date | undefined; serials: bigint[] };

/** Reads a revocation list in DER. @throws CollateralFormError */
export function readCrl(der: Uint8Array, name: string): CrlFacts {
  const { tbsCertList: tbs } = parse(der, CertificateList, name);
  return {
    issuer: nameHash(tbs.issuer),
    thisUpdate: tbs.thisUpdate.getTime(),
    nextUpdate: tbs.nextUpdate?.getTime(),
    serials: (tbs.revokedCertificates ?? []).map(({ userCertificate }) => serialOf(userCertificate)),
  };
}

/**
 * Returns the id by which the chain knows a certificate. @param issuer Number of the signing authority; 0: the root.
 */
export const certificateId = (issuer: number, serial: bigint): bigint =>
  BigInt(keccak256(encodeAbiParameters([{ type: "uint8" }, { type: "uint256" }], [issuer, serial]))) % 2n ** 64n;

/** Whether a key signed a certificate or a revocation list in DER. Names do not tell: a name may have two keys. */
export function isSignedBy(der: Uint8Array, { x, y }: PublicKey): boolean {
  const [start] = contentOf(der, 0);
  const [, tbsEnd] = contentOf(der, start);
  const [, algorithmEnd] = contentOf(der, tbsEnd);
  const [bits, end] = contentOf(der, algorithmEnd);
  const coordinate = (value: Hex): string => Buffer.from(value.slice(2), "hex").toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: coordinate(x), y: coordinate(y) };
  // The first byte of a BIT STRING is the number of unused bits.
  const signature = der.subarray(bits + 1, end);
  return verify("sha256", der.subarray(start, tbsEnd), createPublicKey({ key: jwk, format: "jwk" }), signature);
}

/** Returns where the content of the value at a place starts and stops. The value is DER. */
function contentOf(der: Uint8Array, at: number): [start: number, stop: number] {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return [at + 2, at + 2 + first];
  const start = at + 2 + (first & 0x7f);
  return [start, start + der.subarray(at + 2, start).reduce((length, byte) => length * 256 + byte, 0)];
}

/** The device's id of a platform. @param at The verifier, and its chain. */
export function platformDevice(ppid: Hex, at: { chainId: number; verifier: Address }): Hex {
  const types = ["string", "uint256", "address", "bytes16"].map((type) => ({ type }));
  const values = ["refute tdx platform 1", BigInt(at.chainId), at.verifier, ppid];
  const platform = keccak256(encodeAbiParameters(types, values));
  return keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [at.verifier, platform]));
}

function parse<T>(der: Uint8Array, type: new () => T, name: string): T {
  try {
    return AsnConvert.parse(der, type);
  } catch (cause) {
    throw new CollateralFormError(`${name}: not the DER that was expected`, { cause });
  }
}

const nameHash = (name: Name): Hex => keccak256(new Uint8Array(AsnConvert.serialize(name)));

const serialOf = (bytes: ArrayBuffer): bigint => BigInt(bytesToHex(new Uint8Array(bytes)));
