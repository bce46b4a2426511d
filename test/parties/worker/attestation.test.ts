import { expect } from "chai";
import { parseEther } from "viem";
import type { Provisioning } from "../../../src/chain/clients/provisioning.ts";
import { TransactionDroppedError } from "../../../src/chain/errors.ts";
import type { Session } from "../../../src/chain/market/session.ts";
import { attest } from "../../../src/attestation/attest.ts";
import { SoftwareDevice, type Device } from "../../../src/attestation/device.ts";
import { DongleAwayError } from "../../../src/attestation/errors.ts";
import { deviceId, generateKey } from "../../../src/attestation/keys.ts";
import { Attestation } from "../../../src/parties/worker/attestation.ts";
import { Health } from "../../../src/base/health.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, quiet, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const DAY = 86_400;

describe("a worker with a dongle", function () {
  const players = usePlayers("test");
  const program = mlpProgram();

  async function start(device: Device, given?: Session) {
    const key = await players().chain.newAccount(parseEther("5"));
    const session = await players().chain.sessionOf(key);
    const health = new Health(quiet);
    const running = await players().startWorker(key, program, reference(), {
      device,
      health,
      ...(given && { session: given }),
    });
    /** Waits until the worker has so many reports, while the chain goes on. */
    const reports = async (count: number): Promise<void> => {
      for (let k = 0; attested().length < count; k++) {
        if (k > 1_000) throw new Error(`${attested().length} reports: ${health.problem("renewal")?.reason}`);
        await later(20);
      }
    };
    const attested = () => running.inbox.all.filter(({ kind }) => kind === "attested");
    const renewal = async (reason: string): Promise<void> => {
      for (let k = 0; health.problem("renewal")?.reason.includes(reason) !== true; k++) {
        if (k > 1_000) throw new Error(`renewal: ${health.problem("renewal")?.reason}`);
        await later(20);
      }
    };
    return { key, session, health, running, reports, attested, renewal, stop: running.stop };
  }
  /** A block after some seconds, and time for rounds to see it. */
  async function later(seconds: number): Promise<void> {
    await players().chain.advance(seconds);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }

  it("attestsItself_andRenewsForWeeks_withoutACommand", async function () {
    const worker = await start(new SoftwareDevice(players().manufacturer));
    const { provisioning, sender } = worker.session;
    await worker.reports(1);
    const lifetime = await provisioning.reportLifetime();
    // In steps of a tenth of the lifetime, over four of them.
    for (let tenth = 0; tenth < 40; tenth++) {
      await later(lifetime / 10);
      for (let k = 0; k < 1_000 && worker.attested().length < Math.floor(tenth / 7); k++) await later(20);
      expect(await provisioning.isLive(sender.address), `${tenth} tenths`).to.equal(true);
    }
    expect(worker.attested().length).to.be.within(5, 9);
    expect(worker.health.problem("renewal")).to.equal(undefined);
    await worker.stop();
  });

  it("accountWithoutAttestation_hasZeroSeconds_andTheConditionFails", async function () {
    const figures: object[] = [];
    const health = new Health(quiet);
    const eligibilities = [
      { reason: "noDevice", time: 0n },
      { reason: "reportExpired", time: 1_000n },
      { reason: "eligible", time: 1_700_000_000n + 10n * BigInt(DAY) },
    ];
    const provisioning = { eligibilityOf: () => Promise.resolve(eligibilities[figures.length]) };
    const session = { provisioning, sender: { address: "0x" } } as unknown as Session;
    const role = { health, meter: { figures: (measured: object) => figures.push(measured) } };
    const attestation = new Attestation({ session, device: undefined, exams: undefined, log: quiet }, role as never);
    const problems: (string | undefined)[] = [];
    for (let k = 0; k < eligibilities.length; k++) {
      await attestation.measure(1_700_000_000n);
      problems.push(health.problem("attestation")?.reason);
    }
    expect(figures).to.deep.equal([{ attestation: 0 }, { attestation: 0 }, { attestation: 10 * DAY }]);
    const none = "there is none now: run refute device attest, or give the worker --dongle";
    expect(problems).to.deep.equal([none, none, undefined]);
  });

  it("lifetimeOfAReport_isReadOnce_byTwoWhoAskAtOnce", async function () {
    const lines: string[] = [];
    let asked = 0;
    const provisioning = {
      eligibilityOf: () => Promise.resolve({ reason: "noDevice", time: 0n }),
      reportLifetime: () => Promise.resolve((asked++, 1_000)),
    };
    const session = { provisioning, sender: { address: "0x" } } as unknown as Session;
    const role = { health: new Health(quiet), meter: { figures: () => undefined } };
    const log = { ...quiet, info: (_: unknown, message: string) => void lines.push(message) } as never;
    const device = new SoftwareDevice(players().manufacturer);
    const attestation = new Attestation({ session, device, exams: undefined, log }, role as never);
    await Promise.all([attestation.measure(1n), attestation.measure(1n)]);
    expect([asked, lines]).to.deep.equal([1, ["the dongle renews the attestation"]]);
  });

  it("dongleThatIsAway_isWaitedFor_andSaidToBeAway", async function () {
    const own = new SoftwareDevice(players().manufacturer);
    let isAway = true;
    const device: Device = {
      identity: () => (isAway ? Promise.reject(new DongleAwayError("the dongle does not answer")) : own.identity()),
      sign: (request) => own.sign(request),
    };
    const worker = await start(device);
    await worker.renewal("the dongle does not answer");
    expect(worker.attested()).to.deep.equal([]);
    isAway = false;
    await worker.reports(1);
    await later(60);
    expect(worker.health.problem("renewal")).to.equal(undefined);
    await worker.stop();
  });

  it("reportThatAReorganisationTookBack_isMadeAgain", async function () {
    const { chain } = players();
    const worker = await start(new SoftwareDevice(players().manufacturer));
    const { provisioning, sender } = worker.session;
    await worker.reports(1);
    const lifetime = await provisioning.reportLifetime();
    await later(lifetime / 2 - 600);
    const snapshot = await chain.provider.request({ method: "evm_snapshot" });
    await later(1_200);
    await worker.reports(2);
    await chain.provider.request({ method: "evm_revert", params: [snapshot] });
    for (let k = 0; k < 3; k++) await chain.provider.request({ method: "evm_mine" });
    await later(1_200);
    await worker.reports(3);
    const { seq } = await provisioning.deviceInfo(await provisioning.deviceOf(sender.address));
    expect(seq).to.equal(3n);
    await worker.stop();
  });

  it("reportWhoseTransactionIsLost_isMadeAgain_underAnotherNumber", async function () {
    const key = await players().chain.newAccount(parseEther("5"));
    const session = await players().chain.sessionOf(key);
    let lost = 0;
    const enrol = () => Promise.reject(new TransactionDroppedError("enrol", ZERO_HASH));
    const provisioning = new Proxy(session.provisioning, {
      get(target, name: keyof Provisioning) {
        const method = target[name].bind(target);
        return name === "enrol" && lost++ === 0 ? enrol : method;
      },
    });
    const device = new SoftwareDevice(players().manufacturer);
    const worker = await start(device, { ...session, provisioning });
    await worker.reports(1);
    expect(worker.attested()[0]).to.include({ seq: "2" });
    await worker.stop();
  });

  it("deviceWhoseMemoryIsOld_isToldTheChainsCounter", async function () {
    const key = generateKey();
    const { endorsement } = await endorsedBy(key);
    const make = () => new SoftwareDevice({ key, endorsement, counter: 0n, saveCounter: () => undefined });
    const session = await players().chain.newSession(parseEther("1"));
    const used = make();
    for (let k = 1n; k <= 3n; k++) expect((await attest(session, used, ZERO_HASH)).seq).to.equal(k);
    expect((await attest(session, make(), ZERO_HASH)).seq).to.equal(4n);
  });

  it("deviceThatEndedItsEndorsement_isNotAskedAgain_untilThereIsAnother", async function () {
    const key = generateKey();
    const now = await players().chain.now();
    let { endorsement } = await endorsedBy(key, now + BigInt(DAY));
    const device: Device = {
      identity: () => Promise.resolve({ key: { x: key.x, y: key.y }, endorsement }),
      sign: (request) =>
        new SoftwareDevice({ key, endorsement, counter: 0n, saveCounter: () => undefined }).sign(request),
    };
    const worker = await start(device);
    await worker.reports(1);
    await later(2 * DAY);
    await worker.renewal("the device's endorsement has ended");
    ({ endorsement } = await endorsedBy(key, now + BigInt(900 * DAY)));
    await worker.reports(2);
    expect(await worker.session.provisioning.isLive(worker.session.sender.address)).to.equal(true);
    await worker.stop();
  });

  it("deviceOfAnotherWorker_isRefusedByName_andTakenOnceItIsFree", async function () {
    const device = new SoftwareDevice(players().manufacturer);
    const other = await players().chain.newSession(parseEther("1"));
    await attest(other, device, ZERO_HASH);
    const worker = await start(device);
    await worker.renewal("DeviceBacksAnother");
    await other.provisioning.release();
    await later(DAY + 1);
    await worker.reports(1);
    await first(worker.running, "attested", (event) => event.device === device.id);
    expect((await rejection(attest(other, device, ZERO_HASH))).message).to.contain("DeviceBacksAnother");
    await worker.stop();
  });

  const endorsedBy = async (key: ReturnType<typeof generateKey>, notAfter = 2n ** 40n) => {
    const { endorsement } = await new SoftwareDevice(players().manufacturer).identity();
    const { model, firmware } = endorsement;
    return { endorsement: players().manufacturer.endorse(deviceId(key), { model, firmware, notAfter }) };
  };
});
