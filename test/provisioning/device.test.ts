import { createPublicKey, verify } from "node:crypto";
import { expect } from "chai";
import { decodeAbiParameters, hexToBytes, type Hex } from "viem";
import { reportMessage, SoftwareDevice } from "../../src/provisioning/device.ts";
import { generateKey, keyId, signMessage } from "../../src/provisioning/keys.ts";
import { SoftwareManufacturer } from "../../src/provisioning/manufacturer.ts";

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const domain = { chainId: 31_337, provisioning: `0x${"11".repeat(20)}` } as const;
const content = {
  kind: 0,
  worker: `0x${"22".repeat(20)}`,
  nonce: `0x${"33".repeat(32)}`,
  expiry: 2_000_000_000n,
  contentHash: `0x${"44".repeat(32)}`,
} as const;

function verifies(x: Hex, y: Hex, message: Uint8Array, r: Hex, s: Hex): boolean {
  const base64url = (hex: Hex) => Buffer.from(hexToBytes(hex)).toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: base64url(x), y: base64url(y) };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, hexToBytes(`${r}${s.slice(2)}`));
}

describe("SoftwareDevice", function () {
  it("signatures_verifyAndHaveLowS", function () {
    const key = generateKey();
    for (let k = 0; k < 32; k++) {
      const message = Buffer.from(`message ${k}`);
      const { r, s } = signMessage(key, message);
      expect(verifies(key.x, key.y, message, r, s)).to.equal(true);
      expect(BigInt(s) <= ORDER / 2n).to.equal(true);
      expect([r.length, s.length]).to.deep.equal([66, 66]);
    }
  });

  it("quote_holdsTheManufacturersEndorsementAndTheDevicesSignature", function () {
    const manufacturer = new SoftwareManufacturer();
    const device = new SoftwareDevice(manufacturer);
    const { report, quote } = device.sign(domain, content);
    const [words] = decodeAbiParameters([{ type: "bytes32[8]" }], quote);
    const [mx, my, er, es, dx, dy, r, s] = words;
    expect(keyId({ x: mx, y: my })).to.equal(manufacturer.id);
    expect(keyId({ x: dx, y: dy })).to.equal(device.id);
    expect(verifies(dx, dy, reportMessage(domain, report), r, s)).to.equal(true);
    expect(manufacturer.endorse({ x: dx, y: dy }).signature).to.have.keys("r", "s");
    expect(er).to.not.equal(es);
  });

  it("counter_risesWithEachReport", function () {
    const device = new SoftwareDevice(new SoftwareManufacturer());
    const counters = [1, 2, 3].map(() => device.sign(domain, content).report.counter);
    expect(counters).to.deep.equal([1n, 2n, 3n]);
  });
});
