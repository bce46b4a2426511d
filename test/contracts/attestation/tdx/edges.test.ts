import { expect } from "chai";
import { createHash } from "node:crypto";
import { network } from "hardhat";
import { bytesToHex, concat, getAddress, keccak256, size, slice, stringToHex, type Hex } from "viem";
import type { EnclaveIdentity, TcbInfo } from "../../../../src/chain/tdxStructs.ts";
import { certificateId } from "../../../../src/attestation/tdx/certificates.ts";
import { identityText, tcbInfoText } from "../../../../src/attestation/tdx/documents.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { end, identityOf, signDocument, svnsHex, tcbInfoOf } from "../../../../testkit/tdx/quotes.ts";
import { CA, createTdxWorld, GRACE, LATER, SIGNER, type TdxWorld } from "../../../../testkit/tdx/tdxWorld.ts";

/** What the contract's text of a document may have, bytes. */
const CAPACITY = 32_000;
const MAX_LEVELS = 40;
const PLATFORMS = 1;
const DOCUMENTS = 2;

describe("TDX: what is told, and how much is taken", () => {
  const world = useWorld(createTdxWorld);

  const emits = (sent: Promise<Hex>, name: string, args: unknown[]): Promise<void> =>
    world().viem.assertions.emitWithArgs(sent, world().verifier, name as never, args as never);
  const latest = (): Promise<number> => world().networkHelpers.time.latest();
  const sha256 = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;
  const level = { svn: 0, ...end("UpToDate") };

  it("authorities_areToldAndKept_sixThatCertifyAtMost", async () => {
    const { pki, verifier } = world();
    const { read, write } = verifier;
    expect([await read.grace(), await read.reader()]).to.deep.equal([
      BigInt(GRACE),
      getAddress(world().reader.address),
    ]);
    const known = async (number: number) => {
      const { x, y, subject, certificate, notAfter, role } = await read.authorityOf([number]);
      return { key: [x, y], subject, certificate, notAfter, role };
    };
    const end = BigInt(pki.now + 1_000);
    const expected = (of: typeof pki.signer, role: number, notAfter = end) => ({
      key: [of.key.x, of.key.y],
      subject: keccak256(of.name),
      certificate: certificateId(0, of.serial),
      notAfter,
      role,
    });
    for (let number = 2; number <= 6; ++number) {
      const next = pki.authority({ notAfter: Number(end) });
      const sent = write.bringAuthority([bytesToHex(next.der)]);
      await emits(sent, "AuthorityBrought", [number, PLATFORMS, certificateId(0, next.serial), end]);
      expect(await known(number)).to.deep.equal(expected(next, PLATFORMS));
    }
    const seventh = write.bringAuthority([bytesToHex(pki.authority().der)]);
    expect(await refusalOf(seventh)).to.include("TooManyAuthorities");
    const signer = pki.documentSigner({ notAfter: Number(end) });
    await write.bringAuthority([bytesToHex(signer.der)]);
    expect(await known(SIGNER + 1)).to.deep.equal(expected(signer, DOCUMENTS));
    expect(await read.authorityCount([PLATFORMS])).to.equal(6);
    expect(await read.authorityCount([DOCUMENTS])).to.equal(2);
  });

  it("lists_areToldAndKept_andWhatIsRevokedIsToldOnce", async () => {
    const { pki, now, verifier, networkHelpers } = world();
    await networkHelpers.time.increaseTo(now + LATER);
    const [der, next] = [pki.crl(pki.platformCa, [7n], now + 10), pki.crl(pki.platformCa, [], now + 20)];
    const bring = (list: Buffer, serials: bigint[]) => verifier.write.bringCrl([CA, bytesToHex(list), serials]);
    const dates = (thisUpdate: number) => [BigInt(thisUpdate), BigInt(thisUpdate + 30 * 86_400)] as const;
    await emits(bring(der, []), "CrlBrought", [CA, ...dates(now + 10)]);
    const [thisUpdate, nextUpdate] = dates(now + 10);
    expect(await verifier.read.crlOf([CA])).to.deep.equal({ digest: keccak256(der), thisUpdate, nextUpdate });
    const id = certificateId(CA, 7n);
    await emits(bring(der, [7n]), "Revoked", [id, CA, 7n]);
    const since = await latest();
    expect(Number(await verifier.read.revokedSince([id]))).to.equal(since);
    const logsOf = async (hash: Hex) => (await world().client.getTransactionReceipt({ hash })).logs.length;
    expect(await logsOf(await bring(der, [7n, 8n]))).to.equal(0);
    expect(Number(await verifier.read.revokedSince([id]))).to.equal(since);
    await emits(bring(next, [7n]), "Cleared", [id, CA, 7n]);
    expect(await logsOf(await bring(next, [7n]))).to.equal(0);
  });

  it("documents_areToldAndKept", async () => {
    const { now, verifier, pki } = world();
    const [info, identity] = [tcbInfoOf(now, { number: 18 }), identityOf(now, { number: 18 })];
    const signed = [info, identity].map((document) => signDocument(pki.signer, document));
    const [first, second] = signed as [{ r: Hex; s: Hex }, { r: Hex; s: Hex }];
    const facts = (kept: Hex): Hex =>
      concat([slice(world().tcbInfo, 0, 3), "0x12", slice(world().tcbInfo, 4, 10), kept]);
    const [, ofInfo] = await world().reader.read.readTcbInfo([info]);
    const [, ofIdentity] = await world().reader.read.readEnclaveIdentity([identity]);
    const bringInfo = verifier.write.bringTcbInfo([info, SIGNER, first.r, first.s]);
    await emits(bringInfo, "TcbInfoBrought", [info.fmspc, info.pceId, 18, BigInt(now), facts(ofInfo)]);
    const kept = (given: Hex, since: number) => ({
      digest: slice(keccak256(given), 0, 20),
      issued: now,
      since,
      supersededAt: 0,
    });
    const state = await verifier.read.tcbInfoOf([SIGNER, info.fmspc, info.pceId, 0]);
    expect(state).to.deep.equal([18, kept(facts(ofInfo), await latest())]);
    const bringIdentity = verifier.write.bringEnclaveIdentity([identity, SIGNER, second.r, second.s]);
    await emits(bringIdentity, "EnclaveIdentityBrought", [18, BigInt(now), facts(ofIdentity)]);
    const newest = await verifier.read.enclaveIdentityOf([SIGNER, 0]);
    expect(newest).to.deep.equal([18, kept(facts(ofIdentity), await latest())]);
    const [, before] = await verifier.read.enclaveIdentityOf([SIGNER, 17]);
    expect(before.supersededAt).to.equal((await latest()) + GRACE);
  });

  it("theTextOfADocument_isIntels_whateverItsNumbersAre", async () => {
    const { now, reader } = world();
    const ofNumber = (svn: number): TcbInfo =>
      tcbInfoOf(now, {
        number: svn * 16_843_009,
        tcbType: svn,
        fmspc: "0x0123456789ab",
        pceId: "0xcdef",
        modules: [{ version: svn, levels: [{ ...level, svn: svn * 257 }] }],
        levels: (["UpToDate", "Revoked"] as const).map((status) => ({
          svns: svnsHex(Array.from({ length: 16 }, (_, k) => (svn + k) % 256)),
          tdxSvns: svnsHex(Array.from({ length: 16 }, (_, k) => (svn + 16 + k) % 256)),
          pceSvn: svn * 257,
          ...end(status, status === "Revoked" ? ',"advisoryIDs":["A"]' : ""),
        })),
      });
    for (const svn of [0, 1, 9, 10, 99, 100, 255]) {
      const info = ofNumber(svn);
      expect((await reader.read.readTcbInfo([info]))[0], String(svn)).to.equal(sha256(tcbInfoText(info)));
      const identity = identityOf(now, { product: svn * 257, levels: [{ ...level, svn }, level] });
      expect((await reader.read.readEnclaveIdentity([identity]))[0]).to.equal(sha256(identityText(identity)));
    }
  });

  it("aDocument_ofMoreLevelsOrBytesThanThereMayBe_isRefused_andOneOfAsMuchIsTaken", async () => {
    const { now, reader } = world();
    const info = (changes: Partial<TcbInfo>): Promise<string> =>
      refusalOf(reader.read.readTcbInfo([tcbInfoOf(now, changes)]));
    const identity = (changes: Partial<EnclaveIdentity>): Promise<string> =>
      refusalOf(reader.read.readEnclaveIdentity([identityOf(now, changes)]));
    const many = <T>(one: T, count: number): T[] => Array.from({ length: count }, () => one);
    const labels = many("", 32) as unknown as TcbInfo["labels"];
    const [one] = tcbInfoOf(now).levels;
    const modules = (counts: number[]) => counts.map((count) => ({ version: 1, levels: many(level, count) }));
    for (const count of [MAX_LEVELS, MAX_LEVELS + 1]) {
      const expected = count === MAX_LEVELS ? "accepted" : `TooManyLevels(${count}, ${MAX_LEVELS})`;
      expect(await info({ labels, levels: many(one!, count) }), "levels").to.include(expected);
      expect(await info({ modules: modules([count - 20, 20]) }), "modules").to.include(expected);
      expect(await identity({ levels: many(level, count) }), "identity").to.include(expected);
    }
    // Levels above what a module can have are not kept, nor counted.
    const high = [
      {
        version: 1,
        levels: [
          { ...level, svn: 256 },
          { ...level, svn: 255 },
        ],
      },
    ];
    const [, facts] = await reader.read.readTcbInfo([tcbInfoOf(now, { modules: high, levels: [] })]);
    expect(facts).to.equal("0x0101ff00");
    const empty = tcbInfoText(tcbInfoOf(now, { labels, levels: [{ ...one!, rest: "," }] })).length;
    const longest = (more: number) => ({
      labels,
      levels: [{ ...one!, rest: `,${"z".repeat(CAPACITY - empty + more)}` }],
    });
    expect(await info(longest(0))).to.equal("accepted");
    expect(await info(longest(1))).to.include("DocumentTooLong");
    expect(size(stringToHex(tcbInfoText(tcbInfoOf(now, longest(0)))))).to.equal(CAPACITY);
  });

  it("deploy_withMoreGraceThanTwoYears_orWithoutP256_isRefused", async () => {
    const max = 730n * 86_400n;
    const { pki, reader } = world();
    const deploy = (on: Pick<TdxWorld, "viem">, grace: bigint): Promise<string> =>
      refusalOf(on.viem.deployContract("TdxQuoteVerifier", [pki.anchor, reader.address, grace]));
    expect(await deploy(world(), max)).to.equal("accepted");
    expect(await deploy(world(), max + 1n)).to.include(`GraceOutOfRange(${max + 1n}, ${max})`);
    const chain = await network.create({ override: { hardfork: "prague" } });
    try {
      expect(await deploy(chain, max)).to.include("NoP256Precompile");
    } finally {
      await chain.close();
    }
  });
});
