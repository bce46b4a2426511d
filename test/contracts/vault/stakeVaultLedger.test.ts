import { expect } from "chai";
import { zeroAddress } from "viem";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { ETHER, type Actor } from "../../../testkit/protocol/deployWorld.ts";

const DELAY = 1_000n;

/** A vault of its own, whose market is the deployer. */
describe("StakeVault: every move of its ledger", () => {
  const world = useWorld();

  async function setUp() {
    const w = world();
    const { viem, token, provisioning, worker, watcher } = w;
    const market = w.deployer.account.address;
    const vault = await viem.deployContract("StakeVault", [token.address, provisioning.address, DELAY, market]);
    await token.write.approve([vault.address, 2n ** 255n], { account: worker.account });
    await vault.write.deposit([worker.account.address, 10n * ETHER], { account: worker.account });
    const account = async (actor: Actor = worker) => {
      const [credit, staked, locked, withdrawing, readyAt] = await vault.read.accountOf([actor.account.address]);
      return { credit, staked, locked, withdrawing, readyAt };
    };
    const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
      viem.assertions.revertWithCustomError(sent, vault, name as never);
    const emits = (sent: Promise<`0x${string}`>, name: string, args: unknown[]): Promise<void> =>
      viem.assertions.emitWithArgs(sent, vault, name as never, args as never);
    return {
      ...w,
      vault,
      account,
      revert,
      emits,
      by: { account: worker.account },
      who: worker.account.address,
      watcher,
    };
  }

  it("deploy_withoutAssetOrProvisioning_reverts", async () => {
    const { viem, token, provisioning } = world();
    const deploy = (asset: `0x${string}`, attestation: `0x${string}`) =>
      refusalOf(viem.deployContract("StakeVault", [asset, attestation, DELAY, token.address]));
    expect(await deploy(zeroAddress, provisioning.address)).to.include("NoCode");
    expect(await deploy(token.address, zeroAddress)).to.include("NoCode");
  });

  it("deposit_emitsWhoPaidForWhom", async () => {
    const { vault, emits, by, who, watcher, account } = await setUp();
    const receiver = watcher.account.address;
    await emits(vault.write.deposit([receiver, 3n], by), "Deposited", [who, receiver, 3n]);
    expect((await account(watcher)).credit).to.equal(3n);
  });

  it("withdraw_allCredit_leavesNothing", async () => {
    const { vault, emits, by, who, watcher, account, revert } = await setUp();
    const to = watcher.account.address;
    await emits(vault.write.withdraw([10n * ETHER, to], by), "Withdrawn", [who, to, 10n * ETHER]);
    expect((await account()).credit).to.equal(0n);
    await revert(vault.write.withdraw([1n, to], by), "InsufficientCredit");
  });

  it("takeAndGive_moveCreditThroughCustody", async () => {
    const { vault, emits, who, account, watcher, revert } = await setUp();
    await emits(vault.write.take([who, 4n]), "Taken", [who, 4n]);
    expect([await vault.read.custody(), (await account()).credit]).to.deep.equal([4n, 10n * ETHER - 4n]);
    const other = watcher.account.address;
    await emits(vault.write.give([other, 1n]), "Given", [other, 1n]);
    expect([await vault.read.custody(), (await account(watcher)).credit]).to.deep.equal([3n, 1n]);
    await revert(vault.write.give([other, 4n]), "InsufficientCustody");
    await vault.write.give([other, 3n]);
    expect([await vault.read.custody(), (await account(watcher)).credit]).to.deep.equal([0n, 4n]);
  });

  it("take_allCredit_butNoMore", async () => {
    const { vault, who, account, revert } = await setUp();
    await revert(vault.write.take([who, 10n * ETHER + 1n]), "InsufficientCredit");
    await vault.write.take([who, 10n * ETHER]);
    expect([await vault.read.custody(), (await account()).credit]).to.deep.equal([10n * ETHER, 0n]);
  });

  it("lockAndUnlock_keepStakeInPlace", async () => {
    const { vault, emits, by, who, account, revert } = await setUp();
    await emits(vault.write.stake([6n], by), "Staked", [who, 6n]);
    await emits(vault.write.lock([who, 2n]), "Locked", [who, 2n]);
    await revert(vault.write.lock([who, 5n]), "InsufficientFreeStake");
    await vault.write.lock([who, 4n]);
    await revert(vault.write.lock([who, 1n]), "InsufficientFreeStake");
    await revert(vault.write.requestWithdraw([1n], by), "InsufficientFreeStake");
    expect(await account()).to.deep.include({ staked: 6n, locked: 6n });
    await emits(vault.write.unlock([who, 5n]), "Unlocked", [who, 5n]);
    await revert(vault.write.unlock([who, 2n]), "InsufficientLocked");
    await vault.write.unlock([who, 1n]);
    expect(await account()).to.deep.include({ staked: 6n, locked: 0n, credit: 10n * ETHER - 6n });
    expect(await vault.read.custody()).to.equal(0n);
  });

  it("slash_takesLockedStakeIntoCustody", async () => {
    const { vault, emits, by, who, account, revert } = await setUp();
    await vault.write.stake([9n], by);
    await vault.write.lock([who, 5n]);
    await emits(vault.write.slash([who, 2n, false]), "Slashed", [who, 2n]);
    expect(await account()).to.deep.include({ staked: 7n, locked: 3n });
    await revert(vault.write.slash([who, 4n, false]), "InsufficientLocked");
    await vault.write.slash([who, 3n, false]);
    expect(await account()).to.deep.include({ staked: 4n, locked: 0n });
    expect(await vault.read.custody()).to.equal(5n);
  });

  it("unstake_fromTheSecondItIsReady", async () => {
    const { vault, emits, by, who, account, revert, networkHelpers } = await setUp();
    await vault.write.stake([9n], by);
    await networkHelpers.time.increase(100);
    const asked = BigInt(await networkHelpers.time.latest()) + 1n;
    await networkHelpers.time.setNextBlockTimestamp(asked);
    await emits(vault.write.requestWithdraw([4n], by), "WithdrawalRequested", [who, 4n, asked + DELAY]);
    expect(await account()).to.deep.include({ staked: 5n, withdrawing: 4n, readyAt: asked + DELAY });
    await networkHelpers.time.setNextBlockTimestamp(asked + DELAY - 1n);
    await revert(vault.write.unstake(by), "WithdrawalNotReady");
    await networkHelpers.time.setNextBlockTimestamp(asked + DELAY);
    await emits(vault.write.unstake(by), "Unstaked", [who, 4n]);
    expect(await account()).to.deep.equal({
      credit: 10n * ETHER - 5n,
      staked: 5n,
      locked: 0n,
      withdrawing: 0n,
      readyAt: 0n,
    });
  });

  it("aWorkersRecord_beginsWithItsFirstStake_andAnewAfterItHadNone", async () => {
    const { vault, by, who, networkHelpers } = await setUp();
    const { time } = networkHelpers;
    const minute = (at: number): bigint => BigInt(Math.floor(at / 60) * 60);
    const stakeAt = async (at: number): Promise<void> => {
      await time.setNextBlockTimestamp(at);
      await vault.write.stake([5n], by);
    };
    const first = (await time.latest()) + 10_000;
    await stakeAt(first);
    expect(await vault.read.recordOf([who])).to.deep.equal([minute(first), 0n, 0n]);
    await stakeAt(first + 3_600);
    expect((await vault.read.recordOf([who]))[0]).to.equal(minute(first));
    await vault.write.requestWithdraw([10n], by);
    await stakeAt(first + 7_200);
    expect((await vault.read.recordOf([who]))[0]).to.equal(minute(first + 7_200));
  });
});
