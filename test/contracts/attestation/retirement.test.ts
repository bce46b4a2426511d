import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ReportKind, type SignedPayload } from "../../../src/chain/structs.ts";
import type { P256Signature } from "../../../src/attestation/keys.ts";
import { domainOf, type ReportFields } from "../../../src/attestation/report.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { domain, enrol, fieldsOf, renew, signedReport } from "../../../testkit/protocol/reports.ts";
import type { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME } from "../../../testkit/protocol/deployWorld.ts";

const OTHER: Hex = `0x${"ab".repeat(32)}`;
const FIELDS: ReportFields = {
  nonce: OTHER,
  kind: ReportKind.identification,
  debugStatus: 1,
  seq: 9n,
  worker: `0x${"22".repeat(20)}`,
  firmware: OTHER,
  body: zeroHash,
  aux: zeroHash,
};

describe("Provisioning: retired keys", () => {
  const world = useWorld();
  const { account, time, fresh, revert, emits, reason, isLive, now } = provisioningKit(world);
  const who = () => account("mallory");
  const payload = (fields: ReportFields, signature: P256Signature): SignedPayload => ({ ...fields, signature });
  const signed = (device: TestDevice, fields: ReportFields, context = domain(world())): SignedPayload =>
    payload(fields, device.sign(context, fields));
  const retire = ({ key }: TestDevice, seq: bigint, a: SignedPayload, b: SignedPayload) =>
    world().provisioning.write.retireKey([key, seq, a, b], { account: account("stranger") });

  it("retireKey_twoPayloadsUnderOneCounter_isForGood", async () => {
    const { provisioning } = world();
    const device = fresh();
    await enrol(world(), who(), device);
    const [a, b] = [signed(device, FIELDS), signed(device, { ...FIELDS, body: OTHER })];
    const sent = retire(device, FIELDS.seq, a, b);
    await emits(sent, "KeyRetired", [device.id, FIELDS.seq]);
    const since = await now();
    expect(await reason(who())).to.deep.equal(["keyRetired", since]);
    expect((await provisioning.read.deviceInfo([device.id])).retiredAt).to.equal(BigInt(since));
    for (const worker of [who(), account("watcher")]) {
      await revert(renew(world(), worker, device), "KeyIsRetired", [device.id, BigInt(since)]);
      await revert(enrol(world(), worker, device), "KeyIsRetired");
    }
    await time().increase(LIFETIME + 1);
    expect((await reason(who()))[0]).to.equal("keyRetired");
    await provisioning.write.release({ account: who() });
    await revert(enrol(world(), who(), device), "KeyIsRetired");
    // Another device of the same worker counts.
    await enrol(world(), who(), fresh());
    expect(await isLive(who())).to.equal(true);
  });

  it("retireKey_anyFieldThatDiffers_isEnough", async () => {
    const changes: Partial<ReportFields>[] = [
      { nonce: zeroHash },
      { debugStatus: 2 },
      { worker: `0x${"33".repeat(20)}` },
      { firmware: zeroHash },
      { body: OTHER },
      { aux: OTHER },
      { kind: ReportKind.none },
    ];
    for (const change of changes) {
      const device = fresh();
      await retire(device, FIELDS.seq, signed(device, FIELDS), signed(device, { ...FIELDS, ...change }));
      expect((await world().provisioning.read.deviceInfo([device.id])).retiredAt > 0n).to.equal(true);
    }
  });

  it("retireKey_aReportOnChainAndAnotherUnderItsCounter_isEquivocation", async () => {
    const device = fresh();
    const first = await signedReport(world(), who(), device);
    const { report, signature } = first;
    await world().provisioning.write.enrol([device.endorsement, report, signature], { account: who() });
    const fields = await fieldsOf(world(), device, report);
    const other = { ...fields, nonce: OTHER };
    await retire(device, report.seq, payload(fields, signature), signed(device, other));
    expect((await reason(who()))[0]).to.equal("keyRetired");
  });

  it("retireKey_onePayloadTwice_evenWithTwoSignatures_isRefused", async () => {
    const device = fresh();
    // ECDSA of OpenSSL is randomised: two signatures of one payload.
    const [a, b] = [signed(device, FIELDS), signed(device, FIELDS)];
    expect(a.signature.r).to.not.equal(b.signature.r);
    await revert(retire(device, FIELDS.seq, a, b), "SamePayload", [device.id, FIELDS.seq]);
  });

  it("retireKey_twoCounters_isNoEquivocation", async () => {
    const device = fresh();
    const next = { ...FIELDS, seq: FIELDS.seq + 1n, body: OTHER };
    const [a, b] = [signed(device, FIELDS), signed(device, next)];
    for (const seq of [FIELDS.seq, next.seq]) await revert(retire(device, seq, a, b), "BadSignature", [device.id]);
  });

  it("retireKey_aPayloadForAnotherDeployment_isNoEquivocation", async () => {
    const { chainId, provisioning, market } = world();
    const device = fresh();
    const contexts = [
      domainOf({ chainId: chainId + 1, provisioning: provisioning.address }),
      domainOf({ chainId, provisioning: market.address }),
    ];
    for (const context of contexts) {
      const foreign = signed(device, { ...FIELDS, body: OTHER }, context);
      await revert(retire(device, FIELDS.seq, signed(device, FIELDS), foreign), "BadSignature");
      await revert(retire(device, FIELDS.seq, foreign, signed(device, FIELDS)), "BadSignature");
    }
  });

  it("retireKey_aPayloadThatTheDeviceNeverSigned_isRefused", async () => {
    const device = fresh();
    const a = signed(device, FIELDS);
    const forged = signed(fresh(), { ...FIELDS, body: OTHER });
    await revert(retire(device, FIELDS.seq, a, forged), "BadSignature", [device.id]);
    await revert(retire(device, FIELDS.seq, forged, a), "BadSignature", [device.id]);
    await revert(retire(device, FIELDS.seq, a, { ...a, body: OTHER }), "BadSignature", [device.id]);
  });

  it("retireKey_twice_isRefused", async () => {
    const device = fresh();
    const [a, b] = [signed(device, FIELDS), signed(device, { ...FIELDS, body: OTHER })];
    await retire(device, FIELDS.seq, a, b);
    await revert(retire(device, FIELDS.seq, a, b), "KeyIsRetired", [device.id, BigInt(await now())]);
  });

  it("retireKey_ofADeviceThatIsNotEnrolled_keepsItOut", async () => {
    const device = fresh();
    await retire(device, FIELDS.seq, signed(device, FIELDS), signed(device, { ...FIELDS, body: OTHER }));
    await revert(enrol(world(), who(), device), "KeyIsRetired");
  });

  it("retireKey_movesNoMoney_andLeavesOthersLive", async () => {
    const { vault, worker, manufacturer } = world();
    const device = fresh(manufacturer);
    await enrol(world(), who(), device);
    const before = await vault.read.accountOf([who()]);
    await retire(device, FIELDS.seq, signed(device, FIELDS), signed(device, { ...FIELDS, body: OTHER }));
    expect(await vault.read.accountOf([who()])).to.deep.equal(before);
    expect(await isLive(worker.account.address)).to.equal(true);
  });
});
