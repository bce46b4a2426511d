import { expect } from "chai";
import { encodeFunctionData, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { provisioningAbi } from "../../../src/chain/abi/provisioning.ts";
import { SoftwareDevice, type SignedReport } from "../../../src/provisioning/device.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { disputeKit, disputedProgram, LIE } from "../../../testkit/protocol/disputeKit.ts";
import type { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { signedReport } from "../../../testkit/protocol/world.ts";

const FORGERIES = Number(process.env.REFUTE_FORGERIES ?? 200);
const SELECTOR_BYTES = 4;
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Calldata with a bit flipped, a word put in another's place, a number changed, cut short or longer. */
function forged(prng: Prng, data: Hex): Hex {
  const bytes = Buffer.from(data.slice(2), "hex");
  if (bytes.length < SELECTOR_BYTES + 32) return data;
  const word = (): number => SELECTOR_BYTES + 32 * prng.below(Math.floor((bytes.length - SELECTOR_BYTES) / 32));
  const at = word();
  switch (prng.below(6)) {
    case 0:
    case 1:
      bytes[at + prng.below(32)]! ^= 1 << prng.below(8);
      break;
    case 2:
      bytes.copyWithin(at, word(), bytes.length);
      break;
    case 3: {
      const from = word();
      bytes.copyWithin(at, from, from + 32);
      break;
    }
    case 4:
      bytes.writeUInt32BE((bytes.readUInt32BE(at + 28) + prng.pick([1, -1, 32, -32, 64, 512])) >>> 0, at + 28);
      break;
    default:
      return `0x${bytes.subarray(0, at + prng.below(32)).toString("hex")}`;
  }
  return `0x${bytes.toString("hex")}`;
}

describe("Forgeries", () => {
  const world = useWorld();
  const { against, againstLiar } = disputeKit(world);

  /** Whether a call would succeed. */
  const succeeds = (from: Address, to: Address, data: Hex): Promise<boolean> =>
    world()
      .client.request({ method: "eth_call", params: [{ from, to, data }, "latest"] }, { retryCount: 0 })
      .then(
        () => true,
        () => false,
      );

  const proveCall = (game: GameDriver): Hex =>
    encodeFunctionData({
      abi: disputeGameAbi,
      functionName: "prove",
      args: [game.packed, game.claim, game.proof(LIE.element)],
    });

  it("prove_anyForgeryOfAProofAgainstAnHonestClaim_reverts", async () => {
    const { game: contract, watcher } = world();
    const challenge = (data: Hex): Promise<boolean> => succeeds(watcher.account.address, contract.address, data);
    const liar = await (await againstLiar()).descend(LIE.checkpoint, LIE.step, LIE.element);
    expect(await challenge(proveCall(liar))).to.equal(true);
    const honest = await (await against(honestTrace(disputedProgram))).descend(LIE.checkpoint, LIE.step, LIE.element);
    const proof = proveCall(honest);
    const prng = new Prng(Number(process.env.REFUTE_SEED ?? 31));
    for (let n = 0; n < FORGERIES; n++) {
      const data = forged(prng, prng.below(3) === 0 ? forged(prng, proof) : proof);
      expect(await challenge(data), data).to.equal(false);
    }
  });

  describe("of reports", () => {
    const IDENTIFICATION = 0;
    const submission = async () => {
      const { mallory, provisioning, manufacturer } = world();
      const worker = mallory.account.address;
      const signed = await signedReport(world(), worker, new SoftwareDevice(manufacturer), IDENTIFICATION);
      const accepted = (quote: Hex): Promise<boolean> =>
        succeeds(worker, provisioning.address, submitCall({ ...signed, quote }));
      return { signed, worker, provisioning, accepted };
    };
    const submitCall = ({ report, quote }: SignedReport): Hex =>
      encodeFunctionData({ abi: provisioningAbi, functionName: "submitReport", args: [report, quote] });

    it("submitReport_anyBitOfReportOrQuoteChanged_reverts", async () => {
      const { signed, worker, provisioning } = await submission();
      const data = submitCall(signed);
      const accepted = (changed: Hex): Promise<boolean> => succeeds(worker, provisioning.address, changed);
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
});
