import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { provisioningAbi } from "../../../src/chain/abi/provisioning.ts";
import { SoftwareDevice, type SignedReport } from "../../../src/provisioning/device.ts";
import { callSucceeds } from "../../../testkit/protocol/callSucceeds.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { signedReport } from "../../../testkit/protocol/world.ts";

const IDENTIFICATION = 0;
const SELECTOR_BYTES = 4;
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

describe("Forgeries of reports", () => {
  const world = useWorld();

  const submission = async () => {
    const { mallory, provisioning, manufacturer } = world();
    const worker = mallory.account.address;
    const signed = await signedReport(world(), worker, new SoftwareDevice(manufacturer), IDENTIFICATION);
    const accepted = (quote: Hex): Promise<boolean> =>
      callSucceeds(world(), worker, provisioning.address, submitCall({ ...signed, quote }));
    return { signed, worker, provisioning, accepted };
  };
  const submitCall = ({ report, quote }: SignedReport): Hex =>
    encodeFunctionData({ abi: provisioningAbi, functionName: "submitReport", args: [report, quote] });

  it("submitReport_anyBitOfReportOrQuoteChanged_reverts", async () => {
    const { signed, worker, provisioning } = await submission();
    const data = submitCall(signed);
    const accepted = (changed: Hex): Promise<boolean> => callSucceeds(world(), worker, provisioning.address, changed);
    expect(await accepted(data)).to.equal(true);
    const bytes = Buffer.from(data.slice(2), "hex");
    // Every word of the report, of the quote, and between them; behind the quote there is nothing.
    for (let at = SELECTOR_BYTES; at < bytes.length; at += 32)
      for (const bit of [0, 100, 255]) {
        const changed = Buffer.from(bytes);
        changed[at + (bit >> 3)]! ^= 1 << (bit & 7);
        expect(await accepted(`0x${changed.toString("hex")}`), `bit ${bit} of the word at ${at}`).to.equal(false);
      }
  });

  it("submitReport_signaturesWithTheOtherS_reverts", async () => {
    const { signed, accepted } = await submission();
    const words = signed.quote.slice(2).match(/.{64}/g)!;
    const negated = (word: string): string => (P256_ORDER - BigInt(`0x${word}`)).toString(16).padStart(64, "0");
    const other = (k: number): Hex => `0x${words.map((w, n) => (n === k ? negated(w) : w)).join("")}`;
    expect(await accepted(signed.quote)).to.equal(true);
    expect([await accepted(other(3)), await accepted(other(7))]).to.deep.equal([false, false]);
  });

  it("submitReport_aManufacturersEndorsementAsTheDevicesSignature_reverts", async () => {
    const { signed, accepted } = await submission();
    const [mx, my, er, es] = signed.quote.slice(2).match(/.{64}/g)!;
    // The manufacturer as its own device: its key has signed an endorsement, never itself, and no report.
    expect(await accepted(`0x${[mx, my, er, es, mx, my, er, es].join("")}`)).to.equal(false);
    expect(await accepted(`0x${"00".repeat(256)}`)).to.equal(false);
  });
});
