import { expect } from "chai";
import { bytesToHex, hexToNumber, slice, type Hex } from "viem";
import { certificateId } from "../../../../src/attestation/tdx/certificates.ts";
import { encodeEvidence } from "../../../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { day, identityOf, PCK, tcbInfoOf, TestPlatform } from "../../../../testkit/tdx/quotes.ts";
import {
  bringIdentity,
  bringTcbInfo,
  CA,
  createTdxWorld,
  factsOf,
  GRACE,
  introduction,
  LATER,
  SIGNER,
  verified,
} from "../../../../testkit/tdx/tdxWorld.ts";

const DAY = 86_400;
const OVERDUE = 14 * DAY;
/** The numbers that the next authority and the next signer get. */
const NEXT = CA + 1;
const NEXT_SIGNER = SIGNER + 1;

type Documents = { tcbInfo?: Hex; enclave?: Hex };

describe("TDX: how long what counts", () => {
  const world = useWorld(createTdxWorld);

  const outcome = (evidence: Hex): Promise<string> => refusalOf(verified(world(), evidence));
  const at = (seconds: number): Promise<void> => world().networkHelpers.time.increaseTo(seconds);
  const crl = (issuer: number, der: Uint8Array, serials: bigint[] = []): Promise<Hex> =>
    world().verifier.write.bringCrl([issuer, bytesToHex(der), serials]);

  /** Introduces a machine. @returns evidence of another quote of it */
  async function introduced(platform: TestPlatform, documents: Documents = {}): Promise<Hex> {
    const hash = await world().verifier.write.verify([introduction(world(), platform, {}, documents)]);
    const facts = await factsOf(world(), hash, "PlatformIntroduced");
    const { tcbInfo, enclave } = { ...world(), ...documents };
    return encodeEvidence({ quote: splitQuote(platform.quote()).signed, tcbInfo, enclave, platform: facts });
  }

  it("aKnownMachine_endsWithItsCertificate", async () => {
    const { pki, now } = world();
    const end = now + DAY;
    const evidence = await introduced(new TestPlatform(pki, PCK, pki.platform(PCK, { notAfter: end })));
    await at(end);
    expect(Number((await verified(world(), evidence)).until)).to.equal(end);
    await at(end + 1);
    expect(await outcome(evidence)).to.include(`CertificateExpired(${end})`);
  });

  it("aMachine_endsWithItsAuthority_andNeedsItsList", async () => {
    const { pki, now, verifier } = world();
    const end = now + DAY;
    const authority = pki.authority({ notAfter: end });
    await verifier.write.bringAuthority([bytesToHex(authority.der)]);
    const machine = new TestPlatform(pki, PCK, pki.platform(PCK, {}, authority));
    const evidence = introduction(world(), machine, {}, { authority: NEXT });
    expect(await outcome(evidence)).to.include(`CrlMissing(${NEXT})`);
    await crl(NEXT, pki.crl(authority, []));
    expect(Number((await verified(world(), evidence)).until)).to.equal(end);
    await at(end + 1);
    expect(await outcome(evidence)).to.include("CertificateExpired");
  });

  it("aDocument_endsWithItsSigner", async () => {
    const { pki, now, verifier } = world();
    const end = now + 10 * DAY;
    const signer = pki.documentSigner({ notAfter: end });
    await verifier.write.bringAuthority([bytesToHex(signer.der)]);
    const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(now), signer, NEXT_SIGNER);
    expect(hexToNumber(slice(tcbInfo, 5, 10))).to.equal(end);
    const evidence = introduction(world(), undefined, {}, { tcbInfo });
    await at(end);
    expect((await verified(world(), evidence)).isOverdue).to.equal(false);
    const late = bringTcbInfo(world(), tcbInfoOf(now + 10), signer, NEXT_SIGNER);
    expect(await refusalOf(late)).to.include(`CertificateExpired(${end})`);
  });

  it("aKnownMachine_endsWithItsRevocation_untilItIsCleared", async () => {
    const { pki, now, platform } = world();
    const { serial } = platform.leaf;
    const evidence = await introduced(platform);
    await at(now + LATER);
    await crl(CA, pki.crl(pki.platformCa, [serial], now + 10), [serial]);
    expect(await outcome(evidence)).to.include("CertificateRevoked");
    await crl(CA, pki.crl(pki.platformCa, [], now + 20), [serial]);
    expect(await outcome(evidence)).to.equal("accepted");
  });

  it("aKnownMachine_endsWithEachOfItsAuthorities", async () => {
    const { pki, now, verifier, platform } = world();
    const signer = pki.documentSigner();
    await verifier.write.bringAuthority([bytesToHex(signer.der)]);
    const evidence = await introduced(platform, {
      tcbInfo: await bringTcbInfo(world(), tcbInfoOf(now), signer, NEXT_SIGNER),
    });
    await at(now + LATER);
    const serials = [pki.platformCa, signer, pki.signer].map(({ serial }) => serial);
    for (const [k, serial] of serials.entries()) {
      await crl(0, pki.crl(pki.root, [serial], now + 10 + k), serials);
      expect(await outcome(evidence)).to.include(`CertificateRevoked(${certificateId(0, serial)},`);
    }
    await crl(0, pki.crl(pki.root, [], now + 20), serials);
    expect(await outcome(evidence)).to.equal("accepted");
  });

  it("whatIsDueFirst_decidesWhatIsOverdue", async () => {
    const { pki, now, networkHelpers } = world();
    const end = now + 2 * DAY;
    await at(now + LATER);
    const dates = { nextUpdate: day(end) };
    const short: Record<string, () => Promise<Documents>> = {
      rootsList: async () => {
        await crl(0, pki.crl(pki.root, [], now + 10, end));
        return {};
      },
      authoritysList: async () => {
        await crl(CA, pki.crl(pki.platformCa, [], now + 10, end));
        return {};
      },
      tcbInfo: async () => ({ tcbInfo: await bringTcbInfo(world(), tcbInfoOf(now + 10, dates)) }),
      identity: async () => ({ enclave: await bringIdentity(world(), identityOf(now + 10, dates)) }),
    };
    for (const [what, bring] of Object.entries(short)) {
      const before = await networkHelpers.takeSnapshot();
      const evidence = introduction(world(), undefined, {}, await bring());
      await at(end);
      const { isOverdue, until } = await verified(world(), evidence);
      expect([isOverdue, Number(until)], what).to.deep.equal([false, end + OVERDUE]);
      await at(end + 1);
      expect((await verified(world(), evidence)).isOverdue, what).to.equal(true);
      await before.restore();
    }
  });

  it("aNumberThatIsSuperseded_saysUntilWhenItCounts", async () => {
    const { pki, now, networkHelpers } = world();
    const bringings = [
      () => bringTcbInfo(world(), tcbInfoOf(now, { number: 18 })),
      () => bringIdentity(world(), identityOf(now, { number: 18 })),
    ];
    for (const bring of bringings) {
      const before = await networkHelpers.takeSnapshot();
      await bring();
      const since = await networkHelpers.time.latest();
      const later = since + 25 * DAY;
      await at(later);
      await crl(0, pki.crl(pki.root, [], later));
      await crl(CA, pki.crl(pki.platformCa, [], later));
      const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(later), pki.signer, SIGNER);
      const enclave = await bringIdentity(world(), identityOf(later));
      const { until } = await verified(world(), introduction(world(), undefined, {}, { tcbInfo, enclave }));
      expect(Number(until)).to.equal(since + GRACE);
      await before.restore();
    }
  });
});
