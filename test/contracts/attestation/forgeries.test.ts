import { expect } from "chai";
import { encodeFunctionData, toHex, type Hex } from "viem";
import { provisioningAbi } from "../../../src/chain/abi/provisioning.ts";
import type { Endorsement, Report } from "../../../src/chain/structs.ts";
import { endorsementMessage } from "../../../src/attestation/endorsement.ts";
import type { P256Signature } from "../../../src/attestation/keys.ts";
import { domainOf } from "../../../src/attestation/report.ts";
import { statementMessage } from "../../../src/attestation/statement.ts";
import { callSucceeds } from "../../../testkit/protocol/callSucceeds.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { enrol, fieldsOf, scopeOf, signedReport } from "../../../testkit/protocol/reports.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const SELECTOR_BYTES = 4;
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const negated = ({ r, s }: P256Signature): P256Signature => ({ r, s: toHex(P256_ORDER - BigInt(s), { size: 32 }) });
const NOTHING: P256Signature = { r: toHex(0n, { size: 32 }), s: toHex(0n, { size: 32 }) };

describe("Forgeries of reports", () => {
  const world = useWorld();
  const { fresh, revert, account } = provisioningKit(world);

  const submission = async () => {
    const { mallory, provisioning } = world();
    const worker = mallory.account.address;
    const device = fresh();
    const signed = await signedReport(world(), worker, device);
    // The block of a call is the latest one, and must come after the one that the report names.
    await world().networkHelpers.mine(1);
    const accepted = (endorsement: Endorsement, report: Report, signature: P256Signature): Promise<boolean> =>
      acceptsData(enrolCall(endorsement, report, signature));
    const acceptsData = (data: Hex) => callSucceeds(world(), worker, provisioning.address, data);
    return { ...signed, device, worker, accepted, acceptsData };
  };
  const enrolCall = (endorsement: Endorsement, report: Report, signature: P256Signature): Hex =>
    encodeFunctionData({ abi: provisioningAbi, functionName: "enrol", args: [endorsement, report, signature] });

  it("enrol_anyBitOfEndorsementReportOrSignaturesChanged_reverts", async function () {
    const { report, signature, device, acceptsData } = await submission();
    const data = enrolCall(device.endorsement, report, signature);
    expect(await acceptsData(data)).to.equal(true);
    const bytes = Buffer.from(data.slice(2), "hex");
    for (let at = SELECTOR_BYTES; at < bytes.length; at += 32)
      for (const bit of [0, 100, 180, 248, 255]) {
        const changed = Buffer.from(bytes);
        changed[at + (bit >> 3)]! ^= 1 << (bit & 7);
        expect(await acceptsData(toHex(changed)), `bit ${bit} of the word at ${at}`).to.equal(false);
      }
  });

  it("enrol_signaturesWithTheOtherS_revert", async () => {
    const { report, signature, device, accepted } = await submission();
    const { endorsement } = device;
    expect(await accepted(endorsement, report, signature)).to.equal(true);
    expect(await accepted(endorsement, report, negated(signature))).to.equal(false);
    const other = { ...endorsement, signature: negated(endorsement.signature) };
    expect(await accepted(other, report, signature)).to.equal(false);
  });

  it("enrol_signaturesOfNothing_revert", async () => {
    const { report, device, signature, accepted } = await submission();
    expect(await accepted(device.endorsement, report, NOTHING)).to.equal(false);
    expect(await accepted({ ...device.endorsement, signature: NOTHING }, report, signature)).to.equal(false);
    const noPoint = { ...report, key: { x: NOTHING.r, y: NOTHING.s } };
    expect(await accepted(device.endorsement, noPoint, signature)).to.equal(false);
  });

  it("enrol_aManufacturersOtherSignatureInPlaceOfItsEndorsement_reverts", async () => {
    const { report, signature, device, accepted } = await submission();
    const { endorsement, manufacturer } = device;
    const statement = { ...scopeOf({ device: device.id }), frozen: false, number: 1n };
    const stated = { ...endorsement, signature: manufacturer.state(statement) };
    expect(await accepted(stated, report, signature)).to.equal(false);
    // Nor is an endorsement a statement: their texts begin with different names.
    expect(toHex(statementMessage(statement))).to.not.equal(toHex(endorsementMessage(device.id, endorsement)));
  });

  it("enrol_theManufacturerAsItsOwnDevice_reverts", async () => {
    const { report, device, accepted } = await submission();
    const { manufacturer, signature } = device.endorsement;
    expect(await accepted(device.endorsement, { ...report, key: manufacturer }, signature)).to.equal(false);
  });

  it("enrol_aDevicesEndorsementOfItself_reverts", async () => {
    const { report, signature, device } = await submission();
    const { key, endorsement } = device;
    const own = device.signBytes(endorsementMessage(device.id, endorsement));
    const sent = world().provisioning.write.enrol(
      [{ ...endorsement, manufacturer: key, signature: own }, report, signature],
      {
        account: account("mallory"),
      },
    );
    await revert(sent, "ManufacturerNotTrusted");
  });

  it("report_signedForAnotherChainContractOrNonce_reverts", async () => {
    const { chainId, provisioning, market } = world();
    const { device, worker } = await submission();
    await enrol(world(), worker, device);
    const { report } = await signedReport(world(), worker, device);
    const fields = await fieldsOf(world(), device, report);
    const own = { chainId, provisioning: provisioning.address };
    const send = (signature: P256Signature) =>
      provisioning.write.report([report, signature], { account: account("mallory") });
    const bad = (signature: P256Signature) => revert(send(signature), "BadSignature", [device.id]);
    await bad(device.sign(domainOf({ ...own, chainId: chainId + 1 }), fields));
    await bad(device.sign(domainOf({ ...own, provisioning: market.address }), fields));
    await bad(device.sign(domainOf(own), { ...fields, nonce: device.id }));
    await bad(device.sign(domainOf(own), { ...fields, seq: fields.seq + 1n }));
    await send(device.sign(domainOf(own), fields));
  });

  it("report_aNonceOfAnotherWorkerOrDevice_reverts", async () => {
    const { provisioning } = world();
    const { device, worker } = await submission();
    await enrol(world(), worker, device);
    const { report } = await signedReport(world(), worker, device);
    const domain = domainOf({ chainId: world().chainId, provisioning: provisioning.address });
    const fields = await fieldsOf(world(), device, report);
    const foreign = [
      await fieldsOf(world(), fresh(), report),
      await fieldsOf(world(), device, { ...report, worker: account("watcher") }),
    ];
    for (const { nonce } of foreign) {
      const signature = device.sign(domain, { ...fields, nonce });
      await revert(provisioning.write.report([report, signature], { account: worker }), "BadSignature");
    }
  });
});
