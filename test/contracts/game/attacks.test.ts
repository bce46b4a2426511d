import { expect } from "chai";
import { concat, encodeFunctionData, keccak256, padHex, parseEther, toHex, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { creditOf, postJob, submitted, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const GWEI = 10n ** 9n;

/** Its second checkpoint has a range of one step, so that a game can be opened at the tensor. */
const subject = chainProgram(300, [3, 1, 5]);
const ONE_STEP = { checkpoint: 1, step: 3 };

/** Attacks tried on the contracts with nothing but what anybody has: calls, ether and tokens. */
describe("contracts under attack", () => {
  const world = useWorld();

  /** What a contract that challenges and wins makes of it, beyond its bond and the bounty. */
  async function contractsGain(padding: bigint): Promise<bigint> {
    const { viem, game, vault, token, watcher, worker, bond, parameters, networkHelpers } = world();
    const attacker = await viem.deployContract("ContractChallenger");
    await token.write.mint([watcher.account.address, bond], { account: watcher.account });
    await token.write.approve([vault.address, bond], { account: watcher.account });
    await vault.write.deposit([attacker.address, bond], { account: watcher.account });
    const trace = lyingTrace(subject, ONE_STEP.step, 299);
    const claim = await submitted(world(), subject, trace);
    const driver = new GameDriver(world(), subject, trace, claim);
    const send = async (data: Hex, bytes: bigint): Promise<void> => {
      await networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
      const sent = attacker.write.call([game.address, data, bytes], { account: worker.account });
      await driver.run("through a contract", sent);
    };
    const opening = driver.openArgs(trace.list.depth, ONE_STEP.checkpoint);
    await send(encodeFunctionData({ abi: disputeGameAbi, functionName: "open", args: opening }), 0n);
    const proof = [driver.packed, claim, driver.proof(299)] as const;
    await send(encodeFunctionData({ abi: disputeGameAbi, functionName: "prove", args: proof }), padding);
    const [credit] = await vault.read.accountOf([attacker.address]);
    return credit - bond - parameters.bounty;
  }

  it("movesOfAContract_areNotPaid_whateverTheirCalldata", async () => {
    for (const padding of [0n, 96_000n]) expect(await contractsGain(padding)).to.equal(0n);
  });

  /** What of a move was paid above what its transaction burnt, gas. */
  const overpaid = (driver: GameDriver, spentBefore: bigint): number => {
    const { spent } = driver.state;
    return Number((BigInt(spent) - spentBefore) / (20n * GWEI)) - Number(driver.gas.at(-1)!.gas);
  };

  it("accessListsAndDelegationsOfOthers_inAMove_areNotPaid", async () => {
    const { game, market, vault, watcher, networkHelpers, chainId, client } = world();
    const trace = lyingTrace(subject, 6, 299);
    const driver = new GameDriver(world(), subject, trace, await submitted(world(), subject, trace));
    const credit = keccak256(concat([padHex(watcher.account.address), toHex(1, { size: 32 })]));
    const accessList = [
      { address: market.address, storageKeys: [] },
      { address: vault.address, storageKeys: [toHex(0, { size: 32 }), credit] },
    ];
    await networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
    const open = driver.openArgs(1, 1);
    await driver.run("open", game.write.open(open, { account: watcher.account, accessList } as never));
    // 2,400 an address and 1,900 a word, which are 2,500 and 2,000 cheaper then: the list saves 400, and is not paid.
    expect(overpaid(driver, 0n)).to.be.within(-8_600, -8_100);
    await networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
    await driver.reveal();
    const before = BigInt(driver.state.spent);
    // An account that exists is cheaper than it is charged: half of it is given back after the game has measured.
    const authority = privateKeyToAccount(generatePrivateKey());
    await networkHelpers.setBalance(authority.address, ETHER);
    const delegation = { address: vault.address, chainId, nonce: await client.getTransactionCount(authority) };
    const authorizationList = [await authority.signAuthorization(delegation)];
    await networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
    const pick = [driver.packed, driver.pickArgs(2, 1)] as const;
    await driver.run("pick", game.write.pick(pick, { account: watcher.account, authorizationList } as never));
    expect(overpaid(driver, before)).to.be.within(-12_500, -11_500);
  });

  it("creditThatAnOpeningEmpties_givesGasBack_lessThanItCostsToFillItAgain", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const [credit] = await w.vault.read.accountOf([w.mallory.account.address]);
    await w.vault.write.withdraw([credit - w.bond, w.mallory.account.address], { account: w.mallory.account });
    const open = async (by = w.watcher): Promise<GameDriver> => {
      await w.networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
      return new GameDriver(w, subject, trace, claim, by).open();
    };
    const [winner, emptied] = [await open(), await open(w.mallory)];
    const gained = overpaid(emptied, 0n);
    expect(gained).to.be.within(4_800, 5_200);
    await winner.concede(w.worker);
    await w.networkHelpers.setNextBlockBaseFeePerGas(20n * GWEI);
    await emptied.settle(w.mallory);
    const paid = Number(((await creditOf(w, w.mallory)) - w.bond - BigInt(emptied.state.spent)) / (20n * GWEI));
    expect(Number(emptied.gas.at(-1)!.gas) - paid).to.be.above(gained);
  });

  it("forcedEther_changesNothing_andNoContractTakesAny", async () => {
    const { viem, market, game, vault, watcher, worker, networkHelpers } = world();
    const [sender] = await viem.getWalletClients();
    for (const { address } of [market, game, vault]) {
      const refused = await sender!.sendTransaction({ to: address, value: 1n }).then(
        () => false,
        () => true,
      );
      expect(refused).to.equal(true);
      await networkHelpers.setBalance(address, parseEther("1000"));
    }
    const before = [await creditOf(world(), watcher), await creditOf(world(), worker), await vault.read.custody()];
    const trace = lyingTrace(subject, 6, 299);
    const driver = new GameDriver(world(), subject, trace, await submitted(world(), subject, trace));
    await (await driver.descend(2, 6, 299)).prove(299);
    expect((await creditOf(world(), watcher)) > before[0]!).to.equal(true);
    // The fee of the job that is open again, and the gas that the worker has not collected.
    const held = (await vault.read.custody()) - before[2]!;
    expect(held >= ETHER && held < ETHER + ETHER / 100n, String(held)).to.equal(true);
  });

  it("tokensSentToTheVault_becomeNobodysCredit", async () => {
    const { vault, token, watcher, mallory } = world();
    await token.write.mint([vault.address, 5n * ETHER], { account: mallory.account });
    const before = await creditOf(world(), mallory);
    await token.write.mint([mallory.account.address, ETHER], { account: mallory.account });
    await token.write.approve([vault.address, ETHER], { account: mallory.account });
    await vault.write.deposit([mallory.account.address, ETHER], { account: mallory.account });
    expect(await creditOf(world(), mallory)).to.equal(before + ETHER);
    // Neither can the surplus be withdrawn by way of somebody else's account.
    const credit = await creditOf(world(), watcher);
    await world().viem.assertions.revertWithCustomError(
      vault.write.withdraw([credit + 1n, mallory.account.address], { account: watcher.account }),
      vault,
      "InsufficientCredit",
    );
  });

  it("calldataBehindTheArguments_movesNothingElse", async () => {
    const { viem, watcher, worker, game } = world();
    const wallet = await viem.getWalletClient(worker.account.address);
    const trace = honestTrace(subject);
    const driver = await new GameDriver(world(), subject, trace, await submitted(world(), subject, trace)).open();
    const data = encodeFunctionData({
      abi: disputeGameAbi,
      functionName: "reveal",
      args: [driver.packed, driver.revealData()],
    });
    const padded: Hex = `${data}${"ff".repeat(4_096)}`;
    await driver.run("reveal", wallet.sendTransaction({ to: game.address, data: padded }));
    expect(driver.state.turn).to.equal(1);
    expect(driver.state.challenger.toLowerCase()).to.equal(watcher.account.address.toLowerCase());
  });

  it("headerOfAProgramOf2To32Checkpoints_isServedWithinBounds", async () => {
    const { market, worker, game } = world();
    const request = await requestFor(world(), subject);
    const largest = "ff".repeat(4);
    // Steps and checkpoints are at bytes 18 and 22 of the header.
    const own = request.program.header;
    const header: Hex = `0x${own.slice(2, 38)}${largest}${largest}${own.slice(54)}`;
    const job = await postJob(world(), { ...request, program: { ...request.program, header } });
    expect(job.checkpoints).to.equal(2 ** 32 - 1);
    await market.write.claim([job], { account: worker.account });
    const nodes = toHex(new Uint8Array(32 * 16).fill(7));
    await market.write.submit([job, nodes], { account: worker.account });
    // The last node that is not padding can be opened, the one behind it cannot be named.
    const list = MerkleList.fromHashes(Array.from({ length: 16 }, () => `0x${"07".repeat(32)}` as const));
    const claim = { job, worker: worker.account.address, root: list.root, collateral: world().parameters.collateral };
    const at = (index: bigint) => ({
      index,
      node: list.node(0, 15),
      siblings: list.path(15, 0),
      program: { header: "0x" as const, stepsRoot: list.root, checkpointsRoot: list.root },
      checkpoint: { first: 0, step: 0, siblings: [] },
      step: { dtype: 0, count: 0n, bodyHash: list.root, siblings: [] },
    });
    const { viem, watcher } = world();
    for (const index of [16n, 2n ** 32n + 15n, 2n ** 64n - 1n]) {
      await viem.assertions.revertWithCustomError(
        game.write.open([claim, 0, at(index)], { account: watcher.account }),
        game,
        "PickNotBelowNode",
      );
    }
    await game.write.open([claim, 0, at(15n)], { account: watcher.account });
  });
});
