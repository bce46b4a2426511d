import { expect } from "chai";
import { getAddress, zeroAddress, zeroHash } from "viem";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { enrol, renew } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME, GRID_BLOCKS } from "../../../testkit/protocol/deployWorld.ts";

const DAY = 86_400;

describe("Provisioning: leases", () => {
  const world = useWorld();
  const { account, time, fresh, revert, emits, reason, isLive, now } = provisioningKit(world);
  const first = () => account("mallory");
  const second = () => account("watcher");
  const holders = async (device: TestDevice) => {
    const { read } = world().provisioning;
    const devices = [await read.deviceOf([first()]), await read.deviceOf([second()])];
    return [await read.workerOf([device.id]), ...devices.map((id) => (id === device.id ? "its" : id))];
  };

  it("report_forAnotherWorker_whileTheLeaseHolds_isRefusedWithItsHolderAndEnd", async () => {
    const device = fresh();
    await enrol(world(), first(), device);
    const until = (await now()) + LIFETIME;
    await revert(renew(world(), second(), device), "DeviceBacksAnother", [
      device.id,
      getAddress(first()),
      BigInt(until),
    ]);
    await revert(enrol(world(), second(), device), "DeviceBacksAnother");
    expect(await holders(device)).to.deep.equal([getAddress(first()), "its", zeroHash]);
  });

  it("report_forAnotherWorker_fromTheSecondAfterTheLease_takesTheDevice", async () => {
    const device = fresh();
    await enrol(world(), first(), device);
    const until = (await now()) + LIFETIME;
    await time().increaseTo(until - 100);
    // So that a report needs no further block, which would have the time that is set.
    await world().networkHelpers.mine(GRID_BLOCKS);
    const before = await world().networkHelpers.takeSnapshot();
    await time().setNextBlockTimestamp(until);
    await revert(renew(world(), second(), device), "DeviceBacksAnother");
    await before.restore();
    await time().setNextBlockTimestamp(until + 1);
    await emits(renew(world(), second(), device), "LeaseEnded", [getAddress(first()), device.id]);
    expect(await holders(device)).to.deep.equal([getAddress(second()), zeroHash, "its"]);
    expect(await reason(first())).to.deep.equal(["noDevice", 0]);
    expect(await isLive(second())).to.equal(true);
  });

  it("lease_endsWithTheEndorsementIfThatIsEarlier", async () => {
    const notAfter = (await now()) + 1_000;
    const { manufacturer } = world();
    const device = new TestDevice(manufacturer, { notAfter: BigInt(notAfter) });
    await enrol(world(), first(), device);
    expect(await reason(first())).to.deep.equal(["eligible", notAfter]);
    const [accepted] = await world().provisioning.getEvents.ReportAccepted({ device: device.id });
    expect(accepted!.args.until).to.equal(BigInt(notAfter));
    await time().increaseTo(notAfter);
    expect((await holders(device))[0]).to.equal(getAddress(first()));
    await time().increaseTo(notAfter + 1);
    expect((await holders(device))[0]).to.equal(zeroAddress);
    const longer = device.endorsedBy(manufacturer);
    Object.assign(device, { endorsement: longer });
    await enrol(world(), second(), device);
    expect(await isLive(second())).to.equal(true);
  });

  it("release_endsTheLeaseAtOnce_andFreesTheDeviceADayLater", async () => {
    const { provisioning } = world();
    const device = fresh();
    await enrol(world(), first(), device);
    await emits(provisioning.write.release({ account: first() }), "LeaseEnded", [getAddress(first()), device.id]);
    expect(await holders(device)).to.deep.equal([zeroAddress, zeroHash, zeroHash]);
    expect(await reason(first())).to.deep.equal(["noDevice", 0]);
    const free = (await now()) + DAY;
    for (const worker of [first(), second()])
      await revert(renew(world(), worker, device), "DeviceBacksAnother", [device.id, zeroAddress, BigInt(free)]);
    await time().increaseTo(free);
    await renew(world(), second(), device);
    expect(await holders(device)).to.deep.equal([getAddress(second()), zeroHash, "its"]);
  });

  it("oneDevice_inTurns_backsOneWorkerADay", async () => {
    const { provisioning } = world();
    const device = fresh();
    for (const worker of [first(), second(), first()]) {
      await enrol(world(), worker, device);
      await provisioning.write.release({ account: worker });
      await revert(enrol(world(), account("stranger"), device), "DeviceBacksAnother");
      await time().increase(DAY + 1);
    }
  });

  it("release_shortlyBeforeTheLeaseEnds_doesNotProlongIt", async () => {
    const device = fresh();
    await enrol(world(), first(), device);
    await time().increase(LIFETIME - 100);
    await world().provisioning.write.release({ account: first() });
    await time().increase(100);
    await renew(world(), second(), device);
    expect(await isLive(second())).to.equal(true);
  });

  it("release_withoutALease_isRefused", async () => {
    const { provisioning } = world();
    const device = fresh();
    const release = (by: `0x${string}`) => provisioning.write.release({ account: by });
    await revert(release(first()), "NoLease", [getAddress(first())]);
    await enrol(world(), first(), device);
    await release(first());
    await revert(release(first()), "NoLease");
    await time().increase(DAY + 1);
    await renew(world(), first(), device);
    await time().increase(LIFETIME + 1);
    await renew(world(), second(), device);
    // It is no longer the first one's to give.
    await revert(release(first()), "NoLease");
    expect(await isLive(second())).to.equal(true);
  });

  it("report_withAnotherDevice_givesTheOldOneUp", async () => {
    const [old, next] = [fresh(), fresh()];
    await enrol(world(), first(), old);
    await emits(enrol(world(), first(), next), "LeaseEnded", [getAddress(first()), old.id]);
    const { read } = world().provisioning;
    expect(await read.deviceOf([first()])).to.equal(next.id);
    expect(await read.workerOf([old.id])).to.equal(zeroAddress);
    await time().increase(DAY + 1);
    await renew(world(), second(), old);
    expect([await isLive(first()), await isLive(second())]).to.deep.equal([true, true]);
  });

  it("report_withAnotherDevice_leavesADeviceAloneThatIsAnothersByNow", async () => {
    const [old, next] = [fresh(), fresh()];
    await enrol(world(), first(), old);
    await time().increase(LIFETIME + 1);
    await renew(world(), second(), old);
    await enrol(world(), first(), next);
    expect([await isLive(first()), await isLive(second())]).to.deep.equal([true, true]);
    expect(await world().provisioning.read.workerOf([old.id])).to.equal(getAddress(second()));
  });

  it("lease_thatEnded_isItsWorkersAgainByAReport", async () => {
    const device = fresh();
    await enrol(world(), first(), device);
    await time().increase(LIFETIME + 1);
    expect((await reason(first()))[0]).to.equal("reportExpired");
    await renew(world(), first(), device);
    expect(await isLive(first())).to.equal(true);
  });

  it("twoWorkersWithOneDevice_areNeverLiveTogether", async () => {
    const device = fresh();
    await enrol(world(), first(), device);
    for (const worker of [second(), first(), second()]) {
      await time().increase(LIFETIME + 1);
      await renew(world(), worker, device);
      const live = [await isLive(first()), await isLive(second())];
      expect(live).to.deep.equal([worker === first(), worker === second()]);
    }
  });
});
