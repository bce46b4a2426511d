import { expect } from "chai";
import type { Hex } from "viem";
import type { Endorsement } from "../../../src/chain/structs.ts";
import { SoftwareManufacturer } from "../../../src/attestation/manufacturer.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { enrol, signedReport } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME } from "../../../testkit/protocol/deployWorld.ts";

const OTHER: Hex = `0x${"ab".repeat(32)}`;

describe("Provisioning: endorsements", () => {
  const world = useWorld();
  const { account, time, fresh, revert, report, reason, isLive, now } = provisioningKit(world);
  const who = () => account("mallory");
  const bring = async (device: TestDevice, endorsement: Endorsement) => {
    const { report: r, signature } = await signedReport(world(), who(), device, { firmware: device.firmware });
    return world().provisioning.write.enrol([endorsement, r, signature], { account: who() });
  };

  it("enrol_unknownManufacturer_isRefused", async () => {
    const maker = new SoftwareManufacturer();
    await revert(enrol(world(), who(), fresh(maker)), "ManufacturerNotTrusted", [maker.id]);
  });

  it("enrol_endorsementOfAnotherDevice_isRefused", async () => {
    const { manufacturer } = world();
    const device = fresh();
    await revert(bring(device, fresh().endorsement), "BadEndorsement", [manufacturer.id, device.id]);
  });

  it("enrol_endorsementWithOtherTerms_isRefused", async () => {
    const device = fresh();
    const { endorsement } = device;
    await revert(bring(device, { ...endorsement, model: OTHER }), "BadEndorsement");
    await revert(bring(device, { ...endorsement, notAfter: endorsement.notAfter + 1n }), "BadEndorsement");
    await revert(bring(device, { ...endorsement, firmware: OTHER }), "WrongFirmware", [OTHER, device.firmware]);
    await bring(device, endorsement);
  });

  it("enrol_endorsementUntilNow_isTaken_andASecondLaterRefused", async () => {
    const notAfter = (await now()) + 1_000;
    const device = new TestDevice(world().manufacturer, { notAfter: BigInt(notAfter) });
    const before = await world().networkHelpers.takeSnapshot();
    const signed = await signedReport(world(), who(), device);
    const send = () =>
      world().provisioning.write.enrol([device.endorsement, signed.report, signed.signature], { account: who() });
    await time().setNextBlockTimestamp(notAfter + 1);
    await revert(send(), "EndorsementIsOver", [BigInt(notAfter)]);
    await before.restore();
    const again = await signedReport(world(), who(), device);
    await time().setNextBlockTimestamp(notAfter);
    await world().provisioning.write.enrol([device.endorsement, again.report, again.signature], { account: who() });
    expect(await isLive(who())).to.equal(true);
    await time().increase(1);
    expect(await reason(who())).to.deep.equal(["endorsementExpired", notAfter]);
  });

  it("report_afterItsEndorsement_isRefused_untilANewOneIsBrought", async () => {
    const { manufacturer } = world();
    const notAfter = (await now()) + 1_000;
    const device = new TestDevice(manufacturer, { notAfter: BigInt(notAfter) });
    await enrol(world(), who(), device);
    await time().increaseTo(notAfter + 1);
    const late = await signedReport(world(), who(), device);
    await revert(report(late), "EndorsementIsOver", [BigInt(notAfter)]);
    await bring(device, device.endorsedBy(manufacturer, { notAfter: BigInt(notAfter + LIFETIME) }));
    expect(await isLive(who())).to.equal(true);
  });

  it("enrol_aKnownDeviceUnderAnotherManufacturer_isThatOnes", async () => {
    const { manufacturer, rival, provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    expect((await provisioning.read.deviceInfo([device.id])).manufacturer).to.equal(manufacturer.id);
    await bring(device, device.endorsedBy(rival));
    const info = await provisioning.read.deviceInfo([device.id]);
    expect([info.manufacturer, info.seq]).to.deep.equal([rival.id, 2n]);
  });

  it("enrol_newFirmware_needsItsEndorsementAndItsReport", async () => {
    const { manufacturer, provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const updated = device.endorsedBy(manufacturer, { firmware: OTHER });
    const signed = await signedReport(world(), who(), device, { firmware: OTHER });
    await revert(report(signed), "WrongFirmware", [device.firmware, OTHER]);
    await provisioning.write.enrol([updated, signed.report, signed.signature], { account: who() });
    expect((await provisioning.read.deviceInfo([device.id])).firmware).to.equal(OTHER);
    await revert(report(await signedReport(world(), who(), device)), "WrongFirmware", [OTHER, device.firmware]);
  });

  it("enrol_twoDevicesOfOneProduct_areOfTheSame_andOthersAreNot", async () => {
    const { manufacturer, rival, provisioning } = world();
    const devices = [fresh(), fresh(), fresh(rival), new TestDevice(manufacturer, { firmware: OTHER })];
    for (const device of devices) await enrol(world(), who(), device);
    const infos = await Promise.all(devices.map(({ id }) => provisioning.read.deviceInfo([id])));
    expect(infos.map((info) => info.manufacturer)).to.deep.equal([
      manufacturer.id,
      manufacturer.id,
      rival.id,
      manufacturer.id,
    ]);
    expect(infos.map(({ firmware }) => firmware)).to.deep.equal(devices.map(({ firmware }) => firmware));
  });
});
