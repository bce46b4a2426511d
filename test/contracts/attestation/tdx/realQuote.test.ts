import { expect } from "chai";
import { bytesToHex, keccak256, type Hex } from "viem";
import { readPck, readCertificate } from "../../../../src/attestation/tdx/certificates.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { flipOf, meaninglessRanges, refusalOfFlip } from "../../../../testkit/tdx/flips.ts";
import {
  LOWER_CASE,
  realCollateral,
  realEvidence,
  realQuote,
  realWorld,
  type RealWorld,
} from "../../../../testkit/tdx/realQuote.ts";
import { verified } from "../../../../testkit/tdx/tdxWorld.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";

/** The order of the P-256 group. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** Next update of the earliest document, and what is allowed beyond it. */
const DUE = Date.UTC(2025, 6, 19, 10, 0, 35) / 1_000;
const OVERDUE = 14 * 86_400;

describe("TDX: a real quote of a machine", () => {
  let world: RealWorld;
  let evidence: Hex;
  before(async () => {
    world = await realWorld();
    evidence = realEvidence(world);
  });

  it("verify_atItsTime_givesWhatTheQuoteShows", async () => {
    const facts = await verified(world, evidence);
    const quote = realQuote();
    expect(`${facts.reportHead}${facts.reportTail.slice(2)}`.slice(2)).to.equal(quote.toString("hex", 568, 632));
    expect(facts.status).to.equal(0);
    expect(facts.isOverdue).to.equal(false);
    expect(Number(facts.until)).to.equal(DUE + OVERDUE);
    expect(facts.workload).to.equal(keccak256(bytesToHex(Buffer.concat([quote.subarray(168, 568), Buffer.alloc(48)]))));
  });

  it("verify_ofAMachineWhoseTcbInfoHasItsFmspcInLowerCase_givesWhatTheQuoteShows", async () => {
    const own = await realWorld(LOWER_CASE);
    expect(realCollateral(LOWER_CASE).tcb_info).to.include('"fmspc":"20a06f000000"');
    const quote = realQuote(LOWER_CASE);
    const { reportHead, reportTail, isOverdue } = await verified(own, realEvidence(own, quote));
    expect(`${reportHead}${reportTail.slice(2)}`.slice(2)).to.equal(quote.toString("hex", 568, 632));
    expect(isOverdue).to.equal(false);
  });

  it("bringTcbInfo_ofIntels_isWithinItsBound", async () => {
    const [brought] = await world.verifier.getEvents.TcbInfoBrought({}, { fromBlock: 0n });
    const { gasUsed } = await world.client.getTransactionReceipt({ hash: brought!.transactionHash });
    expect(Number(gasUsed)).to.be.lessThan(300_000);
  });

  it("itsCertificate_isReadAlikeByALibraryOfOthers", () => {
    const { leaf } = splitQuote(realQuote());
    expect(readPck(leaf, "the leaf").fmspc).to.equal("0xb0c06f000000");
    expect(readCertificate(leaf, "the leaf").commonName).to.equal("Intel SGX PCK Certificate");
  });

  it("verify_whole_withItsCertificatesAndPadding_isTheSame", async () => {
    const { leaf } = splitQuote(realQuote());
    const { encodeEvidence } = await import("../../../../src/attestation/tdx/evidence.ts");
    const whole = encodeEvidence({
      quote: bytesToHex(realQuote()),
      tcbInfo: world.tcbInfo,
      enclave: world.enclave,
      leaf: bytesToHex(leaf),
      authority: 1,
    });
    expect(await verified(world, whole)).to.deep.equal(await verified(world, evidence));
  });

  it("verify_withTheOtherValueOfS_isTheSame", async () => {
    const quote = realQuote();
    for (const at of [636 + 32, 1154 + 32]) {
      const s = BigInt(`0x${quote.toString("hex", at, at + 32)}`);
      Buffer.from((ORDER - s).toString(16).padStart(64, "0"), "hex").copy(quote, at);
    }
    expect(await verified(world, realEvidence(world, quote))).to.deep.equal(await verified(world, evidence));
  });

  it("verify_withASingleBitFlipped_isRefused_orTheBitHasNoMeaning", async () => {
    const bits = realQuote().length * 8;
    // A sample: one bit of every 37th byte, each of the eight in turn. `npm run verify -- tdx` takes them all.
    const accepted: number[] = [];
    for (let byte = 0; byte < bits / 8; byte += 37) {
      const bit = byte * 8 + (byte % 8);
      if ((await refusalOfFlip(world, flipOf(realQuote(), bit))) === undefined) accepted.push(byte);
    }
    const ranges = meaninglessRanges(realQuote());
    const inRange = (byte: number): boolean => ranges.some(({ from, to }) => from <= byte && byte < to);
    expect(accepted.filter((byte) => !inRange(byte))).to.deep.equal([]);
  });

  it("verify_afterItsTime_isOverdueForTwoWeeks_thenRefused", async () => {
    const { networkHelpers } = world;
    const { time } = networkHelpers;
    const before = await networkHelpers.takeSnapshot();
    await time.increaseTo(DUE + 1);
    expect((await verified(world, evidence)).isOverdue).to.equal(true);
    await time.increaseTo(DUE + OVERDUE + 1);
    expect(await refusalOf(verified(world, evidence))).to.include(`CollateralExpired(${DUE + OVERDUE})`);
    await before.restore();
  });
});
