import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { Sender } from "../../../src/chain/sender.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, creditOf, gasOf, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const subject = chainProgram(300, [3, 1, 5]);

/** Whoever sees an honest transaction in the mempool sends the same first. */
describe("DisputeGame: calls that are copied and sent first", () => {
  const world = useWorld();

  /** Sends calldata through a contract, whose copy of a move is not paid. */
  async function throughContract(data: Hex): Promise<Hex> {
    const { viem, game, mallory } = world();
    const copier = await viem.deployContract("ContractChallenger");
    return copier.write.call([game.address, data, 0n], { account: mallory.account });
  }

  /** A game without cause, and the arguments of the worker's first reveal in it. */
  async function shamGame() {
    const w = world();
    const trace = honestTrace(subject);
    const claim = await submitted(w, subject, trace);
    const sham = await new GameDriver(w, subject, trace, claim, w.mallory).open();
    return { w, claim, sham, args: [sham.packed, sham.revealData()] as const };
  }

  it("reveal_copiedThroughAContract_isRefused_soThatNoMoveOfTheWorkerIsUnpaid", async () => {
    const { w, claim, sham, args } = await shamGame();
    const copy = throughContract(encodeFunctionData({ abi: disputeGameAbi, functionName: "reveal", args }));
    await w.viem.assertions.revertWithCustomError(copy, w.game, "NotPlainAccount");
    await sham.reveal();
    const [, , , earned] = await w.game.read.claimGames([claimId(w, claim)]);
    expect(earned > 0n).to.equal(true);
  });

  it("reveal_copiedByAPlainAccount_isPaidToTheWorker", async () => {
    const { w, claim, sham, args } = await shamGame();
    await sham.reveal(w.mallory);
    const [, , , earned] = await w.game.read.claimGames([claimId(w, claim)]);
    // The worker's own transaction reverts, at a price below what the copy paid it.
    const wallet = await w.viem.getWalletClient(w.worker.account.address);
    const data = encodeFunctionData({ abi: disputeGameAbi, functionName: "reveal", args });
    const { baseFeePerGas } = await w.client.getBlock();
    const late = await wallet.sendTransaction({ to: w.game.address, data, gas: 200_000n }).catch(() => undefined);
    const { transactions } = await w.client.getBlock();
    const hash = late ?? transactions[0]!;
    expect((await w.client.getTransactionReceipt({ hash })).status).to.equal("reverted");
    expect((await gasOf(w, hash)) * baseFeePerGas! <= earned, "the copy cost the worker").to.equal(true);
  });

  it("settle_copiedThroughAContract_isRefused_soThatTheChallengersOwnIsPaid", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const honest = await new GameDriver(w, subject, trace, claim).open();
    await (await new GameDriver(w, subject, trace, claim, w.mallory).open(1, 1)).concede(w.worker);
    const data = encodeFunctionData({ abi: disputeGameAbi, functionName: "settle", args: [honest.packed] });
    await w.viem.assertions.revertWithCustomError(throughContract(data), w.game, "NotPlainAccount");
    await honest.settle(w.watcher);
    expect((await creditOf(w, w.watcher)) > 20n * ETHER).to.equal(true);
  });

  it("open_betweenWhoseEstimateAndBlockAShamGameEnded_hasGasEnough", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    // While it is open, a further game is cheaper by a word that is not empty. It is gone when the honest one lands.
    const sham = await new GameDriver(w, subject, trace, claim, w.mallory).open();
    // The third of the accounts that Hardhat makes.
    const account = mnemonicToAccount(`${"test ".repeat(11)}junk`, { addressIndex: 2 });
    expect(account.address.toLowerCase()).to.equal(w.watcher.account.address);
    const late = Object.assign(Object.create(w.client) as typeof w.client, {
      estimateContractGas: async (call: Parameters<typeof w.client.estimateContractGas>[0]) => {
        const estimate = await w.client.estimateContractGas(call);
        await sham.concede(w.mallory);
        return estimate;
      },
    });
    const args = new GameDriver(w, subject, trace, claim).openArgs(0, 0);
    const call = { address: w.game.address, abi: disputeGameAbi, functionName: "open", args } as const;
    const { status } = await new Sender(late, account).send(call);
    expect(status).to.equal("success");
  });
});
