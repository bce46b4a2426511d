import { X509Certificate } from "node:crypto";
import { bytesToHex, type Hex } from "viem";
import { QuoteFormError } from "./errors.ts";

/** A trust domain's quote, split into the parts that the chain accepts. */
export type SplitQuote = {
  version: 4 | 5;
  /** Up to the attestation key: enough of a platform that the chain knows. */
  signed: Hex;
  /** Up to the certificates. */
  certified: Hex;
  /** The certificate of the platform, as DER. */
  leaf: Uint8Array;
  /** The data that the domain had signed: 64 bytes. */
  reportData: Hex;
  /** The TDX components, 16 bytes. */
  svns: Hex;
  attestationKey: { x: Hex; y: Hex };
};

const HEADER = 48;
/** Start and size of the body in bytes, by quote version and body type. */
const BODIES: Record<string, { start: number; size: number }> = {
  "4": { start: HEADER, size: 584 },
  "5/2": { start: HEADER + 6, size: 584 },
  "5/3": { start: HEADER + 6, size: 648 },
};
const REPORT_DATA_AT = 520;
// From the end of the body on.
const KEY_AT = 68;
const AUTHENTICATION_LENGTH_AT = 586;
/** The longest quote that is read: one has some 5,000 bytes. */
export const MAX_QUOTE_BYTES = 65_536;

/**
 * Splits a quote into its parts. All bytes after the certificates must be zero, because machines return quotes in
 * buffers of a fixed size. The certificates of Intel's authorities in the quote are ignored: the chain holds them
 * already.
 * @throws QuoteFormError
 */
export function splitQuote(quote: Uint8Array, name = "the quote"): SplitQuote {
  const fail = (what: string): never => {
    throw new QuoteFormError(`${name}: ${what}`);
  };
  const bytes = Buffer.from(quote.buffer, quote.byteOffset, quote.byteLength);
  const need = (end: number): void => void (end > bytes.length && fail(`ends within, at byte ${bytes.length}`));
  need(HEADER + 6);
  const version = bytes.readUInt16LE(0);
  const body = BODIES[version === 5 ? `5/${bytes.readUInt16LE(48)}` : String(version)];
  if (body === undefined || bytes.readUInt16LE(2) !== 2 || bytes.readUInt32LE(4) !== 0x81)
    return fail("no quote of Intel TDX, version 4 or 5, with a P-256 key");
  const end = body.start + body.size;
  need(end + AUTHENTICATION_LENGTH_AT + 2);
  const authenticationEnd = end + AUTHENTICATION_LENGTH_AT + 2 + bytes.readUInt16LE(end + AUTHENTICATION_LENGTH_AT);
  need(authenticationEnd + 6);
  if (bytes.readUInt16LE(authenticationEnd) !== 5) fail("has no certificates in PEM, certification type 5");
  const chainEnd = authenticationEnd + 6 + bytes.readUInt32LE(authenticationEnd + 2);
  need(chainEnd);
  if (bytes.subarray(chainEnd).some((byte) => byte !== 0)) fail("has something behind its certificates");
  const hex = (from: number, to: number): Hex => bytesToHex(bytes.subarray(from, to));
  return {
    version: version as 4 | 5,
    signed: hex(0, end + KEY_AT),
    certified: hex(0, authenticationEnd + 6),
    leaf: firstCertificate(bytes.toString("latin1", authenticationEnd + 6, chainEnd), fail),
    reportData: hex(body.start + REPORT_DATA_AT, body.start + REPORT_DATA_AT + 64),
    svns: hex(body.start, body.start + 16),
    attestationKey: { x: hex(end + KEY_AT, end + KEY_AT + 32), y: hex(end + KEY_AT + 32, end + KEY_AT + 64) },
  };
}

const CERTIFICATE =
  /^-----BEGIN CERTIFICATE-----\r?\n((?:[A-Za-z0-9+/=]{1,64}\r?\n)+)-----END CERTIFICATE-----(?:\r?\n|\0|$)/;

/** Returns the first certificate from a PEM chain, in DER. Only canonical base64 is accepted. */
function firstCertificate(pem: string, fail: (what: string) => never): Uint8Array {
  const text = CERTIFICATE.exec(pem)?.[1]?.replace(/\r?\n/g, "") ?? fail("has no certificate in PEM");
  const der = Buffer.from(text, "base64");
  if (der.toString("base64") !== text) fail("its certificate is no canonical base64");
  try {
    return new Uint8Array(new X509Certificate(der).raw);
  } catch {
    return fail("its certificate is none in DER");
  }
}
