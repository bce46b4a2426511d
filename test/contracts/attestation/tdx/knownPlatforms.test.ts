import { expect } from "chai";
import { size, slice, type Hex } from "viem";
import { encodeEvidence } from "../../../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { identityOf, TestPlatform } from "../../../../testkit/tdx/quotes.ts";
import { bringIdentity, createTdxWorld, factsOf, introduction, verified } from "../../../../testkit/tdx/tdxWorld.ts";

describe("TDX: platforms that are known", () => {
  const world = useWorld(createTdxWorld);
  const outcome = (evidence: Hex): Promise<string> => refusalOf(verified(world(), evidence));

  it("verify_ofAKnownPlatform_needsTheQuoteUpToItsSignature", async () => {
    const hash = await world().verifier.write.verify([introduction(world())]);
    const platform = await factsOf(world(), hash, "PlatformIntroduced");
    expect(await world().verifier.read.isIntroduced([platform])).to.equal(true);
    const { tcbInfo, enclave } = world();
    const short = (quote: Hex, facts = platform): Hex => encodeEvidence({ quote, tcbInfo, enclave, platform: facts });
    const { signed } = splitQuote(world().platform.quote({ reportData: "0x77" }));
    const facts = await verified(world(), short(signed));
    expect(facts.reportHead).to.equal(`0x77${"00".repeat(31)}`);
    // Another machine's quote does not pass as this one's.
    const other = splitQuote(new TestPlatform(world().pki).quote());
    expect(await outcome(short(other.signed))).to.include("BadQuoteSignature");
    expect(await outcome(short(signed, `0x${"00".repeat(195)}`))).to.include("UnknownPlatform");
    expect(await outcome(short(signed, "0x"))).to.include("UnknownPlatform");
    expect(await outcome(short(slice(signed, 0, size(signed) - 1)))).to.include("QuoteTooShort(699, 700)");
    expect(await outcome(short(signed, `${platform}00`))).to.include("UnknownPlatform");
  });

  it("verify_ofAKnownPlatform_byTheIdentityOfAnotherSignersEnclave_isRefused", async () => {
    const platform = await factsOf(
      world(),
      await world().verifier.write.verify([introduction(world())]),
      "PlatformIntroduced",
    );
    const changes = { number: 18, mrsigner: `0x${"dd".repeat(32)}` } as const;
    const enclave = await bringIdentity(world(), identityOf(world().now, changes));
    const { signed } = splitQuote(world().platform.quote());
    const { tcbInfo } = world();
    const evidence = encodeEvidence({ quote: signed, tcbInfo, enclave, platform });
    expect(await outcome(evidence)).to.include("UnknownPlatform");
  });

  it("verify_ofEvidenceThatEndsWithinItsParts_isRefused", async () => {
    const evidence = introduction(world());
    const parts =
      7 + size(world().tcbInfo) + size(world().enclave) + size(splitQuote(world().platform.quote()).certified);
    for (const bytes of [1, 6, 7, 100, parts - 1])
      expect(await outcome(slice(evidence, 0, bytes)), String(bytes)).to.include("EvidenceTooShort");
    expect(await outcome("0x")).to.include("EvidenceTooShort");
    expect(await outcome(slice(evidence, 0, parts))).to.include("MalformedDer");
  });

  it("verify_remembersAPlatformOnce", async () => {
    const first = await world().verifier.write.verify([introduction(world())]);
    const again = await world().verifier.write.verify([introduction(world())]);
    const logsOf = async (hash: Hex) => (await world().client.getTransactionReceipt({ hash })).logs.length;
    expect([await logsOf(first), await logsOf(again)]).to.deep.equal([1, 0]);
  });
});
