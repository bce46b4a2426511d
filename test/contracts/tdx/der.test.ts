import { AsnConvert } from "@peculiar/asn1-schema";
import { Certificate } from "@peculiar/asn1-x509";
import { expect } from "chai";
import { X509Certificate } from "node:crypto";
import { bytesToHex } from "viem";
import { Prng } from "../../../src/prng.ts";
import { readCertificate, readCrl } from "../../../src/provisioning/tdx/certificates.ts";
import { splitQuote } from "../../../src/provisioning/tdx/quote.ts";
import { intelRoot, realCollateral, realQuote } from "../../../testkit/tdx/realQuote.ts";
import { deployVerifier, type VerifierChain } from "../../../testkit/tdx/tdxWorld.ts";

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
      const serials = [...other.serials, 1n, 2n ** 255n];
      const [list, isListed] = await chain.reader.read.readRevocationList([`0x${text}`, serials]);
      expect(isListed).to.deep.equal(serials.map((serial) => other.serials.includes(serial)));
      expect(list.issuer).to.equal(other.issuer);
      expect(Number(list.thisUpdate)).to.equal(other.thisUpdate.getTime() / 1_000);
      expect(Number(list.nextUpdate)).to.equal(other.nextUpdate!.getTime() / 1_000);
    }
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
});
