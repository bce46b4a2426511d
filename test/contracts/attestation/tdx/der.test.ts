import { AsnConvert } from "@peculiar/asn1-schema";
import { Certificate } from "@peculiar/asn1-x509";
import { expect } from "chai";
import { X509Certificate } from "node:crypto";
import { bytesToHex } from "viem";
import { Prng } from "../../../../src/base/prng.ts";
import { isSignedBy, readCertificate, readCrl } from "../../../../src/attestation/tdx/certificates.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { bits, flag, integer, namePart, octets, oid, sequence, time, tlv } from "../../../../testkit/tdx/der.ts";
import { intelRoot, realCollateral, realQuote } from "../../../../testkit/tdx/realQuote.ts";
import { sgxExtension, TestPki } from "../../../../testkit/tdx/pki.ts";
import { PCK, svnsHex } from "../../../../testkit/tdx/quotes.ts";
import { deployVerifier, type VerifierChain } from "../../../../testkit/tdx/tdxWorld.ts";

/** A certificate as a library of others reads it; undefined if it refuses it. */
function readByOthers(der: Uint8Array) {
  try {
    return AsnConvert.parse(der, Certificate).tbsCertificate;
  } catch {
    return undefined;
  }
}

describe("TDX: DER, against the readers of others", () => {
  let chain: VerifierChain;
  before(async () => {
    chain = await deployVerifier({
      x: `0x${"00".repeat(32)}`,
      y: `0x${"00".repeat(32)}`,
      name: `0x${"00".repeat(32)}`,
    });
  });

  const certificates = (): Uint8Array[] => {
    const c = realCollateral();
    const chains = [c.pck_crl_issuer_chain!, c.tcb_info_issuer_chain!].map((pem) => new X509Certificate(pem).raw);
    return [splitQuote(realQuote()).leaf, intelRoot(), ...chains];
  };

  it("everyCertificate_isReadAlike", async () => {
    for (const der of certificates()) {
      const read = await chain.reader.read.readCertificate([bytesToHex(der)]);
      const other = readCertificate(der, "a certificate");
      const node = new X509Certificate(der);
      expect(read.serial).to.equal(other.serial);
      expect([read.issuer, read.subject, read.x, read.y]).to.deep.equal([
        other.issuer,
        other.subject,
        other.key.x,
        other.key.y,
      ]);
      expect(Number(read.notBefore)).to.equal(Date.parse(node.validFrom) / 1_000);
      expect(Number(read.notAfter)).to.equal(Date.parse(node.validTo) / 1_000);
      expect(read.isAuthority).to.equal(node.ca);
    }
  });

  it("everyRevocationList_isReadAlike_withAllItsNumbers", async () => {
    const c = realCollateral();
    for (const text of [c.root_ca_crl!, c.pck_crl!]) {
      const other = readCrl(Buffer.from(text, "hex"), "a list");
      const alike = other.serials.slice(0, 1).map((serial) => serial + 2n ** 200n);
      const serials = [...other.serials, 1n, 2n ** 255n, ...alike];
      const [list] = await chain.reader.read.readRevocationList([`0x${text}`, []]);
      // A few in a call: builds that report what they execute take memory for each report of a call.
      for (let from = 0; from < serials.length; from += 4) {
        const some = serials.slice(from, from + 4);
        const [, isListed] = await chain.reader.read.readRevocationList([`0x${text}`, some]);
        expect(isListed).to.deep.equal(some.map((serial) => other.serials.includes(serial)));
      }
      expect(list.issuer).to.equal(other.issuer);
      expect(Number(list.thisUpdate)).to.equal(other.thisUpdate.getTime() / 1_000);
      expect(Number(list.nextUpdate)).to.equal(other.nextUpdate!.getTime() / 1_000);
    }
  });

  it("aListOfMoreBytesThanALengthOfTwo_isRead_upToItsLastNumber", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const serials = Array.from({ length: 1_700 }, (_, k) => 2n ** 159n + BigInt(k));
    const der = pki.crl(pki.platformCa, serials);
    expect(der.length).to.be.above(65_535);
    expect(readCrl(der, "a list").serials).to.deep.equal(serials);
    expect(isSignedBy(der, pki.platformCa.key)).to.equal(true);
    expect(isSignedBy(der, pki.root.key)).to.equal(false);
    const read = (list: Uint8Array) => chain.reader.read.readRevocationList([bytesToHex(list), [serials.at(-1)!, 5n]]);
    const [, isListed] = await read(der);
    expect(isListed).to.deep.equal([true, false]);
    // The same length in three bytes more than it needs, in four, and without an end.
    const body = der.subarray(5);
    for (const head of ["308300ffff", `3084${der.toString("hex", 1, 5).replace("83", "00")}`, "3080"])
      expect(await refusalOf(read(Buffer.concat([Buffer.from(head, "hex"), body]))), head).to.include("MalformedDer");
  });

  it("aCertificateWithRandomDamage_isRefused_orReadAsOthersReadIt", async () => {
    const random = new Prng(23);
    const counts = { taken: 0, refused: 0 };
    const all = certificates();
    for (let round = 0; round < 160; ++round) {
      const der = Buffer.from(all[round % all.length]!);
      const at = random.below(der.length);
      // Lengths and tags are mostly near the front of a value: small changes hit them.
      der[at] = round % 2 === 0 ? random.below(256) : der[at]! ^ (1 << random.below(8));
      const read = await chain.reader.read.readCertificate([bytesToHex(der)]).catch(() => undefined);
      if (read === undefined) {
        ++counts.refused;
        continue;
      }
      ++counts.taken;
      const other = readByOthers(der);
      // Names and extensions that nothing here needs are not looked into.
      if (other === undefined) continue;
      const serial = BigInt(bytesToHex(new Uint8Array(other.serialNumber)));
      expect(read.serial, `byte ${at}`).to.equal(serial);
      const point = Buffer.from(other.subjectPublicKeyInfo.subjectPublicKey);
      expect(`${read.x}${read.y.slice(2)}`, `byte ${at}`).to.equal(bytesToHex(point.subarray(1)));
    }
    expect(counts.taken).to.be.greaterThan(20);
    expect(counts.refused).to.be.greaterThan(20);
  });

  it("aCertificate_orAList_inAnotherFormThanDer_orWithMoreThanOneOfAThing_isRefused", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const certificate = (der: Uint8Array): Promise<string> =>
      refusalOf(chain.reader.read.readCertificate([bytesToHex(der)]));
    const list = (der: Uint8Array): Promise<string> =>
      refusalOf(chain.reader.read.readRevocationList([bytesToHex(der), [1n]]));
    const behind = (der: Buffer): Buffer => Buffer.concat([der, Buffer.of(0)]);
    const nobody = sequence(oid("1.2.3.4"), octets(sequence()));
    expect(await certificate(pki.authority({ extensions: [nobody] }).der)).to.equal("accepted");
    expect(await certificate(behind(pki.authority().der))).to.include("MalformedDer(0)");
    // A length of two bytes where one is enough.
    const long = Buffer.concat([Buffer.of(0x30, 0x81, nobody.length - 2), nobody.subarray(2)]);
    expect(await certificate(pki.authority({ extensions: [long] }).der)).to.include("MalformedDer");
    // The last extension takes the identifier of the algorithm, 12 bytes, which follows what is signed.
    const beyond = Buffer.from(nobody);
    for (const length of [1, 8]) beyond[length]! += 12;
    expect(await certificate(pki.authority({ extensions: [beyond] }).der)).to.include("MalformedDer");
    const constraints = sequence(oid("2.5.29.19"), flag(), octets(sequence()));
    expect(await certificate(pki.authority({ extensions: [constraints] }).der)).to.include("ExtensionTwice");
    const machine = sequence(oid("1.2.840.113741.1.13.1"), octets(sgxExtension(PCK)));
    expect(await certificate(pki.platform(PCK, { extensions: [machine, machine] }).der)).to.include("ExtensionTwice");
    const names = ["Intel SGX PCK Platform CA", "Intel SGX TCB Signing"].map((name) => namePart("2.5.4.3", name));
    expect(await certificate(pki.authority({ name: sequence(names[0]!) }).der)).to.equal("accepted");
    expect(await certificate(pki.authority({ name: sequence(...names) }).der)).to.include("MalformedDer");
    const crl = (...extensions: Buffer[]): Buffer => pki.crl(pki.root, [1n, 2n], pki.now, pki.now + 1, extensions);
    expect(await list(crl(nobody))).to.equal("accepted");
    expect(await list(behind(crl()))).to.include("MalformedDer(0)");
    expect(await list(crl(beyond))).to.include("MalformedDer");
    // One without any extension.
    const ecdsa = sequence(oid("1.2.840.10045.4.3.2"));
    const bare = sequence(integer(1), ecdsa, pki.root.name, time(pki.now), time(pki.now + 1));
    expect(await list(sequence(bare, ecdsa, bits(sequence(integer(1), integer(1)))))).to.equal("accepted");
    // A list of changes only.
    const changes = sequence(oid("2.5.29.27"), flag(), octets(integer(1)));
    expect(await list(crl(changes))).to.include("UnknownCriticalExtension");
  });

  it("aCertificate_signedByAnotherAlgorithm_orWithASignatureInAnotherForm_isRefused", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const read = (der: Uint8Array): Promise<string> => refusalOf(chain.reader.read.readCertificate([bytesToHex(der)]));
    const { der } = pki.authority();
    // What is signed (its head has four bytes), then the algorithm (12 bytes), then the bits of the signature.
    const tbs = der.subarray(4, 8 + der.readUInt16BE(6));
    const [algorithm, rest] = [der.subarray(4 + tbs.length, 16 + tbs.length), der.subarray(16 + tbs.length)];
    const numbers = rest.subarray(5);
    const certificate = (signature: Buffer, by = algorithm, what = tbs): Promise<string> =>
      read(sequence(what, by, signature));
    expect(await certificate(bits(sequence(numbers)))).to.equal("accepted");
    const sha384 = sequence(oid("1.2.840.10045.4.3.3"));
    expect(await certificate(rest, sha384)).to.include("MalformedDer");
    const within = Buffer.from(tbs.toString("hex").replace(algorithm.toString("hex"), sha384.toString("hex")), "hex");
    expect(await certificate(rest, algorithm, within)).to.include("MalformedDer");
    for (const [what, signature] of [
      ["without bits", tlv(0x03)],
      ["with a bit left over", tlv(0x03, Buffer.of(1), sequence(numbers))],
      ["with more behind its numbers", bits(Buffer.concat([sequence(numbers), Buffer.of(0)]))],
      ["of three numbers", bits(sequence(numbers, integer(1)))],
    ] as const)
      expect(await certificate(signature), what).to.include("MalformedDer");
  });

  it("anExtension_hasAnIdentifierOf1To32Bytes_comesOnce_andHasVersionsOfOneByte", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const read = (der: Uint8Array): Promise<string> => refusalOf(chain.reader.read.readCertificate([bytesToHex(der)]));
    const named = (...content: number[]): Promise<string> =>
      read(pki.authority({ extensions: [sequence(tlv(0x06, Buffer.from(content)), octets(sequence()))] }).der);
    expect(await named(...new Array<number>(32).fill(0x55))).to.equal("accepted");
    for (const content of [[], new Array<number>(33).fill(0x55), [0, 1]])
      expect(await named(...content), String(content)).to.include("MalformedDer");
    const usage = sequence(oid("2.5.29.15"), flag(), octets(tlv(0x03, Buffer.of(6, 0xc0))));
    const constraints = sequence(oid("2.5.29.19"), flag(), octets(sequence()));
    expect(await read(pki.platform(PCK, { extensions: [usage, constraints] }).der)).to.include("ExtensionTwice");
    const machine = (pck: Partial<typeof PCK>): Promise<string> =>
      refusalOf(chain.reader.read.readPlatformCertificate([bytesToHex(pki.platform({ ...PCK, ...pck }).der)]));
    expect(await machine({ svns: [255, ...PCK.svns.slice(1)], pceSvn: 65_535 })).to.equal("accepted");
    expect(await machine({ svns: [256, ...PCK.svns.slice(1)] })).to.include("MalformedDer");
    expect(await machine({ pceSvn: 65_536 })).to.include("MalformedDer");
  });

  it("aTime_isThatOfTheCalendar_orRefused", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const read = async (der: Uint8Array): Promise<number[]> => {
      const { notBefore, notAfter } = await chain.reader.read.readCertificate([bytesToHex(der)]);
      return [Number(notBefore), Number(notAfter)];
    };
    const valid = (at: number): Buffer => pki.authority({ notBefore: at, notAfter: at }).der;
    const days = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2025, month + 1, 0)).toISOString());
    const texts = ["1970-01-01", "1999-12-31", "2000-02-29", "2049-12-31", "2050-01-01", "2100-02-28", "2400-02-29"];
    for (const text of [...texts.map((date) => `${date}T23:59:59Z`), ...days, "9999-12-31T00:00:00Z"]) {
      const seconds = Date.parse(text) / 1_000;
      expect(await read(valid(seconds)), text).to.deep.equal([seconds, seconds]);
    }
    const own = "20500101000000Z";
    const hex = valid(Date.UTC(2050) / 1_000).toString("hex");
    const withTime = (text: string): Promise<number[] | string> =>
      read(Buffer.from(hex.replace(Buffer.from(own).toString("hex"), Buffer.from(text).toString("hex")), "hex")).catch(
        String,
      );
    expect(await withTime(own)).to.be.an("array");
    for (const text of [
      ...["19691231235959Z", "20501301000000Z", "20500001000000Z", "20500100000000Z", "20500132000000Z"],
      ...["20500431000000Z", "20500631000000Z", "20500931000000Z", "20501131000000Z", "20500229000000Z"],
      ...["21000229000000Z", "20500101240000Z", "20500101006000Z", "20500101000060Z", "2050010100000:Z"],
      ...["205001010000/0Z", "2050010100000 Z"],
    ])
      expect(await withTime(text), text).to.include("BadDate");
    for (const text of ["20500101000000z", "205001010000000"])
      expect(await withTime(text), text).to.include("MalformedDer");
  });

  it("aCertificate_orAList_hasSoManyPartsAtMost_andNumbersOfOneForm", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const certificate = (der: Uint8Array): Promise<string> =>
      refusalOf(chain.reader.read.readCertificate([bytesToHex(der)]));
    const nobody = sequence(oid("1.2.3.4"), octets(sequence()));
    const many = (count: number): Buffer[] => Array.from({ length: count }, () => nobody);
    // Beside the two that say what it is, and in a list the one with its number.
    expect(await certificate(pki.authority({ extensions: many(14) }).der)).to.equal("accepted");
    expect(await certificate(pki.authority({ extensions: many(15) }).der)).to.include("MalformedDer");
    const list = (count: number): Promise<string> => {
      const der = pki.crl(pki.root, [], pki.now, pki.now + 1, many(count));
      return refusalOf(chain.reader.read.readRevocationList([bytesToHex(der), []]));
    };
    expect(await list(7)).to.equal("accepted");
    expect(await list(8)).to.include("MalformedDer");
    const named = (count: number): Buffer =>
      sequence(...Array.from({ length: count }, () => namePart("2.5.4.10", "Intel Corporation")));
    expect(await certificate(pki.authority({ name: named(10) }).der)).to.equal("accepted");
    expect(await certificate(pki.authority({ name: named(11) }).der)).to.include("MalformedDer");
    for (const serial of [0n, 1n, 127n, 128n, 2n ** 255n, 2n ** 256n - 1n])
      expect((await chain.reader.read.readCertificate([bytesToHex(pki.authority({ serial }).der)])).serial).to.equal(
        serial,
      );
    expect(await certificate(pki.authority({ serial: 2n ** 256n }).der)).to.include("MalformedDer");
    /** A certificate with other bytes in place of its first ones like that. */
    const replaced = (serial: bigint, from: string, to: string): Promise<string> => {
      const text = pki.authority({ serial }).der.toString("hex");
      expect(text).to.include(from);
      return certificate(Buffer.from(text.replace(from, to), "hex"));
    };
    expect(await replaced(127n, "a00302010202017f", "a0030201020201ff"), "negative").to.include("MalformedDer");
    expect(await replaced(128n, "0202008030", "0202007f30"), "a zero too many").to.include("MalformedDer");
    expect(await replaced(5n, "a003020102", "a003020101"), "version 2").to.include("MalformedDer");
    expect(await replaced(5n, "551d130101ff0408", "551d130101000408")).to.include("MalformedDer");
    expect(await replaced(5n, "040403020106", "040403020806"), "8 bits left over").to.include("MalformedDer");
  });

  it("aCertificateThatEndsAnywhere_isRefused", async () => {
    const { leaf } = splitQuote(realQuote());
    for (let bytes = 0; bytes < leaf.length; bytes += 61) {
      const cut = chain.reader.read.readCertificate([bytesToHex(leaf.subarray(0, bytes))]);
      expect(
        await cut.then(
          () => "taken",
          () => "refused",
        ),
        String(bytes),
      ).to.equal("refused");
    }
  });

  it("ofAPlatformsExtension_noByteMayDiffer_butValues", async () => {
    const { leaf } = splitQuote(realQuote());
    const read = async (der: Uint8Array) => {
      const [, facts] = await chain.reader.read.readPlatformCertificate([bytesToHex(der)]);
      return JSON.stringify(facts);
    };
    const original = await read(leaf);
    const text = Buffer.from(leaf).toString("hex");
    const root = "2a864886f84d010d01";
    /** Where the content of a pair's value starts. */
    const valueAt = (head: string): number => (text.indexOf(head) + head.length) / 2;
    const [first, type] = [valueAt("06092a864886f84d010d0104"), valueAt(`060a${root}050a01`)];
    const free = new Set<number>();
    const values = new Set<number>();
    const add = (set: Set<number>, from: number, bytes: number): void =>
      void Array.from({ length: bytes }, (_, k) => set.add(from + k));
    add(values, valueAt(`060a${root}010410`), 16);
    add(values, valueAt(`060a${root}030402`), 2);
    add(values, valueAt(`060a${root}040406`), 6);
    for (let k = 1; k <= 17; ++k) add(values, valueAt(`060b${root}02${k.toString(16).padStart(2, "0")}0201`), 1);
    // The versions once more, and the type, are not used.
    add(free, valueAt(`060b${root}02120410`), 16);
    free.add(type);
    // Every third byte, so that it is quick.
    for (let byte = first; byte <= type; byte += 3) {
      const der = Buffer.from(leaf);
      der[byte]! ^= 1 << (byte % 7);
      const outcome = await read(der).catch(() => "refused");
      if (free.has(byte)) expect(outcome, `byte ${byte}`).to.equal(original);
      else if (values.has(byte)) expect([original, "refused"], `byte ${byte}`).to.not.include(outcome);
      else expect(outcome, `byte ${byte}`).to.equal("refused");
    }
    // Negative integers of one byte are no versions.
    for (let k = 1; k <= 17; ++k) {
      const der = Buffer.from(leaf);
      der[valueAt(`060b${root}02${k.toString(16).padStart(2, "0")}0201`)]! |= 0x80;
      expect(await read(der).catch(() => "refused"), `version ${k}`).to.equal("refused");
    }
  });

  it("versionsOfAPlatform_areReadWhateverTheirSize_withinTheirBounds", async () => {
    const pki = new TestPki(Math.floor(Date.now() / 1_000));
    const svnsOf = async (svns: number[], pceSvn: number) => {
      const { der } = pki.platform({ ...PCK, svns, pceSvn });
      const [, facts] = await chain.reader.read.readPlatformCertificate([bytesToHex(der)]);
      return [facts.svns, facts.pceSvn];
    };
    for (const svn of [0, 127, 128, 255]) {
      const svns = Array.from({ length: 16 }, (_, k) => (k % 2 === 0 ? svn : 1));
      expect(await svnsOf(svns, svn * 257)).to.deep.equal([svnsHex(svns), svn * 257]);
    }
    const refused = async (svns: number[], pceSvn: number) =>
      expect(await svnsOf(svns, pceSvn).catch(String)).to.include("MalformedDer");
    await refused([256], 1);
    await refused(PCK.svns, 65_536);
  });
});
