import { expect } from "chai";
import { parseEther } from "viem";
import { PledgedClaimsReader } from "../../../src/chain/clients/pledgedClaims.ts";
import { PledgeStatus } from "../../../src/chain/structs.ts";
import { deposit } from "../../../src/chain/market/deposit.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Figures } from "../../../src/runs/figures.ts";
import { Health } from "../../../src/base/health.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { WrongExamsError } from "../../../src/attestation/errors.ts";
import { openOwnExamClaims } from "../../../src/attestation/exams/openExamClaims.ts";
import { openExams } from "../../../src/attestation/exams/openExams.ts";
import { runWorker } from "../../../src/parties/worker/worker.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { drawnMlp } from "../../../testkit/models/mlp.ts";
import { ExamPlayers, type Examinee } from "../../../testkit/players/examPlayers.ts";
import { first, quiet, reference, start } from "../../../testkit/players/players.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("a worker that plays the games about its exams", function () {
  const program = drawnMlp();
  const { steps } = program.model.program;
  const lie = { step: steps.findIndex(({ dtype, count }) => dtype === DType.float32 && count === 300), element: 2 };
  let exams: ExamPlayers;
  beforeEach(async () => void (exams = await ExamPlayers.create(program)));
  afterEach(() => exams.players.chain.close());

  /** One process: jobs, attestation, exams, and games about them. */
  async function play({ session, device }: Examinee) {
    const own = await openOwnExamClaims(session, exams.exams, exams.beside.examClaims!);
    const examClasses = await openExams(session, exams.exams);
    const health = new Health(quiet);
    const figures: Partial<Figures> = {};
    const meter = {
      figures: (given: Partial<Figures>) => void Object.assign(figures, given),
      ...{ executed: () => {}, auditFailed: () => {}, native: () => {}, fleet: () => {} },
    };
    const programs = ProgramLibrary.of([program]);
    const policy = { minFee: 1n, marginSeconds: 10 };
    const role = {
      programs,
      execute: reference(),
      policy,
      selfAuditSamples: 0,
      device,
      exams: examClasses,
      health,
      meter,
    };
    const running = start<WorkerEvent>(session, (all) => runWorker({ ...all, ...role, examClaims: own }));
    return { own, health, figures, ...running };
  }

  it("sitsThem_answersAnAttack_andDoesAJob_inOneProcess_withOneSender", async () => {
    const examinee = await exams.examinee();
    const { session, claimContracts } = examinee;
    const { collateral } = session.deployment.parameters;
    await deposit(session, collateral);
    await session.vault.stake(collateral);
    const worker = await play(examinee);
    expect(worker.own.session.sender).to.equal(session.sender);
    await exams.nextExam();
    await first(worker, "sat");
    const key = await exams.challengerKey();
    // It executes wrongly, and believes itself.
    const attacker = await exams.audit(key, reference(lie));
    const { claimId } = await first(attacker, "opened");
    await first(worker, "moved");
    const { jobId } = await exams.players.post(program, [new Uint8Array(32)], { fee: parseEther("0.1") });
    await first(worker, "submitted", (event) => event.jobId === jobId);
    const reader = new PledgedClaimsReader(exams.beside.claims, claimContracts);
    const pledge = () => reader.pledgeOf(session.sender.address);
    await exams.endClaim(examinee, claimId);
    await attacker.stop();
    await worker.stop();
    expect(await pledge()).to.include({ status: PledgeStatus.active, claims: 0n });
    expect((await claimContracts.vault.accountOf((await exams.claimContractsOf(key)).sender.address)).credit).to.equal(
      claimContracts.deployment.bond,
    );
    expect(worker.health.problem("examGames")).to.equal(undefined);
    expect(worker.health.conditions.map(({ condition }) => condition)).to.include("examGames");
    expect(worker.figures).to.include({ openGames: 0, minClock: Infinity });
    // Money is that of the market of the jobs: the stake of the other vault is not told.
    expect(worker.figures.staked).to.equal(collateral);
  });

  it("numbersTheFirstCandidate_alsoTooLateToSit", async () => {
    const examinee = await exams.examinee();
    const { exams: contract } = await openExams(examinee.session, exams.exams);
    const exam = await exams.nextExam();
    const { provider } = exams.players.chain;
    await provider.request({ method: "hardhat_mine", params: ["0x50"] });
    const worker = await play(examinee);
    for (let k = 0; k < 3_000 && (await contract.lastExam()).number === 0; k++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.stop();
    expect(await contract.lastExam()).to.deep.equal({ number: 1, gridBlock: exam });
    expect(worker.inbox.all.filter(({ kind }) => kind === "sat")).to.deep.equal([]);
  });

  it("saysWhenItCannotBeReliedOn", async () => {
    const examinee = await exams.examinee();
    const worker = await play(examinee);
    await exams.nextExam();
    await first(worker, "sat");
    const { provider } = exams.players.chain;
    const { address } = examinee.session.sender;
    await provider.request({ method: "hardhat_setBalance", params: [address, "0x1"] });
    const says = (): string => worker.health.problem("examGames")?.reason ?? "";
    for (let k = 0; k < 3_000 && !says().includes("pays: "); k++) {
      if (k % 10 === 9) await exams.players.chain.advance(20);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await worker.stop();
    expect(says()).to.contain("pays: ");
  });

  it("examClaimsOfOtherExams_orNone_areRefused", async () => {
    const { session } = await exams.examinee();
    const { examClaims } = exams.beside;
    for (const [sat, by] of [
      [session.deployment.market, examClaims!],
      [exams.exams, exams.exams],
    ] as const)
      expect(await rejection(openOwnExamClaims(session, sat, by))).to.be.instanceOf(WrongExamsError);
  });
});
