import { expect } from "chai";
import { parseEventLogs, type Hex } from "viem";
import { disputeGameAbi } from "../../../../src/chain/abi/disputeGame.ts";
import { packState, unpackState } from "../../../../src/chain/market/state.ts";
import { apartAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS } from "../../../../testkit/programs/runProgram.ts";
import { claimOf, createPledgeWorld, landed, promised } from "../../../../testkit/protocol/pledgeWorld.ts";
import { RunGame } from "../../../../testkit/protocol/runGame.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { ETHER } from "../../../../testkit/protocol/deployWorld.ts";
import { claimKey, creditOf } from "../../../../testkit/protocol/world.ts";
import { answerOf } from "../../../../testkit/soak/answerRuns.ts";

const GWEI = 10n ** 9n;
/** Claims that the stopped worker lets die, beside its lie. */
const CLAIMS = 3;
const program = apartAnswers("two");
const honest = answerOf(program, 1);
const liar = answerOf(program, 1, { item: 0, step: RUN_STEPS.last, element: 0 });

/**
 * A worker whose pledge is lost signs claims for a friend, who puts the claims on chain and opens games while gas is
 * cheap, and ends the games by timeouts when gas is dear. The friend must not gain by that, or the pledge would come
 * back in parts.
 */
describe("PledgedClaims: a stopped worker", function () {
  this.timeout(600_000);
  const world = useWorld(() => createPledgeWorld());

  type Prices = { cheap: bigint; dear: bigint; by?: "challenger" | "friend"; more?: number };

  /**
   * Has claims die, each with more games that settle.
   * @returns what the friends gain by them, and what the pledge loses; smallest units of the asset
   */
  async function play({ cheap, dear, by = "challenger", more = 0 }: Prices): Promise<{ net: bigint; taken: bigint }> {
    const w = world();
    const friend = w.requester;
    const { networkHelpers, client, vault, game, mallory, watcher } = w;
    await w.token.write.mint([mallory.account.address, 100n * ETHER]);
    await vault.write.deposit([mallory.account.address, 50n * ETHER], { account: mallory.account });
    const at = (gwei: bigint) => networkHelpers.setNextBlockBaseFeePerGas(gwei * GWEI);
    let burnt = 0n;
    const burn = async (hash: Hex) => {
      const receipt = await client.getTransactionReceipt({ hash });
      const { baseFeePerGas } = await client.getBlock({ blockNumber: receipt.blockNumber });
      burnt += receipt.gasUsed * baseFeePerGas!;
      return receipt;
    };
    // The lie, with an honest game about it.
    await at(cheap);
    const real = new RunGame(w, await landed(w, await promised(w, liar)), honest, watcher);
    await real.open();
    const [credit, friends] = [await creditOf(w, mallory), await creditOf(w, friend)];
    type Sham = { states: ReturnType<typeof unpackState>[]; key: ReturnType<typeof claimKey> };
    const shams: Sham[] = [];
    for (let k = 0; k < CLAIMS; k++) {
      const promise = await promised(w, liar);
      promise.evidence = { ...promise.evidence, inputs: [] };
      const account = { account: mallory.account };
      await at(cheap);
      const hash = await w.tickets.write.submitSigned([promise.claim, promise.signature, promise.evidence], account);
      await burn(hash);
      const claim = await claimOf(w, promise, hash);
      const { firstPick } = new RunGame(w, { worker: promise.own, claim, nodes: promise.evidence.nodes }, honest);
      const states: Sham["states"] = [];
      for (let number = 0; number <= more; number++) {
        await at(cheap);
        const { logs } = await burn(await game.write.open([claim, number, firstPick], account));
        const [event] = parseEventLogs({ abi: disputeGameAbi, logs, eventName: "Picked" });
        states.push(unpackState(event!.args.state));
      }
      shams.push({ states, key: claimKey(w, claim) });
    }
    await networkHelpers.time.increase(3_700);
    await at(dear);
    await game.write.timeout([packState(real.state), claimKey(w, real.claim)], { account: watcher.account });
    const kept = async () => (await w.claims.read.pledgeOf([w.worker.account.address]))[3];
    const before = await kept();
    const { account } = by === "friend" ? friend : mallory;
    for (const { states, key } of shams) {
      const [dies, ...others] = states;
      await at(dear);
      await burn(await game.write.timeout([packState(dies!), key], { account }));
      for (const state of others) {
        await at(dear);
        await burn(await game.write.settle([packState(state)], { account }));
      }
    }
    const net = (await creditOf(w, mallory)) - credit + (await creditOf(w, friend)) - friends - burnt;
    return { net, taken: before - (await kept()) };
  }

  for (const [cheap, dear, by] of [
    [5n, 5n, "challenger"],
    [5n, 50n, "challenger"],
    [1n, 50n, "challenger"],
    [1n, 50n, "friend"],
  ] as const)
    it(`gainsNothing_byClaimsThatDie (landed at ${cheap} gwei, ended at ${dear} by its ${by})`, async () => {
      const { net } = await play({ cheap, dear, by });
      expect(net < 0n, `${net}`).to.equal(true);
    });

  for (const more of [1, 9, 40]) {
    for (const [cheap, dear] of [
      [5n, 15n],
      [1n, 50n],
    ] as const)
      it(`gainsNothing_byGamesThatSettle (${more} a claim, landed at ${cheap} gwei, ended at ${dear})`, async () => {
        const { net } = await play({ cheap, dear, more });
        expect(net < 0n, `${net}`).to.equal(true);
      });
  }
});
