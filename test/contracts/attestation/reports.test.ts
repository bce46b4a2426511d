import { expect } from "chai";
import { getAddress, zeroHash, type Hex } from "viem";
import { ReportKind } from "../../../src/chain/structs.ts";
import { nonceOf, payloadOf, reportDigest } from "../../../src/attestation/report.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import {
  BODY,
  domain,
  enrol,
  fieldsOf,
  gridBlockAfter,
  renew,
  signedReport,
} from "../../../testkit/protocol/reports.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME, GRID_BLOCKS } from "../../../testkit/protocol/deployWorld.ts";

const KNOWN_BLOCKS = 256;
const OTHER: Hex = `0x${"ab".repeat(32)}`;

/** Unix time: the last second of 32 bits. */
const MAX_STORED_TIME = 2n ** 32n - 1n;

describe("Provisioning: reports", () => {
  const world = useWorld();
  const { account, time, fresh, revert, emits, report, enrol: send, isLive, now } = provisioningKit(world);
  const who = () => account("mallory");

  it("enrol_emitsAndStoresWhatItSays", async () => {
    const { provisioning, manufacturer } = world();
    const device = fresh();
    expect(await isLive(who())).to.equal(false);
    const signed = await signedReport(world(), who(), device, { debugStatus: 3 });
    const at = (await now()) + 100;
    await time().setNextBlockTimestamp(at);
    const { model, firmware, notAfter } = device.endorsement;
    expect(notAfter > MAX_STORED_TIME).to.equal(true);
    const sent = send(device, signed);
    await emits(sent, "Enrolled", [device.id, manufacturer.id, model, firmware, notAfter]);
    const { seq, gridBlock } = signed.report;
    const until = BigInt(at + LIFETIME);
    await emits(sent, "ReportAccepted", [getAddress(who()), device.id, 1, 3, seq, gridBlock, until, BODY]);
    expect(await provisioning.read.deviceInfo([device.id])).to.deep.equal({
      manufacturer: manufacturer.id,
      model,
      firmware,
      notAfter: MAX_STORED_TIME,
      seq,
      gridBlock,
      reportUntil: until,
      retiredAt: 0n,
    });
    expect(await provisioning.read.deviceOf([who()])).to.equal(device.id);
    expect(await provisioning.read.workerOf([device.id])).to.equal(getAddress(who()));
    expect(await isLive(who())).to.equal(true);
  });

  it("report_ofAnEnrolledDevice_renewsTheLease", async () => {
    const { provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    await time().increase(LIFETIME / 2);
    await renew(world(), who(), device);
    expect((await provisioning.read.deviceInfo([device.id])).reportUntil).to.equal(BigInt((await now()) + LIFETIME));
    await time().increase(LIFETIME);
    expect(await isLive(who())).to.equal(true);
  });

  it("reportDigest_isWhatTheEncodersSay", async () => {
    const { provisioning, chainId, client } = world();
    const device = fresh();
    for (const changes of [{ body: zeroHash }, { seq: 2n ** 64n - 1n, debugStatus: 4 }]) {
      const { report: r } = await signedReport(world(), who(), device, changes);
      // A call reads the chain as the last block saw it, which does not know its own hash.
      await world().networkHelpers.mine(1);
      const payload = payloadOf(device.id, await fieldsOf(world(), device, r));
      expect(await provisioning.read.reportDigest([r])).to.equal(reportDigest(domain(world()), payload));
      const { hash } = await client.getBlock({ blockNumber: r.gridBlock });
      const facts = { chainId, provisioning: provisioning.address, worker: who(), device: device.id };
      const nonce = nonceOf({ ...facts, kind: ReportKind.identification, blockHash: hash });
      expect(await provisioning.read.nonceOf([who(), device.id, 1, r.gridBlock])).to.equal(nonce);
    }
  });

  it("report_byAnotherThanTheWorker_cannotTakeItsDeviceFromIt", async () => {
    const { worker } = world();
    const victim = worker.account.address;
    const device = fresh();
    await enrol(world(), who(), device);
    // Anybody's own device can sign a report that names the victim.
    const signed = await signedReport(world(), victim, device);
    await revert(report(signed, who()), "NotTheWorker", [getAddress(who()), getAddress(victim)]);
    expect(await isLive(victim)).to.equal(true);
  });

  it("report_fieldsThatNoReportHas_areRefusedByName", async () => {
    const device = fresh();
    await enrol(world(), who(), device);
    const refused = async (changes: Parameters<typeof signedReport>[3], name: string, args: unknown[]) =>
      revert(report(await signedReport(world(), who(), device, changes)), name, args);
    await refused({ kind: ReportKind.none }, "WrongKind", [0]);
    await refused({ debugStatus: 0 }, "WrongDebugStatus", [0]);
    await refused({ debugStatus: 5 }, "WrongDebugStatus", [5]);
    await refused({ aux: OTHER }, "WrongAux", [OTHER]);
    await refused({ firmware: OTHER }, "WrongFirmware", [device.firmware, OTHER]);
    for (const debugStatus of [1, 4]) await report(await signedReport(world(), who(), device, { debugStatus }));
  });

  it("report_grid_isKept", async () => {
    const device = fresh();
    await enrol(world(), who(), device);
    const block = await gridBlockAfter(world(), device.gridBlock);
    for (const off of [1n, BigInt(GRID_BLOCKS - 1)]) {
      const signed = await signedReport(world(), who(), device, { gridBlock: block - off });
      await revert(report(signed), "OffGrid", [block - off, BigInt(GRID_BLOCKS)]);
    }
  });

  it("report_block_isInReachForTheNext256", async () => {
    const { networkHelpers } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const first = await gridBlockAfter(world(), device.gridBlock);
    const signed = await signedReport(world(), who(), device, { gridBlock: first });
    const snapshot = await networkHelpers.takeSnapshot();
    const mineUntil = async (block: number) => networkHelpers.mine(block - (await time().latestBlock()));
    await mineUntil(Number(first) + KNOWN_BLOCKS);
    await revert(report(signed), "BlockOutOfReach", [first, first + BigInt(KNOWN_BLOCKS + 1)]);
    await snapshot.restore();
    await mineUntil(Number(first) + KNOWN_BLOCKS - 1);
    await report(signed);
    expect((await world().provisioning.read.deviceInfo([device.id])).gridBlock).to.equal(first);
  });

  it("report_blockThatIsNotThereYet_isRefused", async () => {
    const { networkHelpers, chainId, provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    // The report is to be in the very block that it names, whose hash nobody knows: the chain would take zero for it.
    const latest = await time().latestBlock();
    const next = latest + 2 * GRID_BLOCKS - (latest % GRID_BLOCKS);
    await networkHelpers.mine(next - 1 - latest);
    const { report: r } = await signedReport(world(), who(), device);
    const own = { ...r, gridBlock: BigInt(next), seq: r.seq + 1n };
    const facts = { chainId, provisioning: provisioning.address, worker: who(), device: device.id };
    const nonce = nonceOf({ ...facts, kind: ReportKind.identification, blockHash: zeroHash });
    const signature = device.sign(domain(world()), { ...own, kind: ReportKind.identification, nonce });
    // Exactly at the block that it names.
    await networkHelpers.mine(next - 1 - (await time().latestBlock()));
    await revert(report({ report: own, signature }), "BlockOutOfReach", [BigInt(next), BigInt(next)]);
  });

  it("report_blockOfTheLastOneOrBefore_isRefused", async () => {
    const device = fresh();
    await enrol(world(), who(), device);
    const last = device.gridBlock;
    for (const gridBlock of [last, last - BigInt(GRID_BLOCKS)])
      await revert(report(await signedReport(world(), who(), device, { gridBlock })), "BlockNotNewer", [
        last,
        gridBlock,
      ]);
  });

  it("report_replayed_isRefused", async () => {
    const device = fresh();
    const signed = await signedReport(world(), who(), device);
    await send(device, signed);
    await revert(report(signed), "SeqNotHigher", [1n, 1n]);
  });

  it("report_equalOrLowerSeq_isRefused_andGapsAreLegal", async () => {
    const device = fresh();
    await send(device, await signedReport(world(), who(), device, { seq: 5n }));
    for (const seq of [5n, 4n, 0n])
      await revert(report(await signedReport(world(), who(), device, { seq })), "SeqNotHigher", [5n, seq]);
    for (const seq of [6n, 1_000n, 2n ** 64n - 1n]) {
      await report(await signedReport(world(), who(), device, { seq }));
      expect((await world().provisioning.read.deviceInfo([device.id])).seq).to.equal(seq);
    }
  });

  it("report_firstSeqZero_isRefused", async () => {
    const device = fresh();
    await revert(send(device, await signedReport(world(), who(), device, { seq: 0n })), "SeqNotHigher", [0n, 0n]);
  });

  it("report_afterLostOnes_isTaken", async () => {
    const device = fresh();
    await enrol(world(), who(), device);
    // Signed, and never sent; signed, and too late for its block.
    await signedReport(world(), who(), device);
    await signedReport(world(), who(), device);
    await world().networkHelpers.mine(KNOWN_BLOCKS + 1);
    await renew(world(), who(), device);
    expect((await world().provisioning.read.deviceInfo([device.id])).seq).to.equal(4n);
  });

  it("report_takenBackByTheChain_isReplacedByTheNextOne", async () => {
    const { networkHelpers, provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const before = await networkHelpers.takeSnapshot();
    await renew(world(), who(), device);
    await before.restore();
    expect((await provisioning.read.deviceInfo([device.id])).seq).to.equal(1n);
    // Another history: the device's counter stands where it stood.
    await networkHelpers.mine(GRID_BLOCKS);
    await renew(world(), who(), device);
    expect((await provisioning.read.deviceInfo([device.id])).seq).to.equal(3n);
  });

  it("report_overAnotherHistory_isRefused", async () => {
    const { networkHelpers } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const before = await networkHelpers.takeSnapshot();
    await time().increase(1_000);
    await networkHelpers.mine(2 * GRID_BLOCKS);
    const signed = await signedReport(world(), who(), device);
    await before.restore();
    await networkHelpers.mine(3 * GRID_BLOCKS);
    await revert(report(signed), "BadSignature", [device.id]);
  });

  it("report_ofADeviceThatIsNotEnrolled_isRefused", async () => {
    const device = fresh();
    await revert(report(await signedReport(world(), who(), device)), "NotEnrolled", [device.id]);
  });
});
