import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { StatementScope, type Statement } from "../../../src/chain/structs.ts";
import { SoftwareManufacturer } from "../../../src/attestation/manufacturer.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { enrol, freeze, scopeOf, type Subject } from "../../../testkit/protocol/reports.ts";
import { signedStatement, TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const OTHER: Hex = `0x${"ab".repeat(32)}`;

describe("Provisioning: statements of manufacturers", () => {
  const world = useWorld();
  const { account, time, fresh, revert, emits, reason, isLive, now } = provisioningKit(world);
  const who = () => account("mallory");
  const bring = (maker: SoftwareManufacturer, statement: Statement) =>
    world().provisioning.write.makeStatement(signedStatement(maker, statement), { account: account("stranger") });
  const all = (frozen: boolean, number: bigint): Statement => ({ ...scopeOf(undefined), frozen, number });

  it("makeStatement_eachScope_freezesAndThaws_withItsReason", async () => {
    const { manufacturer, provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const scopes: [Subject, string][] = [
      [undefined, "manufacturerFrozen"],
      [{ firmware: device.firmware }, "firmwareFrozen"],
      [{ device: device.id }, "deviceFrozen"],
    ];
    for (const [about, name] of scopes) {
      await freeze(world(), manufacturer, about);
      const since = await now();
      expect(await reason(who())).to.deep.equal([name, since]);
      const { scope, subject } = scopeOf(about);
      expect(await provisioning.read.statementOf([manufacturer.id, scope, subject])).to.deep.equal([
        true,
        1n,
        BigInt(since),
      ]);
      await freeze(world(), manufacturer, about, false);
      expect((await reason(who()))[0]).to.equal("eligible");
    }
  });

  it("makeStatement_severalOfOneScope_freezeUntilTheLastOfTheSubjectThaws", async () => {
    const { manufacturer } = world();
    const [device, other] = [fresh(), fresh()];
    await enrol(world(), who(), device);
    for (const id of [other.id, device.id, device.id, other.id]) await freeze(world(), manufacturer, { device: id });
    await freeze(world(), manufacturer, { device: other.id }, false);
    await freeze(world(), manufacturer, { device: other.id }, false);
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
    await freeze(world(), manufacturer, { device: device.id }, false);
    expect((await reason(who()))[0]).to.equal("eligible");
    await freeze(world(), manufacturer, { device: device.id });
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
  });

  it("makeStatement_emitsWhatItSays_andNumbersMayHaveGaps", async () => {
    const { manufacturer } = world();
    const args = [manufacturer.id, StatementScope.all, zeroHash, true, 7n];
    await emits(bring(manufacturer, all(true, 7n)), "StatementMade", args);
    await emits(bring(manufacturer, all(false, 2n ** 64n - 1n)), "StatementMade", [
      ...args.slice(0, 3),
      false,
      2n ** 64n - 1n,
    ]);
  });

  it("makeStatement_equalOrLowerNumber_isRefused", async () => {
    const { manufacturer } = world();
    await revert(bring(manufacturer, all(true, 0n)), "NumberNotHigher", [0n, 0n]);
    await bring(manufacturer, all(true, 5n));
    await bring(manufacturer, all(false, 6n));
    // The one before it, which anybody can bring again, and another of the same number.
    await revert(bring(manufacturer, all(true, 5n)), "NumberNotHigher", [6n, 5n]);
    await revert(bring(manufacturer, all(true, 6n)), "NumberNotHigher", [6n, 6n]);
    await enrol(world(), who(), fresh());
    expect(await isLive(who())).to.equal(true);
  });

  it("makeStatement_numbers_areOfOneSubjectEach", async () => {
    const { manufacturer } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    await bring(manufacturer, all(false, 100n));
    await freeze(world(), manufacturer, { device: device.id });
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
    await freeze(world(), manufacturer, { device: OTHER }, false);
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
  });

  it("makeStatement_ofAnUnknownManufacturer_isRefused", async () => {
    const maker = new SoftwareManufacturer();
    await revert(bring(maker, all(true, 1n)), "ManufacturerNotTrusted", [maker.id]);
  });

  it("makeStatement_signedByAnother_orOtherwise_isRefused", async () => {
    const { manufacturer, rival, provisioning } = world();
    const statement = all(true, 1n);
    const by = { account: account("stranger") };
    const send = (changed: Statement, signature = manufacturer.state(statement)) =>
      provisioning.write.makeStatement([changed, manufacturer.publicKey, signature], by);
    const bad = (sent: Promise<unknown>) => revert(sent, "BadStatement", [manufacturer.id]);
    await bad(send(statement, rival.state(statement)));
    await bad(send({ ...statement, frozen: false }));
    await bad(send({ ...statement, number: 2n }));
    await bad(send({ ...statement, ...scopeOf({ device: OTHER }) }));
    await bad(send({ ...statement, scope: StatementScope.firmware }));
    await send(statement);
  });

  it("makeStatement_aboutAllDevices_hasNoSubject", async () => {
    const { manufacturer } = world();
    const statement = { scope: StatementScope.all, subject: OTHER, frozen: true, number: 1n };
    await revert(bring(manufacturer, statement), "WrongSubject", [OTHER]);
  });

  it("makeStatement_aboutAnothersDevices_changesNothingForThem", async () => {
    const { manufacturer, rival, worker } = world();
    const device = fresh(rival);
    await enrol(world(), who(), device);
    const { firmware } = device;
    for (const about of [undefined, { firmware }, { device: device.id }]) await freeze(world(), manufacturer, about);
    expect((await reason(who()))[0]).to.equal("eligible");
    // Its own worker is out, by the first of the three that is about its device.
    expect((await reason(worker.account.address))[0]).to.equal("firmwareFrozen");
  });

  it("makeStatement_aboutADeviceToCome_countsFromItsFirstReportOn", async () => {
    const { manufacturer } = world();
    const device = fresh();
    await freeze(world(), manufacturer, { device: device.id });
    await enrol(world(), who(), device);
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
    await freeze(world(), manufacturer, { device: device.id }, false);
    expect((await reason(who()))[0]).to.equal("eligible");
  });

  it("makeStatement_ofTheFormerManufacturer_doesNotFollowADeviceToItsNextOne", async () => {
    const { manufacturer, rival } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    await freeze(world(), manufacturer, { device: device.id });
    Object.assign(device, { endorsement: device.endorsedBy(rival) });
    await enrol(world(), who(), device);
    expect((await reason(who()))[0]).to.equal("eligible");
    await freeze(world(), rival, { device: device.id });
    expect((await reason(who()))[0]).to.equal("deviceFrozen");
  });

  it("makeStatement_aboutAFirmware_leavesOtherFirmwareAlone", async () => {
    const { manufacturer, worker } = world();
    await enrol(world(), who(), new TestDevice(manufacturer, { firmware: OTHER }));
    await freeze(world(), manufacturer, { firmware: OTHER });
    expect((await reason(who()))[0]).to.equal("firmwareFrozen");
    expect((await reason(worker.account.address))[0]).to.equal("eligible");
  });

  it("whyNotEligible_severalReasons_givesTheFirstOfItsOrder", async () => {
    const { manufacturer } = world();
    const notAfter = (await now()) + 2_000;
    const device = new TestDevice(manufacturer, { notAfter: BigInt(notAfter) });
    await enrol(world(), who(), device);
    await time().increaseTo(notAfter + 1);
    const seen = [(await reason(who()))[0]];
    for (const about of [undefined, { firmware: device.firmware }, { device: device.id }]) {
      await freeze(world(), manufacturer, about);
      seen.push((await reason(who()))[0]);
    }
    expect(seen).to.deep.equal(["endorsementExpired", "manufacturerFrozen", "firmwareFrozen", "deviceFrozen"]);
  });

  it("whyNotEligible_untilTheSecondInWhichTheReportEnds", async () => {
    const device = fresh();
    expect(await reason(who())).to.deep.equal(["noDevice", 0]);
    await enrol(world(), who(), device);
    const { reportUntil } = await world().provisioning.read.deviceInfo([device.id]);
    await time().increaseTo(reportUntil);
    expect(await reason(who())).to.deep.equal(["eligible", Number(reportUntil)]);
    await time().increase(1);
    expect(await reason(who())).to.deep.equal(["reportExpired", Number(reportUntil)]);
    expect(await isLive(who())).to.equal(false);
  });
});
