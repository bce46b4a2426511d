import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Dongle } from "../../src/attestation/dongleClient.ts";
import { holdDevice, type HeldDevice } from "../../src/attestation/heldDevice.ts";
import { endorseAgain, makeDevice } from "../../src/attestation/standInDevice.ts";
import { makeManufacturer } from "../../src/attestation/standInFile.ts";
import { DongleProcess } from "../../testkit/processes/dongleProcess.ts";
import { signRequest as request } from "../../testkit/protocol/signRequest.ts";
import { rejection } from "../../testkit/rejection.ts";
import { Prng } from "../../src/base/prng.ts";

/** Each test has a new device. */
function useFolder() {
  let base: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "refute-"));
    makeManufacturer(join(base, "manufacturer.json"));
    makeDevice(join(base, "dongle"), join(base, "manufacturer.json"));
  });
  afterEach(() => rmSync(base, { recursive: true }));
  return () => join(base, "dongle");
}
const counterIn = (folder: string): bigint => BigInt(readFileSync(join(folder, "counter"), "utf8").trim());

describe("a dongle as a process", function () {
  const folder = useFolder();
  const socket = (): string => join(folder(), "dongle.sock");

  it("reports_areSignedOverTheSocket_andNobodyElseReadsTheFolder", async function () {
    const dongle = await DongleProcess.start(folder());
    const host = new Dongle(socket());
    expect((await host.sign(request)).seq).to.equal(1n);
    expect((await host.sign({ ...request, after: 9n })).seq).to.equal(10n);
    expect(JSON.stringify(await host.identity(), (_, value: unknown) => String(value))).to.not.contain("PRIVATE");
    for (const name of ["dongle.sock", "device.json", "counter"])
      expect(statSync(join(folder(), name)).mode & 0o777, name).to.equal(0o600);
    expect(statSync(folder()).mode & 0o777).to.equal(0o700);
    await dongle.kill("SIGTERM");
    expect(existsSync(socket())).to.equal(false);
    expect(dongle.output).to.not.contain("PRIVATE");
    expect((await rejection(host.identity())).code).to.equal("DONGLE_AWAY");
  });

  it("killedAtAnyPoint_neverSignsANumberTwice", async function () {
    const seqs: bigint[] = [];
    for (const signatures of [1, 20]) {
      const dongle = await DongleProcess.start(folder());
      const host = new Dongle(socket());
      let isOver = false;
      const asking = Array.from({ length: 4 }, async () => {
        while (!isOver)
          await host.sign(request).then(
            ({ seq }) => seqs.push(seq),
            () => (isOver = true),
          );
      });
      const before = seqs.length;
      while (seqs.length < before + signatures) await sleep(1);
      await dongle.kill();
      await Promise.all(asking);
      const highest = seqs.reduce((a, b) => (a > b ? a : b), 0n);
      expect(counterIn(folder()) >= highest).to.equal(true);
    }
    expect(seqs.length).to.be.greaterThan(0);
    expect(new Set(seqs).size).to.equal(seqs.length);
  });

  it("secondOnOneFolder_isRefusedByName_untilTheFirstHasEnded", async function () {
    const first = await DongleProcess.start(folder());
    expect((await rejection(DongleProcess.start(folder()))).message).to.contain("[DEVICE_IN_USE]");
    expect((await rejection(holdDevice(folder()))).code).to.equal("DEVICE_IN_USE");
    expect((await new Dongle(socket()).sign(request)).seq).to.equal(1n);
    await first.kill();
    const second = await DongleProcess.start(folder());
    expect((await new Dongle(socket()).sign(request)).seq).to.equal(2n);
    await second.kill();
  });
});

describe("a dongle's folder and socket", function () {
  const folder = useFolder();
  let held: HeldDevice | undefined;
  afterEach(async () => held?.release());
  async function serve(): Promise<{ host: Dongle; path: string; signed: bigint[] }> {
    const signed: bigint[] = [];
    held = await holdDevice(folder());
    held.serve((seq) => signed.push(seq));
    return { host: new Dongle(held.socket), path: held.socket, signed };
  }

  it("ofManyThatClaimAtOnce_atMostOneHasIt_andOneAloneDoes", async function () {
    for (let round = 0; round < 5; round++) {
      const all = await Promise.allSettled(Array.from({ length: 8 }, () => holdDevice(folder())));
      const holders = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(holders.length).to.be.at.most(1);
      for (const one of all) if (one.status === "rejected") expect(one.reason).to.include({ code: "DEVICE_IN_USE" });
      await holders[0]?.release();
      await (await holdDevice(folder())).release();
      expect(readdirSync(folder()).sort()).to.deep.equal(["counter", "device.json"]);
    }
  });

  it("whatIsNoReport_isNeverSigned", async function () {
    const { host, path, signed } = await serve();
    const random = new Prng(7);
    const good = JSON.stringify({ do: "sign", ...request, after: "0" });
    const garbage = [
      "",
      "\n",
      "null\n",
      "[]\n",
      '{"do":"sign"}\n',
      '{"do":"export"}\n',
      `${good.replace("sign", "signRaw")}\n`,
      `${good.replace('"kind":1', '"kind":0')}\n`,
      `${good.replace('"kind":1', '"kind":3')}\n`,
      `${good.replace('"after":"0"', '"after":"-1"')}\n`,
      `${good.replace('"after":"0"', '"after":"18446744073709551616"')}\n`,
      `${good.replace('"after":"0"', '"after":"9999999999999"')}\n`,
      `${good.replace("44", "4")}\n`,
      `${good.replace('"aux"', '"message":"0x00","aux"')}\n`,
      good,
      good.slice(0, 100),
      `${good}${" ".repeat(4_096)}\n`,
      "x".repeat(1_000_000),
      ...Array.from({ length: 40 }, () => Buffer.from(Array.from({ length: 300 }, () => random.below(256)))),
    ];
    for (const text of garbage)
      expect(await exchange(path, text)).to.satisfy((a: string) => a === "" || a.includes("error"));
    expect(signed).to.deep.equal([]);
    expect(counterIn(folder())).to.equal(0n);
    expect((await host.sign(request)).seq).to.equal(1n);
  });

  it("connectionsThatSayNothing_doNotKeepOthersOut_forLong", async function () {
    const { host, path, signed } = await serve();
    const idle = Array.from({ length: 40 }, () => connect(path).on("error", () => undefined));
    await sleep(50);
    for (const one of idle) one.destroy();
    await sleep(50);
    await Promise.all(Array.from({ length: 10 }, () => host.sign(request)));
    expect(signed).to.deep.equal(Array.from({ length: 10 }, (_, k) => BigInt(k + 1)));
  });

  it("restoredBackup_jumpsAboveTheCounterThatTheChainKnows", async function () {
    const { host } = await serve();
    const backup = `${folder()}-backup`;
    cpSync(join(folder(), "counter"), backup);
    for (let k = 0; k < 5; k++) await host.sign(request);
    await held!.release();
    cpSync(backup, join(folder(), "counter"));
    const restored = (await serve()).host;
    expect((await restored.sign({ ...request, after: 5n })).seq).to.equal(6n);
    expect(counterIn(folder())).to.equal(6n);
  });

  it("deviceEndorsedAgain_keepsItsKeyAndItsCounter", async function () {
    const { host } = await serve();
    const before = await host.identity();
    await host.sign(request);
    await held!.release();
    endorseAgain(folder(), join(folder(), "../manufacturer.json"), 5_000_000_000n);
    const after = await (await serve()).host.identity();
    expect(after.key).to.deep.equal(before.key);
    expect(after.endorsement.notAfter).to.equal(5_000_000_000n);
    expect((await held!.device.sign(request)).seq).to.equal(2n);
  });

  it("folderThatIsSpoiled_isRefusedByName_withoutShowingTheKey", async function () {
    const whole = readFileSync(join(folder(), "device.json"), "utf8");
    const { privateKey } = JSON.parse(whole) as { privateKey: string };
    for (const [name, text, expected] of [
      ["counter", "-1\n", "is no counter"],
      ["counter", "", "is no counter"],
      ["device.json", JSON.stringify({ standIn: "device", privateKey }), "no stand-in device (endorsement)"],
      ["device.json", privateKey, "not JSON"],
      ["device.json", whole.replace(/"notAfter":\s*"\d+"/, '"notAfter":"soon"'), "(endorsement.notAfter)"],
    ] as const) {
      const before = readFileSync(join(folder(), name));
      writeFileSync(join(folder(), name), text);
      const error = await rejection(holdDevice(folder()));
      expect(error.code).to.equal("STAND_IN_FILE");
      expect(error.message).to.contain(expected).and.not.contain("PRIVATE");
      writeFileSync(join(folder(), name), before);
    }
    await (await holdDevice(folder())).release();
  });

  it("answerWithATextForANumber_isToldByName", async function () {
    const path = join(folder(), "liar.sock");
    const word = `0x${"1".repeat(64)}`;
    const answer = { seq: "x", debugStatus: 1, signature: { r: word, s: word } };
    const server = createServer((socket) => void socket.end(`${JSON.stringify(answer)}\n`)).listen(path);
    await once(server, "listening");
    expect((await rejection(new Dongle(path).sign(request))).code).to.equal("DONGLE_ANSWER");
    server.close();
  });

  it("whatIsNoDongle_isToldByName", async function () {
    expect((await rejection(new Dongle(join(folder(), "none.sock")).identity())).code).to.equal("DONGLE_AWAY");
    const held = await holdDevice(folder());
    // Nothing is served yet.
    expect((await rejection(new Dongle(held.socket).identity())).code).to.equal("DONGLE_AWAY");
    await held.release();
  });
});

/** What a socket answers to a text, until it closes; empty if it waits for more. */
function exchange(path: string, text: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let given = "";
    const socket = connect(path, () => socket.write(text));
    const end = (): void => (socket.destroy(), resolve(given));
    socket.on("data", (chunk: Buffer) => void (given += chunk.toString()));
    socket.on("error", end).on("close", end).setTimeout(40, end);
  });
}
