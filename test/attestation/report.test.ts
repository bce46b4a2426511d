import { createHash, createPublicKey, verify } from "node:crypto";
import { cdeEncodeOptions, decode, encode, Tag } from "cbor2";
import { expect } from "chai";
import { bytesToHex, encodeAbiParameters, hexToBytes, keccak256, type Hex } from "viem";
import { ReportFieldError } from "../../src/attestation/errors.ts";
import {
  deviceId,
  generateKey,
  lowS,
  manufacturerId,
  signMessage,
  type PublicKey,
} from "../../src/attestation/keys.ts";
import {
  coseSign1,
  domainOf,
  nonceOf,
  payloadOf,
  reportDigest,
  sigStructure,
  type ReportFields,
} from "../../src/attestation/report.ts";

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const deployment = { chainId: 31_337, provisioning: `0x${"11".repeat(20)}` } as const;
const device = word("d1");
const fields: ReportFields = {
  nonce: word("33"),
  kind: 1,
  debugStatus: 4,
  seq: 0x0102030405060708n,
  worker: `0x${"aa".repeat(20)}`,
  firmware: word("f1"),
  body: word("b0"),
  aux: word("00"),
};

/** What a library of others makes of a map's bytes. */
const read = (bytes: Uint8Array): Map<number, unknown> => decode(plain(bytes), { preferMap: true });

/** Without the methods of a Buffer, which the library would ask for JSON. */
const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

/** ECDSA by OpenSSL. */
function verifies({ x, y }: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  const base64url = (hex: Hex) => Buffer.from(hexToBytes(hex)).toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: base64url(x), y: base64url(y) };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature);
}

describe("Reports in bytes", function () {
  it("payload_readByAnotherLibrary_holdsTheClaims", function () {
    const claims = read(payloadOf(device, fields));
    const expected = new Map<number, unknown>([
      [10, hexToBytes(fields.nonce)],
      [256, hexToBytes(`0x01${device.slice(2)}`)],
      [263, 4],
      [-70001, 1],
      [-70002, hexToBytes("0x0102030405060708")],
      [-70003, hexToBytes(fields.worker)],
      [-70004, hexToBytes(fields.firmware)],
      [-70005, hexToBytes(fields.body)],
      [-70006, hexToBytes(fields.aux)],
    ]);
    expect([...claims.keys()]).to.deep.equal([...expected.keys()]);
    for (const [key, value] of expected) expect(claims.get(key), `claim ${key}`).to.deep.equal(value);
  });

  it("payload_encodedAgainDeterministically_isTheSame241Bytes", function () {
    for (const seq of [0n, 1n, 255n, 2n ** 32n, 2n ** 64n - 1n])
      for (const debugStatus of [1, 4]) {
        const payload = payloadOf(device, { ...fields, seq, debugStatus });
        expect(payload.length).to.equal(241);
        expect(bytesToHex(encode(read(payload), cdeEncodeOptions))).to.equal(bytesToHex(payload));
      }
  });

  it("sigStructure_isTheOneOfCose", function () {
    const payload = payloadOf(device, fields);
    const domain = domainOf(deployment);
    const expected = encode(
      ["Signature1", hexToBytes("0xa10126"), hexToBytes(domain), plain(payload)],
      cdeEncodeOptions,
    );
    const structure = sigStructure(domain, payload);
    expect(bytesToHex(structure)).to.equal(bytesToHex(expected));
    expect(structure.length).to.equal(293);
    expect(reportDigest(domain, payload)).to.equal(`0x${createHash("sha256").update(expected).digest("hex")}`);
  });

  it("coseSign1_readByAnotherLibrary_verifiesUnderItsOwnHeaderAndTheDomain", function () {
    const key = generateKey();
    const domain = domainOf(deployment);
    const payload = payloadOf(deviceId(key), fields);
    const file = coseSign1(payload, signMessage(key, sigStructure(domain, payload)));
    const { tag, contents } = decode<Tag>(plain(file), { preferMap: true });
    expect(tag).to.equal(18);
    const [header, open, content, signature] = contents as [Uint8Array, Map<number, unknown>, Uint8Array, Uint8Array];
    expect([...read(header)]).to.deep.equal([[1, -7]]);
    expect([open.size, signature.length]).to.deep.equal([0, 64]);
    expect(bytesToHex(content)).to.equal(bytesToHex(payload));
    const signed = (context: Hex): Uint8Array =>
      encode(["Signature1", header, hexToBytes(context), content], cdeEncodeOptions);
    expect(verifies(key, signed(domain), signature)).to.equal(true);
    expect(verifies(key, signed(domainOf({ ...deployment, chainId: 1 })), signature)).to.equal(false);
  });

  it("domainAndNonce_areTheHashesOfTheirFields", function () {
    const { chainId, provisioning } = deployment;
    const types = [{ type: "string" }, { type: "uint256" }, { type: "address" }] as const;
    const domain = keccak256(encodeAbiParameters(types, ["DongleReport/1", BigInt(chainId), provisioning]));
    expect(domainOf(deployment)).to.equal(domain);
    const nonce = { ...deployment, worker: fields.worker, device, kind: 1, blockHash: word("cc") } as const;
    const words = [word("cc"), chainId, provisioning, fields.worker, device, 1].map((value) =>
      BigInt(value).toString(16).padStart(64, "0"),
    );
    expect(nonceOf(nonce)).to.equal(keccak256(`0x${words.join("")}`));
  });

  it("ids_areTheHashesOfThePoint", function () {
    const key = { x: word("01"), y: word("02") };
    const point = hexToBytes(`0x${"01".repeat(32)}${"02".repeat(32)}`);
    expect(deviceId(key)).to.equal(`0x${createHash("sha256").update(point).digest("hex")}`);
    expect(manufacturerId(key)).to.equal(keccak256(point));
  });

  it("payload_fieldsThatDoNotFit_areRefusedByName", function () {
    const changes: [Partial<ReportFields>, string][] = [
      [{ nonce: "0x11" }, "nonce"],
      [{ worker: word("22") }, "worker"],
      [{ firmware: "0x" }, "firmware"],
      [{ body: `0x${"zz".repeat(32)}` }, "body"],
      [{ aux: `0x${"00".repeat(33)}` }, "aux"],
      [{ debugStatus: 24 }, "debugStatus"],
      [{ debugStatus: 1.5 }, "debugStatus"],
      [{ seq: -1n }, "seq"],
      [{ seq: 2n ** 64n }, "seq"],
    ];
    for (const [change, name] of changes)
      expect(() => payloadOf(device, { ...fields, ...change })).to.throw(ReportFieldError, new RegExp(`^${name} `));
    expect(() => payloadOf("0x12", fields)).to.throw(ReportFieldError, /^device /);
    expect(() => sigStructure("0x12", payloadOf(device, fields))).to.throw(ReportFieldError, /^domain /);
  });

  it("signatures_verifyAndHaveLowS", function () {
    const key = generateKey();
    for (let k = 0; k < 32; k++) {
      const message = Buffer.from(`message ${k}`);
      const { r, s } = signMessage(key, message);
      expect(verifies(key, message, hexToBytes(`${r}${s.slice(2)}`))).to.equal(true);
      expect(BigInt(s) <= ORDER / 2n).to.equal(true);
      const other: Hex = `0x${(ORDER - BigInt(s)).toString(16).padStart(64, "0")}`;
      expect([lowS({ r, s: other }), lowS({ r, s })]).to.deep.equal([
        { r, s },
        { r, s },
      ]);
    }
  });
});
