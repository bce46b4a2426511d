import { createPublicKey, verify } from "node:crypto";
import { expect } from "chai";
import { hexToBytes, type Hex } from "viem";
import { ReportKind } from "../../src/chain/structs.ts";
import { SOFTWARE_FIRMWARE, SoftwareDevice } from "../../src/attestation/device.ts";
import { deviceId, generateKey, manufacturerId, signMessage } from "../../src/attestation/keys.ts";
import { SOFTWARE_MODEL, SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { payloadOf, sigStructure } from "../../src/attestation/report.ts";
import { signRequest as request } from "../../testkit/protocol/signRequest.ts";
import { rejection } from "../../testkit/rejection.ts";

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function verifies({ x, y }: { x: Hex; y: Hex }, message: Uint8Array, { r, s }: { r: Hex; s: Hex }): boolean {
  const base64url = (hex: Hex) => Buffer.from(hexToBytes(hex)).toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: base64url(x), y: base64url(y) };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, hexToBytes(`${r}${s.slice(2) as Hex}`));
}

describe("SoftwareDevice", function () {
  it("signatures_verifyAndHaveLowS", function () {
    const key = generateKey();
    for (let k = 0; k < 32; k++) {
      const message = Buffer.from(`message ${k}`);
      const { r, s } = signMessage(key, message);
      expect(verifies(key, message, { r, s })).to.equal(true);
      expect(BigInt(s) <= ORDER / 2n).to.equal(true);
      expect([r.length, s.length]).to.deep.equal([66, 66]);
    }
  });

  it("report_isSignedByTheEndorsedKey_withWhatTheDeviceAdds", async function () {
    const manufacturer = new SoftwareManufacturer();
    const device = new SoftwareDevice(manufacturer);
    const { key, endorsement } = await device.identity();
    expect(deviceId(key)).to.equal(device.id);
    expect(manufacturerId(endorsement.manufacturer)).to.equal(manufacturer.id);
    expect(endorsement).to.include({ model: SOFTWARE_MODEL, firmware: SOFTWARE_FIRMWARE });
    const { seq, debugStatus, signature } = await device.sign(request);
    const payload = payloadOf(device.id, { ...request, seq, debugStatus, firmware: SOFTWARE_FIRMWARE });
    expect(verifies(key, sigStructure(request.domain, payload), signature)).to.equal(true);
  });

  it("counter_risesWithEachReport_andAboveTheChains", async function () {
    const device = new SoftwareDevice(new SoftwareManufacturer());
    const seqs = [];
    for (const after of [0n, 0n, 41n, 5n]) seqs.push((await device.sign({ ...request, after })).seq);
    expect(seqs).to.deep.equal([1n, 2n, 42n, 43n]);
  });

  it("requestBeyondTheForm_isRefused_andTakesNoNumber", async function () {
    const device = new SoftwareDevice(new SoftwareManufacturer());
    for (const wrong of [
      { kind: ReportKind.none },
      { kind: 3 as ReportKind },
      { after: 2n ** 32n + 1n },
      { body: "0x12" } as const,
      { worker: `0x${"22".repeat(21)}` } as const,
      { domain: `0x${"11".repeat(33)}` } as const,
    ])
      await rejection(device.sign({ ...request, ...wrong }));
    expect((await device.sign(request)).seq).to.equal(1n);
  });

  it("counterThatCannotBeKept_isNotSigned", async function () {
    const key = generateKey();
    const { endorsement } = await new SoftwareDevice(new SoftwareManufacturer()).identity();
    let isBroken = true;
    const kept: bigint[] = [];
    const saveCounter = (counter: bigint): void => {
      if (isBroken) throw new Error("the disk is full");
      kept.push(counter);
    };
    const device = new SoftwareDevice({ key, endorsement, counter: 7n, saveCounter });
    expect((await rejection(device.sign(request))).message).to.equal("the disk is full");
    isBroken = false;
    expect((await device.sign(request)).seq).to.equal(8n);
    expect(kept).to.deep.equal([8n]);
  });

  it("counterThatIsUsedUp_signsNothingMore", async function () {
    const { endorsement } = await new SoftwareDevice(new SoftwareManufacturer()).identity();
    const counter = 2n ** 64n - 2n;
    const device = new SoftwareDevice({ key: generateKey(), endorsement, counter, saveCounter: () => undefined });
    expect((await device.sign(request)).seq).to.equal(2n ** 64n - 1n);
    expect((await rejection(device.sign(request))).message).to.contain("used up");
  });
});
