import { expect } from "chai";
import { bytesToHex, type Hex } from "viem";
import { certificateId } from "../../../../src/attestation/tdx/certificates.ts";
import {
  identityText,
  readEnclaveIdentity,
  readTcbInfo,
  tcbInfoText,
} from "../../../../src/attestation/tdx/documents.ts";
import type { TcbInfo } from "../../../../src/chain/tdxStructs.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { sequence, oid, octets, flag } from "../../../../testkit/tdx/der.ts";
import { TestPki } from "../../../../testkit/tdx/pki.ts";
import {
  day,
  identityOf,
  levelWith,
  PCK,
  signDocument,
  tcbInfoOf,
  TestPlatform,
} from "../../../../testkit/tdx/quotes.ts";
import {
  bringIdentity,
  bringTcbInfo,
  CA,
  createTdxWorld,
  GRACE,
  introduction,
  LATER,
  leafId,
  SIGNER,
  verified,
} from "../../../../testkit/tdx/tdxWorld.ts";

const DAY = 86_400;

describe("TDX: what Intel signs, brought by anybody", () => {
  const world = useWorld(createTdxWorld);

  const authority = (der: Uint8Array): Promise<string> =>
    refusalOf(world().verifier.write.bringAuthority([bytesToHex(der)]));
  const crl = (issuer: number, der: Uint8Array, serials: bigint[] = []): Promise<string> =>
    refusalOf(world().verifier.write.bringCrl([issuer, bytesToHex(der), serials]));
  const outcome = (evidence: Hex = introduction(world())): Promise<string> => refusalOf(verified(world(), evidence));
  const at = (seconds: number): Promise<void> => world().networkHelpers.time.increaseTo(seconds);

  describe("authorities", () => {
    it("bringAuthority_takesEachRole_andNothingElse", async () => {
      const { pki } = world();
      expect(await authority(pki.authority({ commonName: "Intel SGX PCK Processor CA" }).der)).to.equal("accepted");
      for (const wrong of [
        pki.authority({ commonName: "Intel SGX Root CA" }),
        pki.authority({ isAuthority: false }),
        pki.authority({ keyUsage: 0x80 }),
        pki.documentSigner({ isAuthority: true }),
        pki.documentSigner({ keyUsage: 0x06 }),
        pki.documentSigner({ commonName: "Intel SGX TCB signing" }),
      ])
        expect(await authority(wrong.der)).to.include("UnknownRole");
    });

    it("bringAuthority_ofAnotherRoot_orOutsideItsTime_orTwice_isRefused", async () => {
      const { pki, now } = world();
      expect(await authority(new TestPki(now).platformCa.der)).to.include("BadCertificate");
      const foreign = pki.issue(pki.platformCa, { commonName: "Intel SGX TCB Signing", keyUsage: 0xc0 });
      expect(await authority(foreign.der)).to.include("WrongIssuer");
      expect(await authority(pki.authority({ notBefore: now + 10 * DAY }).der)).to.include("NotYetValid");
      expect(await authority(pki.authority({ notAfter: now - 1 }).der)).to.include("CertificateExpired");
      expect(await authority(pki.platformCa.der)).to.include("AuthorityKnown(1)");
    });

    it("bringAuthority_withAnExtensionThatIsCriticalAndUnknown_orTwice_isRefused", async () => {
      const { pki } = world();
      const unknown = sequence(oid("2.5.29.36"), flag(), octets(sequence()));
      expect(await authority(pki.authority({ extensions: [unknown] }).der)).to.include("UnknownCriticalExtension");
      const again = sequence(oid("2.5.29.15"), flag(), octets(Buffer.of(3, 2, 0, 6)));
      expect(await authority(pki.authority({ extensions: [again] }).der)).to.include("ExtensionTwice");
    });

    it("aRenewedCertificate_keepsItsNumber_andWithItRevocations", async () => {
      const { pki, now, platform, verifier } = world();
      await at(now + LATER);
      const { serial } = platform.leaf;
      const list = bytesToHex(pki.crl(pki.platformCa, [serial], now + 30));
      await verifier.write.bringCrl([CA, list, [serial]]);
      const { key } = pki.platformCa;
      const end = (await verifier.read.authorityOf([CA])).notAfter;
      const renewed = pki.authority({ key, notAfter: Number(end) + DAY });
      expect(await authority(renewed.der)).to.equal("accepted");
      expect(await verifier.read.authorityCount([1])).to.equal(1);
      expect(await verifier.read.authorityOf([CA])).to.include({
        certificate: certificateId(0, renewed.serial),
        notAfter: end + BigInt(DAY),
      });
      // The list that names the machine is of the number still.
      expect(await outcome()).to.include("CertificateRevoked");
      expect(await refusalOf(verifier.write.bringCrl([2, list, []]))).to.include("NoSuchAuthority");
      // What ends earlier, or as early, does not come back.
      for (const old of [pki.platformCa, pki.authority({ key, notAfter: Number(end) + DAY })])
        expect(await authority(old.der)).to.include(`AuthorityKnown(${CA})`);
      // Another key, or another name, is another authority.
      expect(await authority(pki.authority().der)).to.equal("accepted");
      expect(await authority(pki.authority({ key, commonName: "Intel SGX PCK Processor CA" }).der)).to.equal(
        "accepted",
      );
      expect(await verifier.read.authorityCount([1])).to.equal(3);
    });

    it("aRevokedCertificateOfAKey_isReplacedByAnyOtherOfTheKey", async () => {
      const { pki, now, verifier } = world();
      await at(now + LATER);
      const { key, serial } = pki.platformCa;
      const shorter = pki.authority({ key, notAfter: now + 5 * DAY });
      expect(await authority(shorter.der)).to.include(`AuthorityKnown(${CA})`);
      await verifier.write.bringCrl([0, bytesToHex(pki.crl(pki.root, [serial], now + 10)), [serial]]);
      expect(await outcome()).to.include("CertificateRevoked");
      expect(await authority(shorter.der)).to.equal("accepted");
      expect(await outcome()).to.equal("accepted");
      expect(await authority(pki.platformCa.der)).to.include("CertificateRevoked");
    });

    it("aRenewedSigner_bringsNoOlderDocumentBack", async () => {
      const { pki, now, verifier } = world();
      await at(now + LATER);
      await bringTcbInfo(world(), tcbInfoOf(now + 50, { levels: levelWith("OutOfDate") }));
      const { key } = pki.signer;
      const renewed = pki.documentSigner({ key, notAfter: now + 10 * 365 * DAY });
      expect(await authority(renewed.der)).to.equal("accepted");
      const old = tcbInfoOf(now);
      expect(await refusalOf(bringTcbInfo(world(), old, renewed))).to.include("DocumentNotNewer");
      expect(await refusalOf(bringTcbInfo(world(), old, renewed, SIGNER + 1))).to.include("NoSuchAuthority");
      expect(await verifier.read.authorityCount([2])).to.equal(1);
    });

    it("signersOfDocuments_useNoNumbersOfIssuersUp", async () => {
      const now = await world().networkHelpers.time.latest();
      const pki = new TestPki(now);
      const { reader, viem } = world();
      const verifier = await viem.deployContract("TdxQuoteVerifier", [pki.anchor, reader.address, BigInt(GRACE)]);
      const bring = (der: Uint8Array) => verifier.write.bringAuthority([bytesToHex(der)]);
      for (let k = 0; k < 8; k++) await bring(pki.documentSigner().der);
      await bring(pki.platformCa.der);
      expect((await verifier.read.authorityOf([CA])).certificate).to.equal(certificateId(0, pki.platformCa.serial));
      await verifier.write.bringCrl([CA, bytesToHex(pki.crl(pki.platformCa, [])), []]);
    });

    it("aPlatformsCertificate_byWhoeverMayNotCertifyPlatforms_isRefused", async () => {
      const { pki, platform } = world();
      const bySigner = new TestPlatform(pki, platform.pck, pki.platform(platform.pck, {}, pki.signer));
      expect(await outcome(introduction(world(), bySigner))).to.include("WrongIssuer");
      expect(await outcome(introduction(world(), bySigner, {}, { authority: SIGNER }))).to.include("NoSuchAuthority");
      // A platform's key signs no certificates, whatever its name is.
      const byLeaf = pki.platform(platform.pck, {}, { key: platform.leaf.key, name: pki.platformCa.name });
      expect(await outcome(introduction(world(), new TestPlatform(pki, platform.pck, byLeaf)))).to.include(
        "BadCertificate",
      );
      const asAuthority = pki.platform(platform.pck, { isAuthority: true });
      expect(await outcome(introduction(world(), new TestPlatform(pki, platform.pck, asAuthority)))).to.include(
        "UnknownRole",
      );
      const named = pki.platform(platform.pck, { commonName: "Intel SGX PCK Platform CA" });
      expect(await outcome(introduction(world(), new TestPlatform(pki, platform.pck, named)))).to.include(
        "UnknownRole",
      );
      const early = pki.platform(platform.pck, { notBefore: world().now + DAY });
      expect(await outcome(introduction(world(), new TestPlatform(pki, platform.pck, early)))).to.include(
        "NotYetValid",
      );
      const old = pki.platform(platform.pck, { notAfter: world().now - 5 });
      expect(await outcome(introduction(world(), new TestPlatform(pki, platform.pck, old)))).to.include(
        "CertificateExpired",
      );
      const bare = pki.platform(platform.pck, { extensions: [] });
      expect(await outcome(introduction(world(), platform, {}, { leaf: bytesToHex(bare.der) }))).to.include(
        "NoSgxExtension",
      );
    });
  });

  describe("revocation lists", () => {
    it("aRevokedPlatform_isRefused_andCleared_byTheNewestList", async () => {
      const { pki, now, platform } = world();
      const { serial } = platform.leaf;
      await at(now + LATER);
      const list = pki.crl(pki.platformCa, [1n, serial, 3n], now + 30);
      expect(await crl(CA, list, [serial, 2n])).to.equal("accepted");
      expect(await outcome()).to.include("CertificateRevoked");
      expect(Number(await world().verifier.read.revokedSince([leafId(platform.leaf)]))).to.be.greaterThan(0);
      expect(await world().verifier.read.revokedSince([certificateId(CA, 2n)])).to.equal(0n);
      const later = pki.crl(pki.platformCa, [1n], now + 40);
      expect(await crl(CA, later, [serial])).to.equal("accepted");
      expect(await outcome()).to.equal("accepted");
    });

    it("anOlderList_orOneOfTheSameTime_neverComesBack", async () => {
      const { pki, now, platform } = world();
      const { serial } = platform.leaf;
      await at(now + LATER);
      const [older, newer] = [pki.crl(pki.platformCa, [], now + 10), pki.crl(pki.platformCa, [serial], now + 20)];
      expect(await crl(CA, newer)).to.equal("accepted");
      // What is not looked up yet is looked up in the same list, by anybody.
      expect(await crl(CA, newer, [serial])).to.equal("accepted");
      expect(await crl(CA, older, [serial])).to.include("CrlNotNewer");
      expect(await crl(CA, pki.crl(pki.platformCa, [7n], now + 20), [serial])).to.include("CrlNotNewer");
      expect(await outcome()).to.include("CertificateRevoked");
      expect(await crl(CA, pki.crl(pki.platformCa, [], now + DAY))).to.include("FromTheFuture");
    });

    it("aList_isTakenFromItsVerySecond", async () => {
      const { pki, now, networkHelpers } = world();
      const second = now + LATER;
      await networkHelpers.time.setNextBlockTimestamp(second);
      expect(await crl(CA, pki.crl(pki.platformCa, [], second + 1))).to.include(`FromTheFuture(${second + 1})`);
      await networkHelpers.time.setNextBlockTimestamp(second);
      expect(await crl(CA, pki.crl(pki.platformCa, [], second))).to.equal("accepted");
    });

    it("aDocument_isTakenUpToItsVeryLastSecond", async () => {
      const { now, networkHelpers } = world();
      const last = now + 44 * DAY;
      const bring = async (at: number): Promise<string> => {
        await networkHelpers.time.setNextBlockTimestamp(at);
        return refusalOf(bringTcbInfo(world(), tcbInfoOf(now, { number: 18 })));
      };
      expect(await bring(last + 1)).to.include(`CollateralExpired(${last})`);
      expect(await bring(last)).to.equal("accepted");
    });

    it("aListOfAnotherIssuer_isRefused", async () => {
      const { pki, now } = world();
      await at(now + LATER);
      expect(await crl(CA, pki.crl(pki.root, [], now + 10))).to.include("WrongIssuer");
      expect(await crl(CA, pki.crl({ ...pki.root, name: pki.platformCa.name }, [], now + 10))).to.include("BadCrl");
      expect(await crl(SIGNER, pki.crl(pki.signer, [], now + 10))).to.include("NoSuchAuthority");
      expect(await crl(9, pki.crl(pki.signer, [], now + 10))).to.include("NoSuchAuthority");
    });

    it("aRevokedAuthority_endsItsPlatforms_andARevokedSigner_itsDocuments", async () => {
      const { pki, now } = world();
      await at(now + LATER);
      expect(await crl(0, pki.crl(pki.root, [pki.platformCa.serial], now + 10), [pki.platformCa.serial])).to.equal(
        "accepted",
      );
      expect(await outcome()).to.include("CertificateRevoked");
      const both = [pki.platformCa.serial, pki.signer.serial];
      expect(await crl(0, pki.crl(pki.root, [pki.signer.serial], now + 20), both)).to.equal("accepted");
      expect(await outcome()).to.include("CertificateRevoked");
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now + 30)))).to.include("CertificateRevoked");
      expect(await crl(0, pki.crl(pki.root, [], now + 30), both)).to.equal("accepted");
      expect(await outcome()).to.equal("accepted");
    });

    it("aRevokedCertificate_isNotTakenAsAnAuthority", async () => {
      const { pki, now } = world();
      const next = pki.authority();
      await at(now + LATER);
      expect(await crl(0, pki.crl(pki.root, [next.serial], now + 10), [next.serial])).to.equal("accepted");
      expect(await authority(next.der)).to.include("CertificateRevoked");
    });
  });

  describe("documents", () => {
    it("aDocument_thatIsNotWhatWasSigned_isRefused", async () => {
      const { pki, now, verifier } = world();
      const info = tcbInfoOf(now, { number: 18 });
      const { r, s } = signDocument(pki.signer, info);
      const bring = (given: typeof info, by = SIGNER): Promise<string> =>
        refusalOf(verifier.write.bringTcbInfo([given, by, r, s]));
      const [first] = info.levels;
      for (const other of [
        { ...info, number: 19 },
        { ...info, fmspc: "0x50806f000001" as Hex },
        { ...info, levels: [first!] },
        { ...info, levels: [{ ...first!, pceSvn: 12 }, info.levels[1]!] },
        { ...info, levels: [first!, { ...info.levels[1]!, status: 0 }] },
        { ...info, modules: [info.modules[1]!] },
      ])
        expect(await bring(other)).to.include("BadDocument");
      expect(await bring(info, CA)).to.include("NoSuchAuthority");
      expect(await bring(info)).to.equal("accepted");
    });

    it("aDocument_isReadInOneWayOnly_whateverItsFreePartsAre", async () => {
      const { verifier, now } = world();
      const info = tcbInfoOf(now, { number: 18 });
      const bring = (given: typeof info): Promise<string> =>
        refusalOf(verifier.write.bringTcbInfo([given, SIGNER, `0x${"11".repeat(32)}`, `0x${"11".repeat(32)}`]));
      // A label that would finish the number before it, or the object that it is in.
      const withLabel = (label: string) => ({
        ...info,
        labels: info.labels.map((own, k) => (k === 0 ? label : own)) as unknown as typeof info.labels,
      });
      for (const label of ["5", '5,"category":"BIOS"', ',"a":1},{"svn":9', ',"a":{}']) {
        expect(await bring(withLabel(label)), label).to.include("WrongFreePart");
        const rest = { ...info, levels: [{ ...info.levels[0]!, rest: label }] };
        expect(await bring(rest), label).to.include("WrongFreePart");
      }
      // Braces at any place of a word, and what is nearly one.
      for (const place of [1, 30, 31, 32, 33, 62, 63, 64, 69]) {
        const filled = (character: string): string => `,${"z".repeat(place - 1)}${character}${"|~y".repeat(5)}`;
        for (const brace of "{}") {
          expect(await bring(withLabel(filled(brace))), `${brace} at ${place}`).to.include("WrongFreePart");
          const last = { ...info, levels: [{ ...info.levels[0]!, rest: filled(brace).slice(0, place + 1) }] };
          expect(await bring(last), `${brace} as the last, at ${place}`).to.include("WrongFreePart");
        }
        expect(await bring(withLabel(filled("|"))), `none at ${place}`).to.include("BadDocument");
      }
    });

    it("aDocument_isTakenWithItsDigitsInEitherCase_andWithNoOtherLetters", async () => {
      const { now, verifier, pki } = world();
      const info = tcbInfoOf(now, { number: 18, fmspc: "0xabcdef0a1b2c", pceId: "0x00f0" });
      const upper = tcbInfoText(info);
      /** The document as a file has it, with some places in lower case. */
      const written = (pattern: RegExp): TcbInfo => {
        const lowerCase = [...upper.matchAll(pattern)].flatMap(({ index, 0: text }) =>
          [...text].flatMap((letter, k) => (/[A-F]/.test(letter) ? [index + k] : [])),
        );
        return { ...info, lowerCase };
      };
      const all = written(/"ABCDEF0A1B2C"|"00F0"|"F{16}"/g);
      expect(all.lowerCase.length).to.equal(9 + 1 + 3 * 16);
      for (const document of [info, written(/"ABC/g), written(/"00F0"/g), all]) {
        const text = tcbInfoText(document);
        const { r, s } = signDocument(pki.signer, document);
        const read = readTcbInfo(text);
        expect(read.lowerCase).to.deep.equal(document.lowerCase);
        const result = verifier.simulate.bringTcbInfo([read, SIGNER, r, s]);
        expect(await refusalOf(result), text.slice(0, 150)).to.equal("accepted");
        // The places are of this text only.
        if (document !== info)
          expect(await refusalOf(verifier.simulate.bringTcbInfo([info, SIGNER, r, s]))).to.include("BadDocument");
      }
      const { r, s } = signDocument(pki.signer, info);
      const refused = (place: number): Promise<string> =>
        refusalOf(verifier.simulate.bringTcbInfo([{ ...info, lowerCase: [place] }, SIGNER, r, s]));
      const a = upper.indexOf('"ABC') + 1;
      for (const place of [0, a - 1, a + 6, upper.indexOf("TDX"), upper.indexOf("pceId") + 3, upper.length, 65_535])
        expect(await refused(place), String(place)).to.include(`WrongLetter(${place})`);
      expect(await refused(a)).to.include("BadDocument");
      const twice = { ...info, lowerCase: [a, a] };
      expect(await refusalOf(verifier.simulate.bringTcbInfo([twice, SIGNER, r, s]))).to.include("WrongLetter");
      const identity = identityOf(now, { number: 18 });
      const text = identityText(identity);
      const lowerCase = [...text].flatMap((letter, k) => (/[A-F]/.test(letter) && k > 180 && k < 380 ? [k] : []));
      const lower = { ...identity, lowerCase };
      const signed = signDocument(pki.signer, lower);
      const read = readEnclaveIdentity(identityText(lower));
      expect(read.lowerCase).to.deep.equal(lowerCase);
      await verifier.write.bringEnclaveIdentity([read, SIGNER, signed.r, signed.s]);
    });

    it("anOlderDocumentOfANumber_neverComesBack", async () => {
      const { now } = world();
      await at(now + LATER);
      const old = world().tcbInfo;
      const levels = levelWith("OutOfDate");
      const next = await bringTcbInfo(world(), tcbInfoOf(now + 50, { levels }));
      expect(await outcome(introduction(world(), undefined, {}, { tcbInfo: old }))).to.include("UnknownDocument(17)");
      expect((await verified(world(), introduction(world(), undefined, {}, { tcbInfo: next }))).status).to.equal(4);
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now)))).to.include("DocumentNotNewer");
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now + 50)))).to.include("DocumentNotNewer");
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now + DAY)))).to.include("FromTheFuture");
    });

    it("aHigherNumber_bindsAfterTheGrace_whoeverBroughtIt", async () => {
      const { now } = world();
      // A competitor brings the newest number at once: nobody is shut out before the grace is over.
      await bringTcbInfo(world(), tcbInfoOf(now, { number: 19 }));
      const since = await world().networkHelpers.time.latest();
      const { until } = await verified(world(), introduction(world()));
      expect(Number(until)).to.be.at.most(since + GRACE);
      await at(since + 25 * DAY);
      const later = world().pki.crl(world().pki.platformCa, [], since + 25 * DAY);
      expect(await crl(CA, later)).to.equal("accepted");
      expect(await crl(0, world().pki.crl(world().pki.root, [], since + 25 * DAY))).to.equal("accepted");
      const fresh = { tcbInfo: await bringTcbInfo(world(), tcbInfoOf(since + 25 * DAY)) };
      const enclave = await bringIdentity(world(), identityOf(since + 25 * DAY));
      expect(await outcome(introduction(world(), undefined, {}, { ...fresh, enclave }))).to.equal("accepted");
      await at(since + GRACE);
      expect(await outcome(introduction(world(), undefined, {}, { ...fresh, enclave }))).to.include(
        "NumberSuperseded(17",
      );
    });

    it("aLowerNumber_broughtLate_endsWithTheNextHigherOne", async () => {
      const { now, verifier } = world();
      await bringTcbInfo(world(), tcbInfoOf(now, { number: 20 }));
      const since = await world().networkHelpers.time.latest();
      await at(since + 10 * DAY);
      await bringTcbInfo(world(), tcbInfoOf(now, { number: 18 }));
      const { fmspc, pceId } = tcbInfoOf(now);
      const [, state] = await verifier.read.tcbInfoOf([SIGNER, fmspc, pceId, 18]);
      expect(state.supersededAt).to.equal(since + GRACE);
      const [newest] = await verifier.read.tcbInfoOf([SIGNER, fmspc, pceId, 0]);
      expect(newest).to.equal(20);
      await bringTcbInfo(world(), tcbInfoOf(now, { number: 60 }));
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now, { number: 27 })))).to.include("NumberTooLow(60, 27)");
      await bringTcbInfo(world(), tcbInfoOf(now, { number: 28 }));
    });

    it("anOutage_isBridgedForTwoWeeks_andEndsWithTheNextDocument", async () => {
      const { now, pki } = world();
      const due = now + 30 * DAY;
      expect((await verified(world(), introduction(world()))).isOverdue).to.equal(false);
      await at(due + 8 * DAY);
      expect((await verified(world(), introduction(world()))).isOverdue).to.equal(true);
      await at(due + 14 * DAY + 1);
      expect(await outcome()).to.include("CollateralExpired");
      const later = due + 14 * DAY;
      expect(await crl(0, pki.crl(pki.root, [], later))).to.equal("accepted");
      expect(await crl(CA, pki.crl(pki.platformCa, [], later))).to.equal("accepted");
      const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(later));
      const enclave = await bringIdentity(world(), identityOf(later));
      expect((await verified(world(), introduction(world(), undefined, {}, { tcbInfo, enclave }))).isOverdue).to.equal(
        false,
      );
      expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now, { number: 18 })))).to.include("CollateralExpired");
    });

    it("aPlatform_isJudgedByTheDocumentsOfItsOwnKind", async () => {
      const { now } = world();
      const other = await bringTcbInfo(
        world(),
        tcbInfoOf(now, { fmspc: "0x90806f000000", levels: levelWith("UpToDate") }),
      );
      expect(await outcome(introduction(world(), undefined, {}, { tcbInfo: other }))).to.include("UnknownDocument(17)");
      const pceId = "0x0100";
      const ofPce = await bringTcbInfo(world(), tcbInfoOf(now - 5, { pceId }));
      expect(await outcome(introduction(world(), undefined, {}, { tcbInfo: ofPce }))).to.include("UnknownDocument(17)");
      const own = new TestPlatform(world().pki, { ...PCK, pceId });
      expect(await outcome(introduction(world(), own, {}, { tcbInfo: ofPce }))).to.equal("accepted");
      const { tcbInfo, enclave } = world();
      expect(await outcome(introduction(world(), undefined, {}, { tcbInfo: enclave }))).to.include("UnknownDocument");
      expect(await outcome(introduction(world(), undefined, {}, { enclave: tcbInfo }))).to.include("UnknownDocument");
      expect(await outcome(introduction(world(), undefined, {}, { tcbInfo: "0x" }))).to.include("UnknownDocument");
    });

    it("aDateThatIsNone_isRefused", async () => {
      const { now } = world();
      for (const text of [
        "2025-02-29T00:00:00Z",
        "2025-13-01T00:00:00Z",
        "2025-01-01 00:00:00Z",
        "2025-01-01T24:00:00Z",
      ]) {
        const issueDate: Hex = `0x${Buffer.from(text).toString("hex")}`;
        expect(await refusalOf(bringTcbInfo(world(), tcbInfoOf(now, { number: 18, issueDate }))), text).to.include(
          "BadDate",
        );
      }
      expect(day(now).length).to.equal(42);
    });
  });
});
