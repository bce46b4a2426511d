import { expect } from "chai";
import { readFileSync } from "node:fs";
import type { TransactionSender } from "../../../src/chain/call.ts";
import { TdxQuoteVerifier } from "../../../src/chain/clients/tdxQuoteVerifier.ts";
import { bringMissing } from "../../../src/attestation/tdx/submitCollateral.ts";
import { parseCollateral } from "../../../src/attestation/tdx/collateralFile.ts";
import { CollateralFormError, CollateralMissingError } from "../../../src/attestation/tdx/errors.ts";
import { encodeEvidence } from "../../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../../src/attestation/tdx/quote.ts";
import { evidencesFor, standingOf } from "../../../src/attestation/tdx/platformStatus.ts";
import { collateralFile } from "../../../testkit/tdx/collateralFile.ts";
import { TestPki, type Issued } from "../../../testkit/tdx/pki.ts";
import { PCK, TestPlatform } from "../../../testkit/tdx/quotes.ts";
import { anchorOf, intelRoot, REAL_TIME, realCollateral, realQuote } from "../../../testkit/tdx/realQuote.ts";
import { deployVerifier, verified, type VerifierChain } from "../../../testkit/tdx/tdxWorld.ts";

/** The client of a chain's verifier, with the chain's first account. */
async function clientOf({ viem, client, verifier }: VerifierChain): Promise<TdxQuoteVerifier> {
  const [wallet] = await viem.getWalletClients();
  const send = async (call: object) => {
    const hash = await wallet!.writeContract(call as never);
    return client.getTransactionReceipt({ hash });
  };
  const sender = { address: wallet!.account.address, send } as unknown as TransactionSender;
  return new TdxQuoteVerifier(verifier.address, { publicClient: client, sender });
}

const FILE = "test/golden/tdx/tdx_quote_collateral.json";

describe("collateral of Intel TDX", () => {
  let chain: VerifierChain;
  let contract: TdxQuoteVerifier;
  const collateral = () => parseCollateral(readFileSync(FILE, "utf8"), FILE);
  const where = async () => ({
    chainId: await chain.client.getChainId(),
    now: (await chain.client.getBlock()).timestamp,
    ...{ fromBlock: 0n, older: contract.address },
  });

  before(async () => {
    chain = await deployVerifier(anchorOf(intelRoot()), REAL_TIME, new Date("2025-06-20T00:00:00Z"));
    contract = await clientOf(chain);
  });

  it("bringMissing_ofARenewedCertificate_replacesTheOld_andOfTheOldNothing", async () => {
    const now = Math.floor(Date.now() / 1_000) + 120;
    const pki = new TestPki(now);
    const own = await deployVerifier(pki.anchor, now);
    const client = await clientOf(own);
    /** What is brought of a collateral by a certificate that certifies platforms. */
    const bring = async (platformCa: Issued) => {
      const by = Object.create(pki, { platformCa: { value: platformCa } }) as TestPki;
      const done = await bringMissing(client, parseCollateral(collateralFile(by, { issued: now }), "f.json"));
      return done.map(({ what }) => what);
    };
    expect(await bring(pki.platformCa)).to.have.length(6);
    const { key } = pki.platformCa;
    const renewed = pki.authority({ key, notAfter: now + 9 * 365 * 86_400 });
    expect(await bring(renewed)).to.deep.equal(["certificate Intel SGX PCK Platform CA"]);
    expect(await bring(pki.platformCa)).to.deep.equal([]);
    // An authority of the same name has another key: its lists and machines are told apart by their signatures.
    const other = pki.authority();
    expect(await bring(other)).to.deep.equal([
      "certificate Intel SGX PCK Platform CA",
      "revocation list of authority 2",
    ]);
    for (const [issuer, number] of [
      [pki.platformCa, 1],
      [other, 2],
    ] as const) {
      const quote = splitQuote(new TestPlatform(pki, PCK, pki.platform(PCK, {}, issuer)).quote());
      const [evidence] = await evidencesFor(client, quote, await where());
      expect(evidence).to.include({ authority: number });
      await verified(own, encodeEvidence({ ...evidence!, quote: quote.certified }));
    }
  });

  it("status_ofAChainWithNothing_saysAllThatIsMissing_andBringBringsIt_once", async () => {
    const quote = splitQuote(realQuote());
    const empty = await standingOf(contract, quote, await where());
    expect(empty.needs.map(({ state }) => state)).to.deep.equal(["missing", "missing", "missing", "missing"]);
    expect(await evidencesFor(contract, quote, await where()).catch((error: unknown) => error)).to.be.instanceOf(
      CollateralMissingError,
    );
    const brought = await bringMissing(contract, collateral());
    expect(brought.map(({ what }) => what)).to.deep.equal([
      "certificate Intel SGX PCK Platform CA",
      "certificate Intel SGX TCB Signing",
      "revocation list of the root",
      "revocation list of authority 1",
      "more of the revocation list of authority 1",
      "TCB info 17",
      "identity of the enclave 17",
    ]);
    // 400,000 is the aim; the document of 2,934 bytes takes more, and so do 40 serial numbers.
    const max = (what: string): number =>
      what.includes("revocation list of authority") ? 4_000_000 : what.startsWith("TCB") ? 560_000 : 400_000;
    for (const { what, receipt } of brought) expect(Number(receipt.gasUsed), what).to.be.lessThan(max(what));
    expect(await bringMissing(contract, collateral())).to.deep.equal([]);
    const standing = await standingOf(contract, quote, await where());
    expect(standing.needs.map(({ what, state }) => [what, state])).to.deep.equal([
      ["revocation list of the root", "current"],
      ["revocation list of authority 1", "current"],
      ["TCB info 17", "current"],
      ["identity of the enclave 17", "current"],
    ]);
    const [evidence] = await evidencesFor(contract, quote, await where());
    expect((await verified(chain, encodeEvidence({ ...evidence!, quote: quote.certified }))).status).to.equal(0);
  });

  it("parseCollateral_refusesWhatIsNone_andWhatTheContractDoesNotWrite", () => {
    const real = realCollateral();
    const refused = (changes: object): string => {
      try {
        parseCollateral(JSON.stringify({ ...real, ...changes }), "f.json");
        return "taken";
      } catch (error) {
        expect(error).to.be.instanceOf(CollateralFormError);
        return (error as Error).message;
      }
    };
    expect(() => parseCollateral("{", "f.json")).to.throw(CollateralFormError, "not JSON");
    expect(refused({ pck_crl: undefined })).to.include("pck_crl");
    expect(refused({ pck_crl: "30" })).to.include("not the DER");
    expect(refused({ tcb_info_issuer_chain: "no" })).to.include("no certificate in PEM");
    expect(refused({ tcb_info: real.tcb_info!.replace('"tcbType":0', '"tcbType": 0') })).to.include("from character");
    expect(refused({ tcb_info: real.qe_identity })).to.include("not the document that was expected");
    expect(refused({ qe_identity: real.qe_identity!.replace("{", '{"new":1,') })).to.include("from character 2");
  });
});
