import { expect } from "chai";
import { getAddress } from "viem";
import { SoftwareDevice } from "../../../src/provisioning/device.ts";
import { generateKey } from "../../../src/provisioning/keys.ts";
import { SoftwareManufacturer } from "../../../src/provisioning/manufacturer.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { attest, LIFETIME, signedReport } from "../../../testkit/protocol/world.ts";

const IDENTIFICATION = 0;
const PROVISIONING = 1;

/** One device that several manufacturers endorse. @returns It, as one of them endorses it. */
function deviceOfSeveral(): (manufacturer: SoftwareManufacturer) => SoftwareDevice {
  const key = generateKey();
  let counter = 0n;
  return (manufacturer) => new SoftwareDevice(manufacturer, { key, counter, saveCounter: (last) => (counter = last) });
}

describe("Provisioning", () => {
  const world = useWorld();
  const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
    world().viem.assertions.revertWithCustomError(sent, world().provisioning, name as never);
  const fresh = (): SoftwareDevice => new SoftwareDevice(world().manufacturer);
  const mallory = () => world().mallory.account.address;
  const submit = (signed: Awaited<ReturnType<typeof signedReport>>) =>
    world().provisioning.write.submitReport([signed.report, signed.quote], { account: signed.report.worker });

  it("isLive_needsBothReports", async () => {
    const { provisioning } = world();
    const device = fresh();
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    await submit(await signedReport(world(), mallory(), device, IDENTIFICATION));
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    await submit(await signedReport(world(), mallory(), device, PROVISIONING));
    expect(await provisioning.read.isLive([mallory()])).to.equal(true);
    expect(await provisioning.read.deviceOf([mallory()])).to.equal(device.id);
  });

  it("isLive_afterExpiry_false", async () => {
    const { provisioning, worker, networkHelpers } = world();
    expect(await provisioning.read.isLive([worker.account.address])).to.equal(true);
    await networkHelpers.time.increase(LIFETIME);
    expect(await provisioning.read.isLive([worker.account.address])).to.equal(false);
  });

  it("isLive_twoDevicesWithOneReportEach_false", async () => {
    const { provisioning } = world();
    await submit(await signedReport(world(), mallory(), fresh(), IDENTIFICATION));
    await submit(await signedReport(world(), mallory(), fresh(), PROVISIONING));
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
  });

  it("submitReport_replayed_reverts", async () => {
    const signed = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    await submit(signed);
    await revert(submit(signed), "WrongNonce");
  });

  it("submitReport_supersededNonce_reverts", async () => {
    const device = fresh();
    const signed = await signedReport(world(), mallory(), device, IDENTIFICATION);
    await signedReport(world(), mallory(), device, IDENTIFICATION);
    await revert(submit(signed), "WrongNonce");
  });

  it("submitReport_nonceOfTheOtherKind_reverts", async () => {
    const signed = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    await revert(submit({ ...signed, report: { ...signed.report, kind: PROVISIONING } }), "WrongNonce");
  });

  it("submitReport_oldNonce_reverts", async () => {
    const signed = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    await world().networkHelpers.time.increase(3_700);
    await revert(submit(signed), "NonceTooOld");
  });

  it("submitReport_forgedContent_reverts", async () => {
    const signed = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    const forged = { ...signed, report: { ...signed.report, expiry: signed.report.expiry - 1n } };
    await world().viem.assertions.revertWithCustomError(
      submit(forged),
      await world().viem.getContractAt("DongleQuoteVerifier", world().quoteVerifier.address),
      "BadSignature",
    );
  });

  it("submitReport_forgedEndorsement_reverts", async () => {
    const { quote } = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    const signed = await signedReport(world(), mallory(), fresh(), IDENTIFICATION);
    // The endorsement (words 2 and 3) of another device.
    const mixed = `0x${signed.quote.slice(2, 130)}${quote.slice(130, 258)}${signed.quote.slice(258)}` as const;
    await world().viem.assertions.revertWithCustomError(
      submit({ ...signed, quote: mixed }),
      await world().viem.getContractAt("DongleQuoteVerifier", world().quoteVerifier.address),
      "BadEndorsement",
    );
  });

  it("submitReport_unknownManufacturer_reverts", async () => {
    const device = new SoftwareDevice(new SoftwareManufacturer());
    await revert(submit(await signedReport(world(), mallory(), device, IDENTIFICATION)), "ManufacturerNotTrusted");
  });

  it("submitReport_addedManufacturer_accepted", async () => {
    const { provisioning, registrar } = world();
    const maker = new SoftwareManufacturer();
    await provisioning.write.addManufacturer([maker.id], { account: registrar.account });
    await attest(world(), mallory(), new SoftwareDevice(maker));
    expect(await provisioning.read.isLive([mallory()])).to.equal(true);
  });

  it("submitReport_underASecondManufacturer_doesNotReviveAReportUnderARevokedOne", async () => {
    const { provisioning, registrar, manufacturer } = world();
    const second = new SoftwareManufacturer();
    await provisioning.write.addManufacturer([second.id], { account: registrar.account });
    const under = deviceOfSeveral();
    await submit(await signedReport(world(), mallory(), under(manufacturer), IDENTIFICATION));
    await provisioning.write.revokeManufacturer([manufacturer.id], { account: registrar.account });
    await submit(await signedReport(world(), mallory(), under(second), PROVISIONING));
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    const [identification, provisioned] = await provisioning.read.expiries([mallory()]);
    expect(identification).to.equal(0n);
    expect(Number(provisioned)).to.be.greaterThan(0);
    await submit(await signedReport(world(), mallory(), under(second), IDENTIFICATION));
    expect(await provisioning.read.isLive([mallory()])).to.equal(true);
  });

  it("isLive_oneDeviceUnderTwoTrustedManufacturersWithOneReportEach_false", async () => {
    const { provisioning, registrar, manufacturer } = world();
    const second = new SoftwareManufacturer();
    await provisioning.write.addManufacturer([second.id], { account: registrar.account });
    const under = deviceOfSeveral();
    await submit(await signedReport(world(), mallory(), under(manufacturer), IDENTIFICATION));
    await submit(await signedReport(world(), mallory(), under(second), PROVISIONING));
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    // Back under the first one, the report of the second does not count either.
    await submit(await signedReport(world(), mallory(), under(manufacturer), IDENTIFICATION));
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    await submit(await signedReport(world(), mallory(), under(manufacturer), PROVISIONING));
    expect(await provisioning.read.isLive([mallory()])).to.equal(true);
  });

  it("submitReport_deviceOfAnotherWorker_reverts", async () => {
    const device = fresh();
    await attest(world(), mallory(), device);
    const watcher = world().watcher.account.address;
    await revert(submit(await signedReport(world(), watcher, device, IDENTIFICATION)), "DeviceBacksAnother");
    expect(await world().provisioning.read.workerOf([device.id])).to.equal(getAddress(mallory()));
  });

  it("submitReport_byAnotherThanTheWorker_cannotTakeItsNonceNorItsAttestation", async () => {
    const { provisioning, worker } = world();
    const victim = worker.account.address;
    // Anybody's own endorsed device can sign a report that names the victim and its nonce, which is public.
    const { report, quote } = await signedReport(world(), victim, fresh(), IDENTIFICATION);
    await revert(provisioning.write.submitReport([report, quote], { account: mallory() }), "NotTheWorker");
    expect(await provisioning.read.isLive([victim])).to.equal(true);
  });

  it("submitReport_counterNotHigher_reverts", async () => {
    const device = fresh();
    const first = await signedReport(world(), mallory(), device, IDENTIFICATION);
    await submit(await signedReport(world(), mallory(), device, PROVISIONING));
    await revert(submit(first), "CounterNotHigher");
  });

  it("submitReport_expiredOrTooLong_reverts", async () => {
    const { networkHelpers, provisioning, chainId } = world();
    const device = fresh();
    const { report } = await signedReport(world(), mallory(), device, IDENTIFICATION);
    const now = await networkHelpers.time.latest();
    const domain = { chainId, provisioning: provisioning.address };
    await revert(submit(device.sign(domain, { ...report, expiry: BigInt(now) })), "ReportExpired");
    await revert(submit(device.sign(domain, { ...report, expiry: BigInt(now + LIFETIME + 100) })), "ReportTooLong");
  });

  it("submitReport_otherChainOrContract_reverts", async () => {
    const { provisioning, chainId, viem } = world();
    const device = fresh();
    const { report } = await signedReport(world(), mallory(), device, IDENTIFICATION);
    const verifier = await viem.getContractAt("DongleQuoteVerifier", world().quoteVerifier.address);
    const otherChain = device.sign({ chainId: chainId + 1, provisioning: provisioning.address }, report);
    await viem.assertions.revertWithCustomError(submit(otherChain), verifier, "BadSignature");
    const otherContract = device.sign({ chainId, provisioning: verifier.address }, report);
    await viem.assertions.revertWithCustomError(submit(otherContract), verifier, "BadSignature");
  });

  it("revokedDevice_isNotLiveAndReportsNoMore", async () => {
    const { provisioning, registrar } = world();
    const device = fresh();
    await attest(world(), mallory(), device);
    await provisioning.write.revokeDevice([device.id], { account: registrar.account });
    expect(await provisioning.read.isLive([mallory()])).to.equal(false);
    await revert(submit(await signedReport(world(), mallory(), device, IDENTIFICATION)), "DeviceIsRevoked");
  });

  it("revokedManufacturer_isOutForGood", async () => {
    const { provisioning, registrar, worker, manufacturer } = world();
    await provisioning.write.revokeManufacturer([manufacturer.id], { account: registrar.account });
    expect(await provisioning.read.isLive([worker.account.address])).to.equal(false);
    await revert(
      provisioning.write.addManufacturer([manufacturer.id], { account: registrar.account }),
      "ManufacturerExists",
    );
    await revert(submit(await signedReport(world(), mallory(), fresh(), IDENTIFICATION)), "ManufacturerNotTrusted");
  });

  it("registry_byAnybodyButTheRegistrar_reverts", async () => {
    const { provisioning } = world();
    const options = { account: mallory() };
    const id = `0x${"11".repeat(32)}` as const;
    await revert(provisioning.write.addManufacturer([id], options), "NotRegistrar");
    await revert(provisioning.write.revokeManufacturer([id], options), "NotRegistrar");
    await revert(provisioning.write.revokeDevice([id], options), "NotRegistrar");
    await revert(
      provisioning.write.addManufacturer([`0x${"00".repeat(32)}`], { account: world().registrar.account }),
      "ZeroManufacturer",
    );
  });
});
