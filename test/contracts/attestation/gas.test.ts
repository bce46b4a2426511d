import { expect } from "chai";
import { encodeFunctionData } from "viem";
import { provisioningAbi } from "../../../src/chain/abi/provisioning.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { enrol, renew, scopeOf } from "../../../testkit/protocol/reports.ts";
import { signedStatement, TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { gasOf } from "../../../testkit/protocol/world.ts";
import { LIFETIME } from "../../../testkit/protocol/deployWorld.ts";

/** What whole transactions may cost, of a product that has devices already. */
const MAX = { renewal: 60_000, lease: 95_000, enrolment: 130_000 };

describe("Gas of attestations", () => {
  const world = useWorld();
  const { account, fresh, time } = provisioningKit(world);
  const gas = async (sent: Promise<`0x${string}`>) => Number(await gasOf(world(), await sent));

  it("report_renewal_isWithinItsBound", async () => {
    const device = fresh();
    await enrol(world(), account("mallory"), device);
    await renew(world(), account("mallory"), device);
    expect(await gas(renew(world(), account("mallory"), device))).to.be.lessThan(MAX.renewal);
  });

  it("report_firstOfALease_isWithinItsBound_howeverTheLastOneEnded", async () => {
    const { provisioning } = world();
    const [device, other] = [fresh(), fresh()];
    await enrol(world(), account("mallory"), device);
    await time().increase(LIFETIME + 1);
    expect(await gas(renew(world(), account("watcher"), device)), "expired").to.be.lessThan(MAX.lease);
    await provisioning.write.release({ account: account("watcher") });
    await time().increase(86_401);
    expect(await gas(renew(world(), account("stranger"), device)), "released").to.be.lessThan(MAX.lease);
    await enrol(world(), account("requester"), other);
    await provisioning.write.release({ account: account("stranger") });
    await time().increase(86_401);
    expect(await gas(renew(world(), account("requester"), device)), "another given up").to.be.lessThan(MAX.lease);
  });

  it("enrol_ofAProductThatIsKnown_isWithinItsBound", async () => {
    expect(await gas(enrol(world(), account("mallory"), fresh()))).to.be.lessThan(MAX.enrolment);
  });

  it("enrol_ofAFirstDeviceOfAProduct_statements_andRelease_costWhatTheyStore", async () => {
    const { manufacturer, provisioning } = world();
    const device = new TestDevice(manufacturer, { firmware: `0x${"77".repeat(32)}` });
    const words = 22_100;
    expect(await gas(enrol(world(), account("mallory"), device))).to.be.lessThan(MAX.enrolment + 5 * words);
    expect(await gas(provisioning.write.release({ account: account("mallory") }))).to.be.lessThan(40_000);
    const statement = { ...scopeOf({ device: device.id }), frozen: true, number: 1n };
    expect(await gas(provisioning.write.makeStatement(signedStatement(manufacturer, statement)))).to.be.lessThan(
      85_000,
    );
  });

  it("isLive_costsAStakeOrAClaimLittle", async () => {
    const { client, provisioning } = world();
    const data = encodeFunctionData({ abi: provisioningAbi, functionName: "isLive", args: [account("worker")] });
    const live = Number(await client.estimateGas({ account: account("worker"), to: provisioning.address, data }));
    expect(live - 21_000).to.be.lessThan(25_000);
  });
});
