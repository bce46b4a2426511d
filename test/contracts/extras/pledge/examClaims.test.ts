import { expect } from "chai";
import { encodeAbiParameters, getAddress, keccak256, pad, zeroAddress, zeroHash, type Hex } from "viem";
import { ClaimStatus, PledgeStatus, type ExamResult } from "../../../../src/chain/structs.ts";
import { nextExam, SPACING } from "../../../../testkit/protocol/examKit.ts";
import {
  challenged,
  createExamClaimsWorld,
  EXAM_LIFETIME,
  EXAM_PROGRAMS,
  EXAM_CLASSES,
  refuteExam,
  satExam,
  type Sat,
} from "../../../../testkit/protocol/examClaimsWorld.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { attest } from "../../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { claimId, factsOf, jobId } from "../../../../testkit/protocol/world.ts";
import { ETHER } from "../../../../testkit/protocol/deployWorld.ts";

/** Exams that a class takes, of the last 16. */
const PASSES = 12;

describe("ExamClaims", function () {
  this.timeout(180_000);
  const world = useWorld(() => createExamClaimsWorld());
  const of = (name: "worker" | "watcher" | "mallory" | "stranger") => world()[name].account.address;
  const as = (name: "worker" | "watcher" | "mallory" | "stranger") => ({ account: world()[name].account });
  type Contract = "examClaims" | "claims" | "market" | "exams";
  const revert = (sent: Promise<unknown>, name: string, args?: unknown[], contract: Contract = "examClaims") => {
    const { assertions } = world().viem;
    return args === undefined
      ? assertions.revertWithCustomError(sent, world()[contract], name as never)
      : assertions.revertWithCustomErrorWithArgs(sent, world()[contract], name as never, args);
  };
  const enrol = (by: "worker" | "stranger" = "stranger") => world().examClaims.write.enrol([of("worker")], as(by));
  const challenge = (sat: Sat, changes: Partial<ExamResult> = {}) =>
    world().examClaims.write.challenge([{ ...sat.result, ...changes }, factsOf(sat.subject.commitment)], as("mallory"));
  const held = (k = 0) => world().examClaims.read.classHeld([of("worker"), k]);
  const pledged = async () => (await world().claims.read.pledgeOf([of("worker")]))[1];
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);

  it("constructor_keepsBothContracts_andRefusesExamsWithoutCode", async () => {
    const { viem, examClaims, exams, claims, mallory } = world();
    expect(await examClaims.read.exams()).to.equal(getAddress(exams.address));
    expect(await examClaims.read.claims()).to.equal(getAddress(claims.address));
    for (const none of [zeroAddress, mallory.account.address])
      expect(await refusalOf(viem.deployContract("ExamClaims", [none, claims.address]))).to.include(
        `NoCode(${getAddress(none)})`,
      );
  });

  describe("enrol", () => {
    it("fromAnybody_notesThePledge_andTheNextExam", async () => {
      const { viem, examClaims } = world();
      expect(await examClaims.read.enrolmentOf([of("worker")])).to.deep.equal({ pledged: 0n, number: 0 });
      const number = (await satExam(world())).result.number + 1;
      const since = await pledged();
      await viem.assertions.emitWithArgs(enrol(), examClaims, "Enrolled", [getAddress(of("worker")), since, number]);
      expect(await examClaims.read.enrolmentOf([of("worker")])).to.deep.equal({ pledged: since, number });
    });

    it("isOnceAPledge_andOfActiveOnesOnly", async () => {
      await revert(world().examClaims.write.enrol([of("mallory")]), "NotPledged", [
        getAddress(of("mallory")),
        PledgeStatus.none,
      ]);
      await enrol("worker");
      await revert(enrol(), "EnrolledBefore", [getAddress(of("worker")), await pledged()]);
      await world().claims.write.requestRelease(as("worker"));
      await revert(enrol(), "NotPledged", [getAddress(of("worker")), PledgeStatus.releasing]);
      await pass(EXAM_LIFETIME + 1);
      await world().claims.write.release(as("worker"));
      await revert(enrol(), "NotPledged", [getAddress(of("worker")), PledgeStatus.none]);
      await world().claims.write.pledge(as("worker"));
      await enrol();
      expect((await world().examClaims.read.enrolmentOf([of("worker")])).pledged).to.equal(await pledged());
    });
  });

  describe("classHeld", () => {
    it("countsExamsAfterTheNextOne_andThatOneNever", async () => {
      // Those before the enrolment make the class of Exams, and none of here.
      for (let k = 0; k < PASSES; k++) await satExam(world());
      expect(await world().exams.read.classHeld([of("worker"), 0])).to.equal(true);
      expect(await held()).to.equal(false);
      await enrol();
      for (let k = 0; k < PASSES; k++) {
        await satExam(world());
        expect(await held(), `${k} that count`).to.equal(false);
      }
      await satExam(world());
      expect(await held()).to.equal(true);
      expect(await held(1)).to.equal(false);
      await revert(world().examClaims.read.classHeld([of("worker"), 3]), "NoSuchClass", [3n, 3n], "exams");
      expect(await world().examClaims.read.classHeld([of("mallory"), 0])).to.equal(false);
    });

    it("needsThePledgeThatWasEnrolled_andNotAskedBack", async () => {
      await enrol();
      for (let k = 0; k <= PASSES; k++) await satExam(world());
      expect(await held()).to.equal(true);
      await world().claims.write.requestRelease(as("worker"));
      expect(await held(), "asked back").to.equal(false);
      await pass(EXAM_LIFETIME + 1);
      await world().claims.write.release(as("worker"));
      expect(await held(), "given back").to.equal(false);
      await world().claims.write.pledge(as("worker"));
      expect(await world().exams.read.classHeld([of("worker"), 0])).to.equal(true);
      expect(await held(), "pledged anew, not enrolled").to.equal(false);
      // Forged exams may be older than a challenge: none from before counts.
      await enrol();
      expect(await held(), "enrolled anew").to.equal(false);
      await satExam(world());
      for (let k = 0; k < PASSES; k++) await satExam(world());
      expect(await held(), "sat anew").to.equal(true);
    });

    it("isLostByMisses_andByOneWrongRoot", async () => {
      await enrol();
      for (let k = 0; k < PASSES; k++) await satExam(world());
      const wrong = await satExam(world(), { lies: true });
      expect(await held()).to.equal(true);
      for (let k = 0; k < 5; k++) {
        expect(await held(), `${k} missed`).to.equal(true);
        await world().exams.write.numberExam([await nextExam(world(), world().exams)]);
        await world().networkHelpers.mine(SPACING);
      }
      expect(await held(), "5 missed").to.equal(false);
      for (let k = 0; k < 4; k++) await satExam(world());
      expect(await held(), "4 of the misses are among the last 16").to.equal(false);
      for (let k = 0; k < 9; k++) await satExam(world());
      expect(await held()).to.equal(true);
      // The lie is older than what is known by now.
      await revert(challenge(wrong), "NotAResult");
      const another = await satExam(world(), { lies: true });
      const { claim } = await challenged(world(), another);
      expect(await held(), "challenged").to.equal(true);
      await refuteExam(world(), another, claim);
      expect(await held(), "refuted").to.equal(false);
      await revert(enrol(), "NotPledged", [getAddress(of("worker")), PledgeStatus.stopped]);
    });

    it("countsTheLast16_alsoLongAfterTheEnrolment", async () => {
      const { exams } = world();
      await enrol();
      for (let k = 0; k < 255; k++) await exams.write.numberExam([await nextExam(world(), exams)]);
      for (let k = 0; k < PASSES; k++) {
        await satExam(world());
        // Also where 256 exams were counted exactly.
        expect(await held()).to.equal(k === PASSES - 1);
      }
      const { number } = await world().examClaims.read.enrolmentOf([of("worker")]);
      expect((await exams.read.lastExam())[0] - number).to.be.above(256);
    });
  });

  describe("challenge", () => {
    it("fromAnybody_makesAResultAClaim_withItsSeedPublished", async () => {
      const { examClaims, market, claims, client, parameters } = world();
      const sat = await satExam(world());
      const { claim, hash } = await challenged(world(), sat, world().stranger);
      const { result, subject } = sat;
      const id = claimId(world(), claim);
      const { blockNumber } = await client.getTransactionReceipt({ hash });
      const windowEnd = result.time + BigInt(EXAM_LIFETIME);
      expect(await claims.read.statusOf([id])).to.deep.equal([
        ClaimStatus.submitted,
        windowEnd,
        getAddress(of("worker")),
      ]);
      expect((await claims.read.pledgeOf([of("worker")]))[2]).to.equal(1n);
      const range = { fromBlock: blockNumber, toBlock: blockNumber };
      const [challengedEvent] = await examClaims.getEvents.ResultChallenged({}, range);
      expect(challengedEvent!.args).to.deep.equal({
        claimId: id,
        worker: getAddress(of("worker")),
        challenger: getAddress(of("stranger")),
        class: 0,
        number: result.number,
      });
      const [posted] = await market.getEvents.JobPosted({}, range);
      const salt = keccak256(
        encodeAbiParameters(
          [{ type: "bytes32" }, { type: "uint8" }, { type: "uint32" }],
          [result.device, 0, result.number],
        ),
      );
      expect(posted!.args.job).to.deep.equal({
        requester: getAddress(examClaims.address),
        programRoot: EXAM_CLASSES[0]!.programRoot,
        inputsRoot: subject.inputsList.root,
        work: claim.job.work,
        checkpoints: 3,
        items: 1,
        firstItem: 0,
        answers: 0,
        fee: 0n,
        window: parameters.baseWindow + Number(claim.job.work / parameters.rate),
        claimSeconds: 0,
        deadline: result.time,
        callbackGas: 0,
        maxOutputBytes: 0,
        deliverables: 0n,
        rootOnly: false,
        salt: keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [examClaims.address, salt])),
        termsHash: zeroHash,
      });
      expect(posted!.args.inputRoots).to.deep.equal([subject.inputsList.node(0, 0)]);
      const [input] = await market.getEvents.InputPublished({}, range);
      expect(input!.args).to.deep.equal({ jobId: jobId(world(), claim.job), input: 0n, part: 0n, data: result.nonce });
      const [entered] = await market.getEvents.ClaimSubmitted({}, range);
      expect(entered!.args).to.deep.equal({
        jobId: jobId(world(), claim.job),
        claimId: id,
        worker: getAddress(of("worker")),
        root: result.traceRoot,
        collateral: parameters.collateral,
        windowEnd,
        nodes: "0x",
      });
    });

    it("ofWhatWasNotSat_isRefused_whateverField", async () => {
      const sat = await satExam(world());
      const { result } = sat;
      const changes: Partial<ExamResult>[] = [
        { worker: of("mallory") },
        { device: zeroHash },
        { class: 1 },
        { class: 255 },
        { number: result.number + 1 },
        { number: result.number + 16 },
        { time: result.time - 1n },
        { nonce: keccak256(result.nonce) },
        { traceRoot: keccak256(result.traceRoot) },
        { traceRoot: zeroHash },
      ];
      for (const change of changes)
        await revert(challenge(sat, change), "NotAResult", [
          change.device ?? result.device,
          change.class ?? 0,
          change.number ?? result.number,
        ]);
    });

    it("withAnotherProgram_isRefused", async () => {
      const { examClaims } = world();
      const sat = await satExam(world());
      const [{ commitment }, other] = EXAM_PROGRAMS;
      const given = factsOf(commitment);
      const header: Hex = `${given.header.slice(0, -2)}01` as Hex;
      for (const facts of [
        factsOf(other.commitment),
        { ...given, stepsRoot: zeroHash },
        { ...given, checkpointsRoot: zeroHash },
        { ...given, header },
      ])
        await revert(examClaims.write.challenge([sat.result, facts]), "WrongProgram", undefined, "market");
    });

    it("isOnceAResult_whoeverBringsIt_alsoWhenItIsFinal", async () => {
      const { claims } = world();
      const sat = await satExam(world());
      const { claim } = await challenged(world(), sat);
      // Whoever brings a result early does not shorten the time in which it can be challenged.
      const [, windowEnd] = await claims.read.statusOf([claimId(world(), claim)]);
      expect(windowEnd).to.equal(sat.result.time + BigInt(EXAM_LIFETIME));
      const again = (): Promise<void> => revert(challenge(sat), "ClaimExists", [claimId(world(), claim)], "market");
      await again();
      await pass(EXAM_LIFETIME);
      await claims.write.finalise([claim]);
      await revert(challenge(sat), "LifetimeOver", [sat.result.time, windowEnd], "claims");
      expect((await claims.read.pledgeOf([of("worker")]))[2]).to.equal(0n);
      // Another class of the same exam, and another exam, are others.
      const gridBlock = await nextExam(world(), world().exams);
      await challenged(world(), await satExam(world(), { gridBlock }));
      await challenged(world(), await satExam(world(), { gridBlock, class: 1 }));
      expect((await claims.read.pledgeOf([of("worker")]))[2]).to.equal(2n);
    });

    it("isForTheLast16Results_andUpToTheLastSecondOfItsTime", async () => {
      const { networkHelpers } = world();
      const sat = await satExam(world());
      const until = sat.result.time + BigInt(EXAM_LIFETIME);
      await networkHelpers.time.setNextBlockTimestamp(until);
      await challenged(world(), sat);
      const late = await satExam(world());
      const end = late.result.time + BigInt(EXAM_LIFETIME);
      await networkHelpers.time.setNextBlockTimestamp(end + 1n);
      await revert(challenge(late), "LifetimeOver", [late.result.time, end], "claims");
      const first = await satExam(world());
      for (let k = 0; k < 15; k++) await satExam(world());
      expect(await world().exams.read.isResult([first.result])).to.equal(true);
      await satExam(world());
      await revert(challenge(first), "NotAResult");
    });

    it("needsAPledgeThatBacksIt", async () => {
      const { claims, networkHelpers, vault } = world();
      const device = new TestDevice(world().manufacturer);
      await attest(world(), of("mallory"), device);
      const unbacked = await satExam(world(), { by: of("mallory"), device });
      const none = [getAddress(of("mallory")), PledgeStatus.none, PledgeStatus.releasing];
      await revert(challenge(unbacked), "WrongPledgeStatus", none, "claims");
      // A pledge backs what was sat before it too: that does no harm to who sat rightly.
      await vault.write.stake([5n * ETHER], as("mallory"));
      await claims.write.pledge(as("mallory"));
      await challenged(world(), unbacked);
      const [before, last] = [await satExam(world()), await satExam(world())];
      await networkHelpers.time.setNextBlockTimestamp(last.result.time + 10n);
      await claims.write.requestRelease(as("worker"));
      await challenged(world(), before);
      await challenged(world(), last);
      const after = await satExam(world());
      const asked = last.result.time + 10n;
      await revert(challenge(after), "IssuedAfterRequest", [after.result.time, asked], "claims");
    });

    it("ofAStoppedWorker_isRefused", async () => {
      const [wrong, other] = [await satExam(world(), { lies: true }), await satExam(world())];
      const { claim } = await challenged(world(), wrong);
      await refuteExam(world(), wrong, claim);
      const [, since] = await world().claims.read.pledgeOf([of("worker")]);
      await revert(challenge(other), "WorkerStopped", [getAddress(of("worker")), since], "claims");
      await revert(challenge(wrong), "WorkerStopped", undefined, "claims");
    });

    it("ofAClassWhoseProgramTakesNoSeed_isRefused", async () => {
      const sat = await satExam(world(), { class: 2 });
      await revert(challenge(sat), "WrongInputLength", [0n, 32n, 36n], "market");
    });
  });

  it("whoever_callsTheClaimsInItsPlace_isRefused", async () => {
    const { claims } = world();
    const { result, subject } = await satExam(world());
    const entry = {
      program: factsOf(subject.commitment),
      inputRoots: [subject.inputsList.node(0, 0)],
      inputs: [result.nonce],
      items: 1,
      firstItem: 0,
      answer: false,
      worker: result.worker,
      requester: of("mallory"),
      root: result.traceRoot,
      issued: result.time,
      salt: pad("0x01"),
    };
    for (const name of ["worker", "watcher", "mallory"] as const)
      await revert(claims.write.enter([entry, "0x"], as(name)), "NotAuthorised", [getAddress(of(name))], "claims");
  });
});
