import { createHash, sign } from "node:crypto";
import { stringToHex, toHex, type Hex } from "viem";
import { generateKey, type P256Key } from "../../src/attestation/keys.ts";
import { identityText, STATUSES, tcbInfoText, type PlatformStatus } from "../../src/attestation/tdx/documents.ts";
import type { EnclaveIdentity, TcbInfo } from "../../src/chain/tdxStructs.ts";
import type { Issued, PckFields, TestPki } from "./pki.ts";

/** The default properties of the tests' platforms. */
const FMSPC: Hex = "0x50806f000000";
export const PCK: PckFields = {
  ppid: "0x000102030405060708090a0b0c0d0e0f",
  fmspc: FMSPC,
  svns: [5, 5, 2, 2, 4, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 200],
  pceSvn: 13,
};

/** Module TDX_01, version 5. */
export const TDX_SVNS = [5, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const MRSIGNER: Hex = `0x${"dc".repeat(32)}`;
const DAY = 86_400;

/** Changes to a test's default quote. */
export type QuoteFields = {
  version?: 4 | 5;
  /** Only in version 5. */
  body?: "1.0" | "1.5";
  svns?: number[];
  currentSvns?: number[];
  reportData?: Hex;
  /** Bytes in the domain's report, by offset. */
  changes?: Record<number, Hex>;
  /** Bytes of the enclave's report, by their offset. */
  enclaveChanges?: Record<number, Hex>;
  /** Bytes of the header, by their offset. */
  headerChanges?: Record<number, Hex>;
  padding?: number;
};

/** A machine with a quoting enclave. */
export class TestPlatform {
  readonly attestationKey: P256Key = generateKey();
  readonly leaf: Issued;

  readonly pki: TestPki;
  readonly pck: PckFields;

  constructor(pki: TestPki, pck: PckFields = PCK, leaf?: Issued) {
    this.pki = pki;
    this.pck = pck;
    this.leaf = leaf ?? pki.platform(pck);
  }

  /** A quote, with its certificates. */
  quote(fields: QuoteFields = {}): Buffer {
    const { version = 4, body = "1.0", padding = 0 } = fields;
    const header = Buffer.alloc(48);
    header.writeUInt16LE(version, 0);
    header.writeUInt16LE(2, 2);
    header.writeUInt32LE(0x81, 4);
    Buffer.from("939a7233f79c4ca9940a0db3957f0607", "hex").copy(header, 12);
    patch(header, fields.headerChanges);
    const report = Buffer.alloc(body === "1.5" ? 648 : 584);
    Buffer.from(fields.svns ?? TDX_SVNS).copy(report, 0);
    report.fill(0xa1, 16, 64);
    // SEPT_VE_DISABLE, the legal features, and something measured.
    report[123] = 0x10;
    report.writeUInt32LE(0x6_02e7, 128);
    report.fill(0xb2, 136, 184);
    if (body === "1.5") Buffer.from(fields.currentSvns ?? fields.svns ?? TDX_SVNS).copy(report, 584);
    patch(report, fields.changes);
    if (fields.reportData !== undefined) patch(report, { 520: fields.reportData });
    const type = Buffer.alloc(version === 5 ? 6 : 0);
    if (version === 5) {
      type.writeUInt16LE(body === "1.5" ? 3 : 2, 0);
      type.writeUInt32LE(report.length, 2);
    }
    const signedPart = Buffer.concat([header, type, report]);
    return Buffer.concat([signedPart, this.#rest(signedPart, fields), Buffer.alloc(padding)]);
  }

  #rest(signedPart: Buffer, fields: QuoteFields): Buffer {
    const key = point(this.attestationKey);
    const authentication = Buffer.from(Array.from({ length: 32 }, (_, k) => k));
    const enclave = Buffer.alloc(384);
    Buffer.from("11000000000000000700000000000000", "hex").copy(enclave, 48);
    patch(enclave, { 128: MRSIGNER });
    enclave.writeUInt16LE(2, 256);
    enclave.writeUInt16LE(6, 258);
    createHash("sha256").update(key).update(authentication).digest().copy(enclave, 320);
    patch(enclave, fields.enclaveChanges);
    const chain = Buffer.from([this.leaf.der, this.pki.platformCa.der].map(pem).join(""), "latin1");
    const inner = Buffer.concat([
      enclave,
      raw(enclave, this.leaf.key),
      u16(authentication.length),
      authentication,
      u16(5),
      u32(chain.length),
      chain,
    ]);
    const data = Buffer.concat([raw(signedPart, this.attestationKey), key, u16(6), u32(inner.length), inner]);
    return Buffer.concat([u32(data.length), data]);
  }
}

/** TCB info of the tests' platforms. */
export function tcbInfoOf(issued: number, changes: Partial<TcbInfo> = {}): TcbInfo {
  const labels = Array.from({ length: 32 }, (_, k) => (k % 5 === 0 ? `,"category":"BIOS","type":"part ${k}"` : ""));
  const level = (min: number, status: PlatformStatus, rest = "") => ({
    svns: svnsHex([min, ...PCK.svns.slice(1)]),
    pceSvn: 13,
    tdxSvns: svnsHex([5, 0, 4]),
    ...end(status, rest),
  });
  return {
    issueDate: day(issued),
    nextUpdate: day(issued + 30 * DAY),
    fmspc: FMSPC,
    pceId: "0x0000",
    tcbType: 0,
    number: 17,
    modules: [
      { version: 3, levels: [{ svn: 3, ...end("UpToDate") }] },
      {
        version: 1,
        levels: [
          { svn: 4, ...end("UpToDate") },
          { svn: 2, ...end("OutOfDate") },
        ],
      },
    ],
    labels: labels as unknown as TcbInfo["labels"],
    levels: [level(5, "UpToDate"), level(3, "OutOfDate", ',"advisoryIDs":["INTEL-SA-00837","INTEL-SA-00960"]')],
    lowerCase: [],
    ...changes,
  };
}

/** Returns a single level that every test platform reaches. */
export const levelWith = (status: PlatformStatus): TcbInfo["levels"] => [
  { svns: svnsHex([]), pceSvn: 0, tdxSvns: svnsHex([]), ...end(status) },
];

/** The identity of the tests' quoting enclave. */
export const identityOf = (issued: number, changes: Partial<EnclaveIdentity> = {}): EnclaveIdentity => ({
  issueDate: day(issued),
  nextUpdate: day(issued + 30 * DAY),
  number: 17,
  miscselect: "0x00000000",
  miscselectMask: "0xffffffff",
  attributes: "0x11000000000000000000000000000000",
  attributesMask: "0xfbffffffffffffff0000000000000000",
  mrsigner: MRSIGNER,
  product: 2,
  levels: [{ svn: 4, ...end("UpToDate") }],
  lowerCase: [],
  ...changes,
});

/** Returns a document's signature, in Intel's form. */
export function signDocument(signer: Issued, document: TcbInfo | EnclaveIdentity): { r: Hex; s: Hex } {
  const text = "fmspc" in document ? tcbInfoText(document) : identityText(document);
  const bytes = raw(Buffer.from(text), signer.key);
  return { r: toHex(bytes.subarray(0, 32)), s: toHex(bytes.subarray(32)) };
}

/** Returns the last fields of each level. */
export const end = (status: PlatformStatus, rest = "") => ({
  date: stringToHex("2024-03-13T00:00:00Z"),
  status: STATUSES.indexOf(status),
  rest,
});

/** A time as documents have it. */
export const day = (seconds: number): Hex =>
  stringToHex(new Date(seconds * 1_000).toISOString().replace(/\.\d{3}/, ""));

export const svnsHex = (svns: readonly number[]): Hex =>
  toHex(Buffer.from(Array.from({ length: 16 }, (_, k) => svns[k] ?? 0)));

function patch(target: Buffer, changes: Record<number, Hex> = {}): void {
  for (const [offset, bytes] of Object.entries(changes))
    Buffer.from(bytes.slice(2), "hex").copy(target, Number(offset));
}

const raw = (message: Buffer, { privateKey }: P256Key): Buffer =>
  sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" });

const point = ({ x, y }: P256Key): Buffer => Buffer.from(`${x.slice(2)}${y.slice(2)}`, "hex");

/** A certificate in PEM. */
export const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
