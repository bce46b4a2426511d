import { expect } from "chai";
import { encodeAbiParameters, keccak256, parseAbiParameters, zeroHash } from "viem";
import { SoftwareDevice } from "../../../src/provisioning/device.ts";
import { generateKey } from "../../../src/provisioning/keys.ts";
import { SoftwareManufacturer } from "../../../src/provisioning/manufacturer.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { attest, LIFETIME, signedReport } from "../../../testkit/protocol/world.ts";

const IDENTIFICATION = 0;
const PROVISIONING = 1;
const NONCE_LIFETIME = 3_600;

describe("Provisioning: edges, events, what is stored", () => {
  const world = useWorld();
  const who = () => world().mallory.account.address;
  const fresh = (): SoftwareDevice => new SoftwareDevice(world().manufacturer);
  const time = () => world().networkHelpers.time;
  const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
    world().viem.assertions.revertWithCustomError(sent, world().provisioning, name as never);
  const emits = (sent: Promise<`0x${string}`>, name: string, args: unknown[]): Promise<void> =>
    world().viem.assertions.emitWithArgs(sent, world().provisioning, name as never, args as never);
  const submit = (signed: Awaited<ReturnType<typeof signedReport>>) =>
    world().provisioning.write.submitReport([signed.report, signed.quote], { account: signed.report.worker });
  /** A report of some kind that expires when it is told to. */
  async function reportUntil(expiry: number, device = fresh(), kind = IDENTIFICATION) {
    const { report } = await signedReport(world(), who(), device, kind);
    const { chainId, provisioning } = world();
    return device.sign({ chainId, provisioning: provisioning.address }, { ...report, expiry: BigInt(expiry) });
  }

  it("deploy_withoutAQuoteVerifier_reverts", async () => {
    const { viem, registrar, mallory } = world();
    const args = [mallory.account.address, registrar.account.address, [], 1n, 1n] as const;
    const failure = await viem.deployContract("Provisioning", [...args]).then(
      () => "deployed",
      (e: Error) => e.message,
    );
    expect(failure).to.include("NoCode");
  });

  it("deploy_withAZeroLifetime_reverts", async () => {
    const { viem, quoteVerifier, registrar, manufacturer, provisioning } = world();
    const deploy = (nonceLifetime: bigint, reportLifetime: bigint) =>
      viem.deployContract("Provisioning", [
        quoteVerifier.address,
        registrar.account.address,
        [manufacturer.id],
        nonceLifetime,
        reportLifetime,
      ]);
    for (const [nonceLifetime, reportLifetime] of [
      [0n, 1n],
      [1n, 0n],
    ] as const) {
      const failure = await deploy(nonceLifetime, reportLifetime).then(
        () => "deployed",
        (e: Error) => e.message,
      );
      expect(failure).to.include("ZeroLifetime");
    }
    expect([await provisioning.read.nonceLifetime(), await provisioning.read.reportLifetime()]).to.deep.equal([
      BigInt(NONCE_LIFETIME),
      BigInt(LIFETIME),
    ]);
  });

  it("requestNonce_isMadeOfTheParentsHashAndTheBlocksRandomness", async () => {
    const { provisioning, client } = world();
    const hash = await provisioning.write.requestNonce([PROVISIONING], { account: who() });
    const { blockNumber } = await client.getTransactionReceipt({ hash });
    const block = await client.getBlock({ blockNumber });
    const [issued] = await provisioning.getEvents.NonceIssued();
    const content = encodeAbiParameters(parseAbiParameters("bytes32, uint256, uint256, address, uint8"), [
      block.parentHash,
      BigInt(block.mixHash),
      block.timestamp,
      who(),
      PROVISIONING,
    ]);
    expect(issued!.args).to.deep.include({ kind: PROVISIONING, nonce: keccak256(content) });
  });

  it("submitReport_withoutANonce_reverts", async () => {
    const signed = await reportUntil((await time().latest()) + 100);
    await submit(signed);
    const { chainId, provisioning } = world();
    const device = fresh();
    const without = { ...signed.report, nonce: zeroHash };
    await revert(submit(device.sign({ chainId, provisioning: provisioning.address }, without)), "WrongNonce");
  });

  it("submitReport_nonce_isGoodForItsWholeLifetime", async () => {
    const until = (await time().latest()) + NONCE_LIFETIME + 100;
    const signed = await reportUntil(until);
    const issued = await time().latest();
    await time().setNextBlockTimestamp(issued + NONCE_LIFETIME + 1);
    await revert(submit(signed), "NonceTooOld");
    const again = await reportUntil(until + NONCE_LIFETIME);
    await time().setNextBlockTimestamp((await time().latest()) + NONCE_LIFETIME);
    await submit(again);
  });

  it("submitReport_expiry_fromTheNextSecondToTheLifetime", async () => {
    const now = (await time().latest()) + 1_000;
    for (const [expiry, error] of [
      [now, "ReportExpired"],
      [now + 1, undefined],
      [now + LIFETIME, undefined],
      [now + LIFETIME + 1, "ReportTooLong"],
    ] as const) {
      const before = await world().networkHelpers.takeSnapshot();
      const signed = await reportUntil(expiry);
      await time().setNextBlockTimestamp(now);
      await (error === undefined ? submit(signed) : revert(submit(signed), error));
      await before.restore();
    }
  });

  it("submitReport_emitsAndStoresWhatItSays", async () => {
    const { provisioning, manufacturer } = world();
    const device = fresh();
    const now = await time().latest();
    const first = await reportUntil(now + 1_000, device);
    const { report } = first;
    await emits(submit(first), "ReportAccepted", [
      report.worker,
      device.id,
      manufacturer.id,
      IDENTIFICATION,
      report.counter,
      report.expiry,
      report.contentHash,
    ]);
    expect(await provisioning.read.expiries([who()])).to.deep.equal([report.expiry, 0n]);
    await submit(await reportUntil(now + 2_000, device, PROVISIONING));
    expect(await provisioning.read.expiries([who()])).to.deep.equal([report.expiry, BigInt(now) + 2_000n]);
    // Another device starts from nothing.
    const other = fresh();
    await submit(await reportUntil(now + 3_000, other, PROVISIONING));
    expect(await provisioning.read.expiries([who()])).to.deep.equal([0n, BigInt(now) + 3_000n]);
    expect(await provisioning.read.deviceOf([who()])).to.equal(other.id);
    await submit(await reportUntil(now + 4_000));
    expect(await provisioning.read.expiries([who()])).to.deep.equal([BigInt(now) + 4_000n, 0n]);
  });

  it("isLive_untilTheSecondInWhichEitherReportExpires", async () => {
    const { provisioning, networkHelpers } = world();
    const now = await time().latest();
    for (const [identified, provisioned] of [
      [now + 1_000, now + 2_000],
      [now + 2_000, now + 1_000],
    ] as const) {
      const before = await networkHelpers.takeSnapshot();
      const device = fresh();
      await submit(await reportUntil(identified, device));
      await submit(await reportUntil(provisioned, device, PROVISIONING));
      await time().increaseTo(now + 1_000);
      expect(await provisioning.read.isLive([who()])).to.equal(true);
      await time().increaseTo(now + 1_001);
      expect(await provisioning.read.isLive([who()])).to.equal(false);
      await before.restore();
    }
  });

  it("submitReport_sameCounterFromACopyOfTheDevice_reverts", async () => {
    const memory = { key: generateKey(), counter: 0n, saveCounter: () => undefined };
    const [device, copy] = [0, 1].map(() => new SoftwareDevice(world().manufacturer, memory)) as [
      SoftwareDevice,
      SoftwareDevice,
    ];
    await submit(await signedReport(world(), who(), device, IDENTIFICATION));
    await revert(submit(await signedReport(world(), who(), copy, IDENTIFICATION)), "CounterNotHigher");
    await submit(await signedReport(world(), who(), copy, IDENTIFICATION));
  });

  it("registry_emitsEachChange", async () => {
    const { provisioning, registrar } = world();
    const by = { account: registrar.account };
    const { id } = new SoftwareManufacturer();
    await emits(provisioning.write.addManufacturer([id], by), "ManufacturerAdded", [id]);
    await revert(provisioning.write.addManufacturer([id], by), "ManufacturerExists");
    await emits(provisioning.write.revokeManufacturer([id], by), "ManufacturerRevoked", [id]);
    await emits(provisioning.write.revokeDevice([id], by), "DeviceRevoked", [id]);
  });

  it("isLive_revokedManufacturer_falseForAllItsDevices_andNoOthers", async () => {
    const { provisioning, registrar, worker } = world();
    const by = { account: registrar.account };
    const maker = new SoftwareManufacturer();
    await provisioning.write.addManufacturer([maker.id], by);
    await attest(world(), who(), new SoftwareDevice(maker));
    await provisioning.write.revokeManufacturer([maker.id], by);
    expect(await provisioning.read.isLive([who()])).to.equal(false);
    expect(await provisioning.read.isLive([worker.account.address])).to.equal(true);
  });
});
