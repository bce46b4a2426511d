import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { callSucceeds } from "../../../testkit/protocol/callSucceeds.ts";
import { disputeKit, disputedProgram, LIE } from "../../../testkit/protocol/disputeKit.ts";
import type { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const FORGERIES = Number(process.env.REFUTE_FORGERIES ?? 200);
const SELECTOR_BYTES = 4;

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

  const proveCall = (game: GameDriver): Hex =>
    encodeFunctionData({
      abi: disputeGameAbi,
      functionName: "prove",
      args: [game.packed, game.claim, game.proof(LIE.element)],
    });

  it("prove_anyForgeryOfAProofAgainstAnHonestClaim_reverts", async () => {
    const { game: contract, watcher } = world();
    const challenge = (data: Hex): Promise<boolean> =>
      callSucceeds(world(), watcher.account.address, contract.address, data);
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
});
