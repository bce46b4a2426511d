import { expect } from "chai";
import { zeroHash } from "viem";
import { ContractRevertError } from "../../src/chain/errors.ts";
import { PledgedClaimsReader } from "../../src/chain/clients/pledgedClaims.ts";
import { PledgeStatus } from "../../src/chain/structs.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { programFacts } from "../../src/dispute/run/execution.ts";
import { openExamClaims } from "../../src/attestation/exams/openExamClaims.ts";
import { WrongExamsError } from "../../src/attestation/errors.ts";
import { RpcUnavailableError } from "../../src/chain/errors.ts";
import { fitfulSession } from "../../testkit/nodes/fitfulSession.ts";
import { drawnMlp } from "../../testkit/models/mlp.ts";
import { ExamPlayers } from "../../testkit/players/examPlayers.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("a watcher that audits exams", function () {
  const program = drawnMlp();
  const { steps } = program.model.program;
  // The weights' product with the drawn input: all that follows is wrong too.
  const step = steps.findIndex(({ dtype, count }) => dtype === DType.float32 && count === 300);
  const lie = { step, element: 2 };
  let exams: ExamPlayers;
  beforeEach(async () => void (exams = await ExamPlayers.create(program)));
  afterEach(() => exams.players.chain.close());
  const pledgeOf = (session: Parameters<ExamPlayers["open"]>[0]) =>
    new PledgedClaimsReader(exams.beside.claims, session).pledgeOf(session.sender.address);

  it("refutesALiarOfManyExams_andNotAnHonestWorker", async () => {
    const [honest, liar] = [await exams.examinee(), await exams.examinee()];
    const { examClaims } = await exams.open(honest.claimContracts);
    const of = (worker: typeof honest) => worker.claimContracts.sender.address;
    // The first exam after the enrolment does not count.
    for (let k = 0; k < 13; k++) {
      const exam = await exams.nextExam();
      await exams.sit(honest, exam, reference());
      await exams.sit(liar, exam, k === 12 ? reference(lie) : reference());
    }
    for (const worker of [honest, liar]) expect(await examClaims.classHeld(of(worker), 0)).to.equal(true);
    const defending = [exams.defend(honest, reference()), exams.defend(liar, reference(lie))];
    const watcher = await exams.audit(await exams.challengerKey(), reference());
    const differs = await first(watcher, "examDiffers");
    expect(differs).to.include({ worker: of(liar), class: 0, number: 13 });
    await first(watcher, "examChallenged");
    await first(watcher, "moved", ({ move }) => move === "prove");
    await Promise.all([watcher, ...defending].map((one) => one.stop()));
    expect((await pledgeOf(liar.claimContracts)).status).to.equal(PledgeStatus.stopped);
    expect(await examClaims.classHeld(of(liar), 0)).to.equal(false);
    expect(await examClaims.classHeld(of(honest), 0)).to.equal(true);
    const kinds = watcher.inbox.all.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "examDiffers")).to.have.length(1);
    expect(kinds.filter((kind) => kind === "examChallenged")).to.have.length(1);
  });

  it("attackOnAnHonestWorker_costsTheBond_andTheClassIsKept", async () => {
    const honest = await exams.examinee();
    const result = await exams.sit(honest, await exams.nextExam(), reference());
    const key = await exams.challengerKey();
    // It executes wrongly, and believes itself.
    const attacker = await exams.audit(key, reference(lie));
    const defending = exams.defend(honest, reference());
    await first(attacker, "examChallenged");
    const { claimId } = await first(attacker, "opened");
    const claimContracts = await exams.claimContractsOf(key);
    const { examClaims } = await exams.open(claimContracts);
    const again = () => rejection(examClaims.challenge(result, programFacts(program.commitment)));
    // A result becomes one claim. When the claim is final, the time for challenges is over too.
    const error = await again();
    expect(error).to.be.instanceOf(ContractRevertError);
    expect(error.errorName).to.equal("ClaimExists");
    // The chain's verifier confirms the worker's element: the attacker has no proof, and its time runs out.
    await exams.endClaim(honest, claimId);
    await Promise.all([attacker.stop(), defending.stop()]);
    expect(await pledgeOf(honest.claimContracts)).to.include({ status: PledgeStatus.active, claims: 0n });
    const { vault, deployment } = honest.claimContracts;
    expect((await vault.accountOf(claimContracts.sender.address)).credit).to.equal(deployment.bond);
    expect((await again()).errorName).to.equal("LifetimeOver");
  });

  it("audits_aShare_andOnlyReports_ifToldSo", async () => {
    const liar = await exams.examinee();
    await exams.sit(liar, await exams.nextExam(), reference(lie));
    const key = await exams.challengerKey();
    const [none, watching] = [
      await exams.audit(key, reference(), 0),
      await exams.audit(key, reference(), 1, { mode: "watch" }),
    ];
    await first(watching, "examDiffers");
    await Promise.all([none.stop(), watching.stop()]);
    expect(none.inbox.all).to.deep.equal([]);
    expect(watching.inbox.all.map(({ kind }) => kind)).to.deep.equal(["examDiffers"]);
    expect((await pledgeOf(liar.claimContracts)).status).to.equal(PledgeStatus.active);
  });

  it("addressesOfOtherContracts_areRefused", async () => {
    const session = await exams.players.chain.newSession();
    expect(await rejection(openExamClaims(session, exams.beside.examClaims!))).to.be.instanceOf(WrongExamsError);
    expect(await rejection(openExamClaims(session, exams.exams))).to.be.instanceOf(WrongExamsError);
    const away = fitfulSession(session, () => true);
    expect(await rejection(openExamClaims(away, exams.exams))).to.be.instanceOf(RpcUnavailableError);
  });

  it("whatCannotBeChallenged_isRefusedByName", async () => {
    const worker = await exams.examinee();
    const result = await exams.sit(worker, await exams.nextExam(), reference());
    const { examClaims } = await exams.open(worker.claimContracts);
    const facts = programFacts(program.commitment);
    const name = async (sent: Promise<unknown>) => (await rejection(sent)).errorName;
    expect(await name(examClaims.challenge({ ...result, traceRoot: zeroHash }, facts))).to.equal("NotAResult");
    expect(await name(examClaims.challenge(result, { ...facts, stepsRoot: zeroHash }))).to.equal("WrongProgram");
    expect(await name(examClaims.enrol(worker.claimContracts.sender.address))).to.equal("EnrolledBefore");
    expect(await name(examClaims.enrol(exams.exams))).to.equal("NotPledged");
    await exams.players.chain.advance(86_401);
    expect(await name(examClaims.challenge(result, facts))).to.equal("LifetimeOver");
    expect(await examClaims.classHeld(worker.claimContracts.sender.address, 0)).to.equal(false);
  });
});
