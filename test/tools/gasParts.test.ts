import { expect } from "chai";
import type { Hex } from "viem";
import { chainProgram, lyingTrace } from "../../testkit/protocol/chainProgram.ts";
import { GameDriver } from "../../testkit/protocol/gameDriver.ts";
import { useWorld } from "../../testkit/protocol/useWorld.ts";
import { gasOf, submitted } from "../../testkit/protocol/world.ts";
import { gasParts, sumOf, totalOf, type GasParts } from "../../tools/measure/gas/parts/gasParts.ts";

describe("the parts of gas", () => {
  const world = useWorld();

  /** The parts of a transaction, whose sum must be the receipt's gas. */
  async function partsOf(sent: Promise<Hex> | Hex): Promise<GasParts> {
    const hash = await sent;
    const parts = await gasParts(world(), hash);
    expect(totalOf(parts)).to.equal(Number(await gasOf(world(), hash)));
    return parts;
  }

  it("aWordWrittenAndCleared_itsEvent_andTheRefund_areWhatTheScheduleSays", async () => {
    const { token, watcher, stranger } = world();
    const approve = (amount: bigint) =>
      partsOf(token.write.approve([stranger.account.address, amount], { account: watcher.account }));
    const [written, again, cleared] = [await approve(7n), await approve(8n), await approve(0n)];
    expect([written, again, cleared].map(({ storage }) => storage)).to.deep.equal([22_100, 5_000, 5_000 - 4_800]);
    // Three topics and a word of data.
    expect(written.events).to.equal(375 + 3 * 375 + 8 * 32);
    expect(written.transaction).to.equal(21_000);
    expect([written.calls, written.floor]).to.deep.equal([0, 0]);
  });

  it("calldataAlone_costsTheFloor", async () => {
    const { watcher, stranger } = world();
    const data: Hex = `0x00${"11".repeat(99)}`;
    const parts = await partsOf(watcher.sendTransaction({ to: stranger.account.address, data }));
    expect([parts.calldata, parts.floor]).to.deep.equal([4 + 16 * 99, 6 + 24 * 99]);
  });

  it("callsWithinCalls_precompiles_andAGamesEnd_addUpToTheReceipts", async () => {
    const subject = chainProgram(300, [3, 1, 5]);
    const claim = await submitted(world(), subject, lyingTrace(subject, 6, 299));
    const game = new GameDriver(world(), subject, lyingTrace(subject, 6, 299), claim);
    await (await (await game.open()).reveal()).pick(2, 2);
    await game.concede(world().worker);
    const parts: GasParts[] = [];
    for (const { hash } of game.gas) parts.push(await partsOf(hash));
    expect(totalOf(sumOf(parts))).to.equal(game.gas.reduce((sum, { gas }) => sum + Number(gas), 0));
    for (const { hashing, events, storage } of parts) expect(Math.min(hashing, events, storage)).to.be.above(0);
    expect(parts.at(-1)!.calls).to.be.above(2_600);
  });
});
