import { expect } from "chai";
import { parseEther } from "viem";
import { ExamsReader } from "../../../src/chain/clients/exams.ts";
import { Health } from "../../../src/base/health.ts";
import { SoftwareDevice } from "../../../src/attestation/device.ts";
import { openExams } from "../../../src/attestation/exams/openExams.ts";
import { WrongExamsError } from "../../../src/attestation/errors.ts";
import { RpcUnavailableError } from "../../../src/chain/errors.ts";
import { fitfulSession } from "../../../testkit/nodes/fitfulSession.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { attest } from "../../../src/attestation/attest.ts";
import { drawnMlp } from "../../../testkit/models/mlp.ts";
import { quiet, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

/** The distance of two exams, blocks: every block is a candidate. */
const SPACING = 256n;

/** Simulated days between two exams, and how many exams after the first one, of the deployment's block. */
const DAYS = 1.75;
const EXAMS = 16;

describe("a worker with a dongle and exams", function () {
  const players = usePlayers("test");
  const program = drawnMlp();
  const allClasses = [
    { programRoot: program.model.programRoot, blocks: 64 },
    { programRoot: ZERO_HASH.replace(/0$/, "1"), blocks: 64 },
  ];

  async function start(classes: object[] = allClasses) {
    const { chain, manufacturer } = players();
    const key = await chain.newAccount(parseEther("5"));
    const session = await chain.sessionOf(key);
    const address = await chain.deploy("Exams", [session.deployment.provisioning, classes, 1n, SPACING]);
    const exams = await openExams(session, address);
    const health = new Health(quiet);
    const device = new SoftwareDevice(manufacturer);
    let classesHeld = -1;
    const meter = {
      figures: (figures: { classes?: number }) => void (classesHeld = figures.classes ?? classesHeld),
      ...{ executed: () => {}, auditFailed: () => {}, native: () => {}, fleet: () => {} },
    };
    const running = await players().startWorker(key, program, reference(), { device, health, exams, meter });
    const of = (kind: string) => running.inbox.all.filter((event) => event.kind === kind);
    const until = async (what: () => boolean, says: string): Promise<void> => {
      for (let k = 0; !what(); k++) {
        if (k > 3_000) throw new Error(`${says}: ${health.problem("exams")?.reason ?? "nothing is said"}`);
        // What failed is tried again after some seconds of the chain's time.
        if (k % 10 === 9) await players().chain.advance(20);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    return { session, exams, health, device, running, of, until, held: () => classesHeld };
  }
  /** Mines blocks over some days. */
  async function mine(blocks: bigint, days: number): Promise<void> {
    const seconds = Math.floor((days * 86_400) / Number(blocks));
    const params = [`0x${blocks.toString(16)}`, `0x${seconds.toString(16)}`];
    await players().chain.provider.request({ method: "hardhat_mine", params });
  }
  /** Mines blocks up to the next exam, and one more, over some days. */
  async function pass({ exams: { exams }, session }: Awaited<ReturnType<typeof start>>, days: number): Promise<void> {
    const { gridBlock } = await exams.lastExam();
    const head = await session.publicClient.getBlockNumber({ cacheTime: 0 });
    await mine(gridBlock + SPACING + 1n - head, days);
  }

  it("sitsEachExam_andRenews_forFourWeeks_withoutACommand", async () => {
    const worker = await start();
    const { address } = worker.session.sender;
    await worker.until(() => worker.of("attested").length > 0, "attested");
    await worker.until(() => worker.of("sat").length > 0, "the first exam");
    for (let k = 1; k <= EXAMS; k++) {
      await pass(worker, DAYS);
      await worker.until(() => worker.of("sat").length > k, `exam ${k} of ${EXAMS}`);
      expect(await worker.session.provisioning.isLive(address), `exam ${k}`).to.equal(true);
    }
    const reader = new ExamsReader(worker.exams.exams.address, worker.session);
    expect(await reader.passedOf(address, 0)).to.equal(0xffff);
    expect(await reader.classesOf(address)).to.deep.equal([0]);
    expect(await worker.session.provisioning.isLive(address)).to.equal(true);
    // A report holds for a week. How many steps pass until a round renews it depends on the machine.
    expect(worker.of("attested").length).to.be.within(4, 12);
    await worker.until(() => worker.held() === 1, "metrics");
    expect(worker.health.problem("exams")).to.equal(undefined);
    await worker.running.stop();
  });

  it("deviceWhoseMemoryIsOld_takesNoNumberOfAnExam", async () => {
    const worker = await start();
    await worker.until(() => worker.of("attested").length > 0, "attested");
    await worker.until(() => worker.of("sat").length > 0, "the first exam");
    for (let k = 1; k < 3; k++) {
      await pass(worker, 0.1);
      await worker.until(() => worker.of("sat").length > k, `exam ${k + 1}`);
    }
    await worker.running.stop();
    const seq = await worker.exams.exams.seqOf(worker.device.id);
    expect((await attest(worker.session, worker.device, ZERO_HASH, seq + 10n)).seq).to.equal(seq + 11n);
  });

  it("examThatTheChainForgot_isFollowedByTheNextCandidate", async () => {
    const worker = await start();
    await worker.until(() => worker.of("sat").length > 0, "the first exam");
    // Longer than the chain knows hashes: the next exam passes unseen. Then the oldest known block counts.
    await mine(3n * SPACING, 0.1);
    // No other block comes until the exam has its number: on a slow machine the oldest known block would be forgotten
    // each time before the worker has found it.
    const { exams } = worker.exams;
    while ((await exams.lastExam()).number < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.until(() => worker.of("sat").length > 1, "the exam after the missed one");
    await worker.running.stop();
    const reader = new ExamsReader(worker.exams.exams.address, worker.session);
    expect((await reader.lastExam()).number).to.equal(3);
    expect(await reader.passedOf(worker.session.sender.address, 0)).to.equal(0b101);
  });

  it("worker_withoutAProgramOfTheZoo_saysSo", async () => {
    const worker = await start(allClasses.slice(1));
    await worker.until(() => worker.health.problem("exams") !== undefined, "the condition");
    expect(worker.health.problem("exams")!.reason).to.contain("refute exam classes");
    await worker.running.stop();
  });

  it("examsOfAnotherDeployment_areRefused", async () => {
    const other = await players().chain.deployAgain({ manufacturers: [players().manufacturer.id] });
    const session = await other.newSession();
    const { provisioning } = (await players().chain.newSession()).deployment;
    const address = await players().chain.deploy("Exams", [provisioning, allClasses, 1n, SPACING]);
    expect(await rejection(openExams(session, address))).to.be.instanceOf(WrongExamsError);
    // Without an answer nobody knows.
    const away = fitfulSession(session, () => true);
    expect(await rejection(openExams(away, address))).to.be.instanceOf(RpcUnavailableError);
    expect(await rejection(openExams(session, session.deployment.vault))).to.be.instanceOf(WrongExamsError);
  });
});
