import { expect } from "chai";
import { encodeFunctionData } from "viem";
import { honestTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { attest, freeze } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { createWorld, creditOf, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

describe("StakeVault", () => {
  const world = useWorld();
  const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
    world().viem.assertions.revertWithCustomError(sent, world().vault, name as never);

  it("withdraw_toAnotherAddress_sendsCredit", async () => {
    const { vault, watcher, mallory, token } = world();
    const before = await token.read.balanceOf([mallory.account.address]);
    await vault.write.withdraw([3n * ETHER, mallory.account.address], { account: watcher.account });
    expect((await token.read.balanceOf([mallory.account.address])) - before).to.equal(3n * ETHER);
    expect(await creditOf(world(), watcher)).to.equal(17n * ETHER);
  });

  it("withdraw_moreThanCredit_reverts", async () => {
    const { vault, watcher } = world();
    const to = watcher.account.address;
    await revert(vault.write.withdraw([21n * ETHER, to], { account: watcher.account }), "InsufficientCredit");
  });

  it("deposit_zeroOrToNobody_reverts", async () => {
    const { vault, watcher } = world();
    const options = { account: watcher.account };
    await revert(vault.write.deposit([watcher.account.address, 0n], options), "ZeroAmount");
    await revert(vault.write.deposit([`0x${"0".repeat(40)}`, 1n], options), "ZeroAddress");
    await revert(vault.write.withdraw([0n, watcher.account.address], options), "ZeroAmount");
    await revert(vault.write.withdraw([1n, `0x${"0".repeat(40)}`], options), "ZeroAddress");
  });

  it("stake_withoutLiveAttestation_reverts", async () => {
    const { vault, mallory } = world();
    await revert(vault.write.stake([ETHER], { account: mallory.account }), "NotLive");
  });

  it("stake_moreThanCreditOrZero_reverts", async () => {
    const { vault, worker } = world();
    await revert(vault.write.stake([11n * ETHER], { account: worker.account }), "InsufficientCredit");
    await revert(vault.write.stake([0n], { account: worker.account }), "ZeroAmount");
  });

  it("stake_attestationLapsed_revertsAndKeepsOldStake", async () => {
    const { vault, worker, networkHelpers } = world();
    await networkHelpers.time.increase(8 * 86_400);
    await revert(vault.write.stake([ETHER], { account: worker.account }), "NotLive");
    expect((await vault.read.accountOf([worker.account.address]))[1]).to.equal(10n * ETHER);
  });

  it("unstake_afterDelay_becomesCredit", async () => {
    const { vault, worker, networkHelpers, parameters } = world();
    const options = { account: worker.account };
    await vault.write.requestWithdraw([4n * ETHER], options);
    expect((await vault.read.accountOf([worker.account.address])).slice(0, 4)).to.deep.equal([
      10n * ETHER,
      6n * ETHER,
      0n,
      4n * ETHER,
    ]);
    await revert(vault.write.unstake(options), "WithdrawalNotReady");
    await networkHelpers.time.increase(parameters.withdrawalDelay);
    await vault.write.unstake(options);
    expect(await creditOf(world(), worker)).to.equal(14n * ETHER);
    await revert(vault.write.unstake(options), "NothingRequested");
  });

  it("requestWithdraw_again_startsTheDelayAnew", async () => {
    const { vault, worker, networkHelpers, parameters } = world();
    const options = { account: worker.account };
    await vault.write.requestWithdraw([ETHER], options);
    await networkHelpers.time.increase(parameters.withdrawalDelay - 100);
    await vault.write.requestWithdraw([ETHER], options);
    await networkHelpers.time.increase(200);
    await revert(vault.write.unstake(options), "WithdrawalNotReady");
  });

  it("requestWithdraw_lockedStake_reverts", async () => {
    const { vault, worker, parameters } = world();
    const subject = chainProgram(4, [1]);
    await submitted(world(), subject, honestTrace(subject));
    const free = 10n * ETHER - parameters.collateral;
    const options = { account: worker.account };
    await revert(vault.write.requestWithdraw([free + 1n], options), "InsufficientFreeStake");
    await vault.write.requestWithdraw([free], options);
    await revert(vault.write.requestWithdraw([0n], options), "ZeroAmount");
  });

  it("ledgerMoves_byAnybodyButTheMarket_revert", async () => {
    const { vault, mallory } = world();
    const args = [mallory.account.address, 1n] as const;
    const options = { account: mallory.account };
    await revert(vault.write.take(args, options), "NotMarket");
    await revert(vault.write.give(args, options), "NotMarket");
    await revert(vault.write.lock(args, options), "NotMarket");
    await revert(vault.write.unlock(args, options), "NotMarket");
    await revert(vault.write.slash([...args, false], options), "NotMarket");
  });

  it("ledgerMoves_beyondWhatThereIs_revert", async () => {
    // The market never asks for these; the vault does not rely on that.
    const { vault, market, worker, client, networkHelpers, viem } = world();
    await networkHelpers.impersonateAccount(market.address);
    await networkHelpers.setBalance(market.address, ETHER);
    const options = { account: market.address };
    const walletVault = await viem.getContractAt("StakeVault", vault.address, {
      client: { public: client, wallet: await viem.getWalletClient(market.address) },
    });
    const { address } = worker.account;
    await revert(walletVault.write.give([address, 1n], options), "InsufficientCustody");
    await revert(walletVault.write.unlock([address, 1n], options), "InsufficientLocked");
    await revert(walletVault.write.slash([address, 1n, false], options), "InsufficientLocked");
    await revert(walletVault.write.lock([address, 11n * ETHER], options), "InsufficientFreeStake");
  });
});

describe("StakeVault with hostile tokens", () => {
  it("deposit_feeOnTransfer_creditsWhatArrived", async () => {
    const world = await createWorld({}, "FeeToken");
    expect(await creditOf(world, world.watcher)).to.equal((20n * ETHER * 99n) / 100n);
    expect(await world.token.read.balanceOf([world.vault.address])).to.equal(4n * ((20n * ETHER * 99n) / 100n));
  });

  it("deposit_reentered_countsNothingTwice", async () => {
    const world = await createWorld({}, "ReentrantToken");
    const token = await world.viem.getContractAt("ReentrantToken", world.token.address);
    const { vault, mallory } = world;
    await token.write.mint([token.address, 5n * ETHER]);
    const args = [mallory.account.address, 5n * ETHER] as const;
    const inner = encodeFunctionData({ abi: vault.abi, functionName: "deposit", args });
    await token.write.arm([vault.address, "0x"]);
    await token.write.approveVault([5n * ETHER]);
    await token.write.arm([vault.address, inner]);
    await vault.write.deposit([mallory.account.address, ETHER], { account: mallory.account });
    expect(await token.read.lastCallSucceeded()).to.equal(false);
    expect(await creditOf(world, mallory)).to.equal(21n * ETHER);
  });

  it("withdraw_reentered_paysOnce", async () => {
    const world = await createWorld({}, "ReentrantToken");
    const token = await world.viem.getContractAt("ReentrantToken", world.token.address);
    const { vault, mallory } = world;
    await vault.write.deposit([token.address, ETHER], { account: mallory.account });
    const args = [ETHER, token.address] as const;
    await token.write.arm([vault.address, encodeFunctionData({ abi: vault.abi, functionName: "withdraw", args })]);
    const before = await token.read.balanceOf([vault.address]);
    await vault.write.withdraw([2n * ETHER, mallory.account.address], { account: mallory.account });
    expect(await token.read.lastCallSucceeded()).to.equal(false);
    expect(before - (await token.read.balanceOf([vault.address]))).to.equal(2n * ETHER);
  });
});

describe("StakeVault and frozen devices", () => {
  const world = useWorld();

  it("freezing_unlocksNothingEarly", async () => {
    const { vault, worker, manufacturer } = world();
    const subject = chainProgram(4, [1]);
    await submitted(world(), subject, honestTrace(subject));
    await freeze(world(), manufacturer);
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(world().parameters.collateral);
  });

  it("stake_newDeviceOfTrustedMaker_accepted", async () => {
    const { vault, worker, provisioning, manufacturer } = world();
    const device = await provisioning.read.deviceOf([worker.account.address]);
    await freeze(world(), manufacturer, { device });
    await world().viem.assertions.revertWithCustomError(
      vault.write.stake([ETHER], { account: worker.account }),
      vault,
      "NotLive",
    );
    await attest(world(), worker.account.address, new TestDevice(manufacturer));
    await vault.write.stake([ETHER], { account: worker.account });
  });
});
