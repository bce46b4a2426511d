import { encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import type { ReportKind } from "../chain/structs.ts";
import { fromHex, sha256, toHex } from "../program/merkle/bytes.ts";
import { ReportFieldError } from "./errors.ts";
import type { P256Signature } from "./keys.ts";

/** Where a report counts: one chain, one provisioning contract. */
type ReportDomain = { chainId: number; provisioning: Address };

/** The fields that a device signs, in addition to the device id and the domain. */
export type ReportFields = {
  /** `nonceOf`. */
  nonce: Hex;
  kind: ReportKind;
  /** EAT's dbgstat: 1 (debugging is disabled) to 4 (fully and permanently). */
  debugStatus: number;
  /** Higher than in all earlier reports of the device. */
  seq: bigint;
  worker: Address;
  /** Hash of the device's firmware, 32 bytes. */
  firmware: Hex;
  /** The reported value, 32 bytes: an identification's Merkle root. */
  body: Hex;
  /** 32 bytes: zero in an identification. */
  aux: Hex;
};

/** COSE's protected header in CBOR: {1: -7}, ES256 (RFC 9052, RFC 9053). */
const PROTECTED = "a10126";

/** The common prefix of the claim keys reserved for private use: -70001 is 3a00011170. */
const PRIVATE = "3a000111";

/** The domain of a deployment's reports, COSE's external_aad: 32 bytes. */
export function domainOf({ chainId, provisioning }: ReportDomain): Hex {
  const types = [{ type: "string" }, { type: "uint256" }, { type: "address" }] as const;
  return keccak256(encodeAbiParameters(types, ["DongleReport/1", BigInt(chainId), provisioning]));
}

/** The inputs of a nonce. */
type NonceFields = ReportDomain & {
  worker: Address;
  /** `deviceId` of its key. */
  device: Hex;
  kind: ReportKind;
  /** The hash of a block on the deployment's grid, at most 256 blocks old. */
  blockHash: Hex;
};

/** Returns a report's nonce. The device could not know the nonce before the grid block. */
export function nonceOf({ chainId, provisioning, worker, device, kind, blockHash }: NonceFields): Hex {
  const types = ["bytes32", "uint256", "address", "address", "bytes32", "uint8"].map((type) => ({ type }));
  return keccak256(encodeAbiParameters(types, [blockHash, BigInt(chainId), provisioning, worker, device, kind]));
}

/**
 * Returns a report's payload: its EAT claims (RFC 9711) in deterministic CBOR (RFC 8949, 4.2.1), 241 bytes.
 * @param device `deviceId` of the signing key.
 * @throws ReportFieldError, naming the field that does not fit
 */
export function payloadOf(device: Hex, fields: ReportFields): Uint8Array<ArrayBuffer> {
  const { nonce, kind, debugStatus, seq, worker, firmware, body, aux } = fields;
  const claims = [
    `0a5820${bytes("nonce", nonce, 32)}`,
    `190100582101${bytes("device", device, 32)}`,
    `190107${small("debugStatus", debugStatus)}`,
    `${PRIVATE}70${small("kind", kind)}`,
    `${PRIVATE}7148${counter(seq)}`,
    `${PRIVATE}7254${bytes("worker", worker, 20)}`,
    `${PRIVATE}735820${bytes("firmware", firmware, 32)}`,
    `${PRIVATE}745820${bytes("body", body, 32)}`,
    `${PRIVATE}755820${bytes("aux", aux, 32)}`,
  ];
  return fromHex(`0xa9${claims.join("")}`);
}

/**
 * Returns the bytes that a device signs: COSE's Sig_structure, 293 bytes. The signature covers their SHA-256.
 * @param domain `domainOf` the deployment.
 * @param payload `payloadOf` the report.
 * @throws ReportFieldError
 */
export function sigStructure(domain: Hex, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const context = Buffer.from("Signature1").toString("hex");
  const head = `0x846a${context}43${PROTECTED}5820${bytes("domain", domain, 32)}` as const;
  return Buffer.concat([fromHex(head), byteString(payload)]);
}

/** The digest that is signed: SHA-256 of `sigStructure`. @throws ReportFieldError */
export const reportDigest = (domain: Hex, payload: Uint8Array): Hex => toHex(sha256(sigStructure(domain, payload)));

/** A report as a file: a tagged COSE_Sign1, with the domain as external_aad. */
export function coseSign1(payload: Uint8Array, { r, s }: P256Signature): Uint8Array<ArrayBuffer> {
  const signature = fromHex(`0x${bytes("r", r, 32)}${bytes("s", s, 32)}`);
  return Buffer.concat([fromHex(`0xd28443${PROTECTED}a0`), byteString(payload), byteString(signature)]);
}

/** A byte string of 24 to 255 bytes in CBOR. */
const byteString = (content: Uint8Array): Uint8Array =>
  Buffer.concat([fromHex(`0x58${content.length.toString(16).padStart(2, "0")}`), content]);

/** The digits of a field. @throws ReportFieldError */
function bytes(name: string, value: Hex, length: number): string {
  const digits = new RegExp(`^0x([0-9a-fA-F]{${2 * length}})$`).exec(value)?.[1];
  if (digits === undefined) throw new ReportFieldError(`${name} ${value}: expected ${length} bytes in hexadecimal`);
  return digits.toLowerCase();
}

/** A number that CBOR holds in one byte. @throws ReportFieldError */
function small(name: string, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 23)
    throw new ReportFieldError(`${name} ${value}: expected a whole number of 0 to 23`);
  return value.toString(16).padStart(2, "0");
}

/** @throws ReportFieldError */
function counter(seq: bigint): string {
  if (seq < 0n || seq >= 1n << 64n) throw new ReportFieldError(`seq ${seq}: expected 0 to 2^64 - 1`);
  return seq.toString(16).padStart(16, "0");
}
