import { expect } from "chai";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

describe("WrappedEther", () => {
  const world = useWorld();

  it("depositAndWithdraw_moveEther", async () => {
    const { viem, client, worker } = world();
    const weth = await viem.deployContract("WrappedEther");
    const by = { account: worker.account };
    await weth.write.deposit({ ...by, value: 3n * ETHER });
    expect(await weth.read.balanceOf([worker.account.address])).to.equal(3n * ETHER);
    await weth.write.withdraw([ETHER], by);
    expect(await weth.read.balanceOf([worker.account.address])).to.equal(2n * ETHER);
    expect(await client.getBalance({ address: weth.address })).to.equal(2n * ETHER);
  });

  it("withdraw_byAContractThatTakesNoEther_reverts", async () => {
    const { viem, networkHelpers, client, market } = world();
    const weth = await viem.deployContract("WrappedEther");
    await networkHelpers.impersonateAccount(market.address);
    await networkHelpers.setBalance(market.address, 2n * ETHER);
    const asMarket = await viem.getContractAt("WrappedEther", weth.address, {
      client: { public: client, wallet: await viem.getWalletClient(market.address) },
    });
    await asMarket.write.deposit({ value: ETHER });
    await viem.assertions.revertWithCustomError(asMarket.write.withdraw([ETHER]), weth, "EtherNotSent");
  });
});
