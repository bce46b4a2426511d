import { sign, type KeyObject } from "node:crypto";
import { bytesToHex, keccak256, type Hex } from "viem";
import { generateKey, type P256Key } from "../../src/attestation/keys.ts";
import { bits, flag, integer, intelName, octets, oid, sequence, time, tlv } from "./der.ts";

const ECDSA = sequence(oid("1.2.840.10045.4.3.2"));
const YEAR = 365 * 86_400;

/** Whoever signs certificates or lists. */
type Issuer = { key: P256Key; name: Buffer };

/** A certificate, with the certified key. */
export type Issued = Issuer & { der: Buffer; serial: bigint };

/** Changes to a certificate of Intel's. */
type CertificateFields = {
  commonName: string;
  key?: P256Key;
  serial?: bigint;
  notBefore?: number;
  notAfter?: number;
  isAuthority?: boolean;
  keyUsage?: number;
  extensions?: Buffer[];
  /** Replaces the default name, made from the common name. */
  name?: Buffer;
};

/** The contents of a platform's certificate. */
export type PckFields = { ppid: Hex; fmspc: Hex; svns: number[]; pceSvn: number; pceId?: Hex };

const SGX = "1.2.840.113741.1.13.1";

/** A root and its signed certificates, in Intel's form. */
export class TestPki {
  readonly root: Issuer = { key: generateKey(), name: intelName("Intel SGX Root CA") };
  readonly platformCa: Issued;
  readonly signer: Issued;
  #serial = 0x5000_0000_0000_0000n;

  readonly now: number;

  /** @param now Unix time at which all certificates are valid. */
  constructor(now: number) {
    this.now = now;
    this.platformCa = this.authority();
    this.signer = this.documentSigner();
  }

  /** The root as the verifier's constructor takes it. */
  get anchor() {
    const { x, y } = this.root.key;
    return { x, y, name: keccak256(bytesToHex(this.root.name)) };
  }

  /** The root's own certificate. */
  rootCertificate(): Issued {
    return this.issue(this.root, {
      commonName: "Intel SGX Root CA",
      key: this.root.key,
      isAuthority: true,
      keyUsage: 0x06,
      serial: 1n,
    });
  }

  /** A certificate that certifies platforms. */
  authority(fields: Partial<CertificateFields> = {}): Issued {
    return this.issue(this.root, {
      commonName: "Intel SGX PCK Platform CA",
      isAuthority: true,
      keyUsage: 0x06,
      ...fields,
    });
  }

  /** A certificate that signs documents. */
  documentSigner(fields: Partial<CertificateFields> = {}): Issued {
    return this.issue(this.root, { commonName: "Intel SGX TCB Signing", keyUsage: 0xc0, ...fields });
  }

  /** A platform's certificate. */
  platform(pck: PckFields, fields: Partial<CertificateFields> = {}, issuer: Issuer = this.platformCa): Issued {
    return this.issue(issuer, {
      commonName: "Intel SGX PCK Certificate",
      keyUsage: 0xc0,
      extensions: [sequence(oid(SGX), octets(sgxExtension(pck)))],
      ...fields,
    });
  }

  /** Any certificate. */
  issue(issuer: Issuer, fields: CertificateFields): Issued {
    const key = fields.key ?? generateKey();
    const serial = fields.serial ?? ++this.#serial;
    const name = fields.name ?? intelName(fields.commonName);
    const usage = fields.keyUsage ?? 0;
    const critical = (id: string, value: Buffer): Buffer => sequence(oid(id), flag(), octets(value));
    const tbs = sequence(
      tlv(0xa0, integer(2)),
      integer(serial),
      ECDSA,
      issuer.name,
      sequence(time(fields.notBefore ?? this.now - YEAR), time(fields.notAfter ?? this.now + 7 * YEAR)),
      name,
      subjectKey(key),
      tlv(
        0xa3,
        sequence(
          critical("2.5.29.15", tlv(0x03, Buffer.of(zeroBits(usage), usage))),
          critical("2.5.29.19", fields.isAuthority === true ? sequence(flag(), integer(0)) : sequence()),
          ...(fields.extensions ?? []),
        ),
      ),
    );
    return { key, name, serial, der: signed(issuer.key.privateKey, tbs) };
  }

  /** A revocation list. @param extensions Beside its number. */
  crl(
    issuer: Issuer,
    serials: readonly bigint[],
    thisUpdate = this.now,
    nextUpdate = thisUpdate + 30 * 86_400,
    extensions: readonly Buffer[] = [],
  ): Buffer {
    const entries = serials.map((serial) => sequence(integer(serial), time(thisUpdate)));
    const tbs = sequence(
      integer(1),
      ECDSA,
      issuer.name,
      time(thisUpdate),
      time(nextUpdate),
      ...(entries.length > 0 ? [sequence(...entries)] : []),
      tlv(0xa0, sequence(sequence(oid("2.5.29.20"), octets(integer(1))), ...extensions)),
    );
    return signed(issuer.key.privateKey, tbs);
  }
}

/** Returns the number of lowest zero bits in a byte. DER omits the lowest zero bits from a list of named bits. */
const zeroBits = (byte: number): number => (byte === 0 ? 0 : 31 - Math.clz32(byte & -byte));

/** Intel's extension of a platform's certificate. */
export function sgxExtension({ ppid, fmspc, svns, pceSvn, pceId = "0x0000" }: PckFields): Buffer {
  const pair = (id: string, value: Buffer): Buffer => sequence(oid(`${SGX}.${id}`), value);
  const bytes = (value: Hex): Buffer => Buffer.from(value.slice(2), "hex");
  const tcb = [...svns, pceSvn].map((svn, k) => pair(`2.${k + 1}`, integer(svn)));
  return sequence(
    pair("1", octets(bytes(ppid))),
    pair("2", sequence(...tcb, pair("2.18", octets(Buffer.from(svns))))),
    pair("3", octets(bytes(pceId))),
    pair("4", octets(bytes(fmspc))),
    pair("5", tlv(0x0a, Buffer.of(1))),
    pair("6", octets(Buffer.alloc(16, 7))),
  );
}

const subjectKey = ({ x, y }: P256Key): Buffer =>
  sequence(
    sequence(oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7")),
    bits(Buffer.from(`04${x.slice(2)}${y.slice(2)}`, "hex")),
  );

/** Returns the signed data, the algorithm, and the signature. */
const signed = (key: KeyObject, tbs: Buffer): Buffer => sequence(tbs, ECDSA, bits(sign("sha256", tbs, key)));
