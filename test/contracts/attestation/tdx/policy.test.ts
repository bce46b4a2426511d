import { expect } from "chai";
import { bytesToHex, pad, toHex, type Hex } from "viem";
import { STATUSES, type PlatformStatus } from "../../../../src/attestation/tdx/documents.ts";
import { encodeEvidence } from "../../../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import {
  end,
  identityOf,
  levelWith,
  PCK,
  svnsHex,
  tcbInfoOf,
  TDX_SVNS,
  TestPlatform,
  type QuoteFields,
} from "../../../../testkit/tdx/quotes.ts";
import {
  bringIdentity,
  bringTcbInfo,
  createTdxWorld,
  introduction,
  verified,
} from "../../../../testkit/tdx/tdxWorld.ts";

describe("TDX: what a quote must show", () => {
  const world = useWorld(createTdxWorld);

  const refusal = (fields: QuoteFields, platform?: TestPlatform): Promise<string> =>
    refusalOf(verified(world(), introduction(world(), platform, fields)));
  const status = async (
    fields: QuoteFields,
    documents: { tcbInfo?: Hex; enclave?: Hex } = {},
  ): Promise<PlatformStatus> =>
    STATUSES[(await verified(world(), introduction(world(), undefined, fields, documents))).status]!;

  it("verify_ofAllVersionsAndBodies_isTaken", async () => {
    for (const fields of [{ version: 4 }, { version: 5 }, { version: 5, body: "1.5" }] as QuoteFields[]) {
      expect(await status(fields)).to.equal("UpToDate");
      expect(await status({ ...fields, padding: 70 })).to.equal("UpToDate");
    }
  });

  it("verify_ofOneWorkload_isTheSameHash_inEveryVersion_unlessAServiceDomainIsBound", async () => {
    const workload = async (fields: QuoteFields) =>
      (await verified(world(), introduction(world(), undefined, fields))).workload;
    const four = await workload({});
    expect(await workload({ version: 5 })).to.equal(four);
    expect(await workload({ version: 5, body: "1.5" })).to.equal(four);
    expect(await workload({ version: 5, body: "1.5", changes: { 600: "0x01" } })).to.not.equal(four);
    for (const offset of [128, 136, 184, 232, 280, 328, 376, 424, 472, 519])
      expect(await workload({ changes: { [offset]: "0x77" } }), String(offset)).to.not.equal(four);
  });

  it("verify_ofAnotherHeader_isRefusedByName", async () => {
    expect(await refusal({ headerChanges: { 12: "0x00" } })).to.include("UnknownEnclaveVendor");
    const withHeader = (offset: number, byte: string, fields: QuoteFields = {}): Promise<string> => {
      const { certified, leaf } = splitQuote(world().platform.quote(fields));
      const quote: Hex = `0x${certified.slice(2, 2 + 2 * offset)}${byte}${certified.slice(4 + 2 * offset)}`;
      const { tcbInfo, enclave } = world();
      return refusalOf(
        verified(world(), encodeEvidence({ quote, tcbInfo, enclave, leaf: bytesToHex(leaf), authority: 1 })),
      );
    };
    expect(await withHeader(0, "03")).to.include("UnknownQuoteVersion(3)");
    expect(await withHeader(2, "03")).to.include("UnknownKeyType(3)");
    expect(await withHeader(4, "00")).to.include("NotTdx(0)");
    expect(await withHeader(0, "05")).to.include("UnknownBody");
    // Each type of body has its size.
    expect(await withHeader(48, "02", { version: 5, body: "1.5" })).to.include("UnknownBody(2, 648)");
    expect(await withHeader(48, "03", { version: 5 })).to.include("UnknownBody(3, 584)");
    // The lengths of the signature's data and of what certifies it must fit each other.
    for (const highByte of [635, 769, 1_257]) expect(await withHeader(highByte, "01")).to.include("WrongLength");
    expect(await withHeader(764, "05")).to.include("UnknownCertification(5)");
  });

  it("verify_ofAQuoteThatEndsAnywhere_isRefused", async () => {
    const { certified, leaf } = splitQuote(world().platform.quote());
    const { tcbInfo, enclave } = world();
    for (const bytes of [0, 1, 47, 53, 54, 600, 631, 699, 767, 1000, 1219, 1257]) {
      const quote = certified.slice(0, 2 + 2 * bytes) as Hex;
      const evidence = encodeEvidence({ quote, tcbInfo, enclave, leaf: bytesToHex(leaf), authority: 1 });
      expect(await refusalOf(verified(world(), evidence)), String(bytes)).to.include("QuoteTooShort");
    }
  });

  it("verify_ofADomainUnderDebug_orWithReservedBits_isRefused", async () => {
    for (let bit = 0; bit < 8; ++bit)
      expect(await refusal({ changes: { 120: `0x${(1 << bit).toString(16).padStart(2, "0")}` } })).to.include(
        "DebuggableDomain",
      );
    // Key locker, protection keys, migration, LASS and performance counters are defined.
    const defined: Record<number, number> = { 122: 0x01, 123: 0xf8, 127: 0xc0 };
    for (let bit = 8; bit < 64; ++bit) {
      const [offset, mask] = [120 + (bit >> 3), 1 << (bit & 7)];
      if (((defined[offset] ?? 0) & mask) !== 0) continue;
      const byte = toHex(mask, { size: 1 });
      expect(await refusal({ changes: { [offset]: byte } }), `bit ${bit}`).to.include("ReservedAttributes");
    }
    for (const [offset, byte] of [
      [122, "0x01"],
      [123, "0xf8"],
      [127, "0xc0"],
    ] as [number, Hex][])
      expect(await status({ changes: { [offset]: byte } })).to.equal("UpToDate");
  });

  it("verify_ofAModuleThatIsNotIntels_isRefused", async () => {
    for (const offset of [64, 95, 96, 111])
      expect(await refusal({ changes: { [offset]: "0x01" } })).to.include("WrongModuleSigner");
    for (const offset of [112, 119])
      expect(await refusal({ changes: { [offset]: "0x01" } })).to.include("WrongModuleAttributes");
  });

  it("verify_judgesTheModuleByItsOwnIdentity_andByItsVersion", async () => {
    const [, , ...rest] = TDX_SVNS as [number, number, ...number[]];
    expect(await status({ svns: [3, 3, ...rest] })).to.equal("UpToDate");
    expect(await status({ svns: [2, 1, ...rest] })).to.equal("OutOfDate");
    expect(await refusal({ svns: [1, 1, ...rest] })).to.include("ModuleTooOld(1, 1)");
    expect(await refusal({ svns: [9, 2, ...rest] })).to.include("ModuleUnknown(2)");
    // Of version 0 the level of the platform says all.
    expect(await status({ svns: [5, 0, ...rest] })).to.equal("UpToDate");
    expect(await refusal({ svns: [4, 0, ...rest] })).to.include("NoTcbLevel");
  });

  it("verify_ofADomainOnAModuleThatWasReplaced_countsBothModules", async () => {
    const fresh = { version: 5, body: "1.5" } as const;
    const [, , ...rest] = TDX_SVNS as [number, number, ...number[]];
    expect(await status({ ...fresh, currentSvns: [6, 1, ...rest] })).to.equal("UpToDate");
    expect(await status({ ...fresh, svns: [2, 1, ...rest], currentSvns: [6, 1, ...rest] })).to.equal("OutOfDate");
    expect(await status({ ...fresh, currentSvns: [2, 1, ...rest] })).to.equal("OutOfDate");
  });

  it("verify_takesTheFirstLevelThatNoComponentIsBelow", async () => {
    const platform = (changes: Partial<typeof PCK>) => new TestPlatform(world().pki, { ...PCK, ...changes });
    const of = async (p: TestPlatform) => STATUSES[(await verified(world(), introduction(world(), p))).status];
    for (let k = 0; k < 16; ++k) {
      const svns = PCK.svns.map((svn, j) => (j === k ? svn + 1 : svn));
      expect(await of(platform({ svns })), `above in ${k}`).to.equal("UpToDate");
      if (PCK.svns[k] === 0 || k === 0) continue;
      const below = PCK.svns.map((svn, j) => (j === k ? svn - 1 : svn));
      expect(await refusal({}, platform({ svns: below })), `below in ${k}`).to.include("NoTcbLevel");
    }
    expect(await of(platform({ svns: [4, ...PCK.svns.slice(1)] }))).to.equal("OutOfDate");
    expect(await refusal({}, platform({ pceSvn: 12 }))).to.include("NoTcbLevel");
    expect(await refusal({ svns: [5, 1, 3] })).to.include("NoTcbLevel");
    // Also of the last components, which are 0 here, the least difference counts.
    for (const k of [14, 15]) {
      const tdxSvns = svnsHex(TDX_SVNS.map((_, j) => Number(j === k)));
      const levels = levelWith("UpToDate").map((level) => ({ ...level, tdxSvns }));
      const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(world().now, { number: 18 + k, levels }));
      const evidence = introduction(world(), undefined, {}, { tcbInfo });
      expect(await refusalOf(verified(world(), evidence)), `below in ${k}`).to.include("NoTcbLevel");
    }
  });

  it("verify_givesEachStatus_ofThePlatform_theModule_andTheEnclave_theWorseOne", async () => {
    const { now } = world();
    const modules = (state: PlatformStatus) => [{ version: 1, levels: [{ svn: 0, ...end(state) }] }];
    for (const [k, state] of STATUSES.entries()) {
      const number = 30 + k;
      const levels = levelWith(state);
      const info = await bringTcbInfo(world(), tcbInfoOf(now, { number, levels, modules: modules("UpToDate") }));
      const module = await bringTcbInfo(
        world(),
        tcbInfoOf(now, { number: number + 20, levels: levelWith("UpToDate"), modules: modules(state) }),
      );
      const enclave = await bringIdentity(world(), identityOf(now, { number, levels: [{ svn: 6, ...end(state) }] }));
      expect(await status({}, { tcbInfo: info }), "platform").to.equal(state);
      expect(await status({}, { tcbInfo: module }), "module").to.equal(state);
      expect(await status({}, { enclave }), "enclave").to.equal(state);
    }
  });

  it("verify_ofAnotherEnclave_isRefused", async () => {
    const wrong: [number, Hex][] = [
      [128, "0x00"],
      [256, "0x03"],
      [48, "0x13"],
      [16, "0x01"],
    ];
    for (const [offset, bytes] of wrong)
      expect(await refusal({ enclaveChanges: { [offset]: bytes } }), String(offset)).to.include("WrongEnclave");
    expect(await refusal({ enclaveChanges: { 258: "0x0300" } })).to.include("EnclaveTooOld(3)");
    // What the masks leave out may differ: the features of the processor, and one flag.
    expect(await status({ enclaveChanges: { 48: "0x15", 56: "0xe7" } })).to.equal("UpToDate");
  });

  it("verify_ofAnEnclaveThatDoesNotNameTheKey_isRefused", async () => {
    for (const half of [320, 352])
      expect(await refusal({ enclaveChanges: { [half]: pad("0x01", { size: 32 }) } })).to.include(
        "WrongAttestationKey",
      );
  });
});
