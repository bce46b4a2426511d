import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import type { Execution } from "../../../src/dispute/run/execution.ts";
import { followMarket, type Session } from "../../../src/chain/market/session.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { MAX_TRIES, type Sample } from "../../../src/parties/worker/failedAudits.ts";
import { drawSamples, selfAudit, SelfAuditError } from "../../../src/parties/worker/selfAudit.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, Players, reference } from "../../../testkit/players/players.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { executeItems } from "../../../src/runs/executeRun.ts";
import { runProgram } from "../../../testkit/programs/runProgram.ts";
import { runOf, type OwnRun } from "../../../testkit/programs/runsOf.ts";
import { runOfOne } from "../../../testkit/programs/runOfOne.ts";
import { Prng } from "../../../testkit/random/prng.ts";

describe("selfAudit", function () {
  const program = mlpProgram();
  const inputs = [mlpInput(1)];
  let players: Players;
  let session: Session;
  before(async () => {
    players = await Players.create();
    session = await players.chain.newSession();
  });
  after(() => players.chain.close());

  const execution = async (lie?: { step: number; element: number }): Promise<Execution> => {
    const tensors = await reference(lie)(program.model, inputs);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors) };
  };

  /** Audits an execution at elements that are drawn. */
  function audit(own: Execution, count: number, random: (below: number) => number, again: readonly Sample[] = []) {
    const run = runOfOne(own);
    const samples = [...again, ...drawSamples(run, count, random)];
    const { publicClient, deployment } = session;
    return selfAudit(publicClient, deployment.verifier, run.root, samples, (action) => action(run));
  }

  it("anExactExecution_passesEverywhere", async function () {
    const prng = new Prng(1);
    await audit(await execution(), 20, (below) => prng.below(below));
  });

  it("aWrongElement_isFound", async function () {
    const wrong = await execution({ step: 0, element: 5 });
    const picks = [0, 0, 5];
    const error = await rejection(audit(wrong, 1, () => picks.shift()!));
    expect(error).to.be.instanceOf(SelfAuditError);
    expect(error.message).to.contain("item 0, step 0, element 5");
  });

  it("whatFailedBefore_isAuditedAgain_whereverTheNextSamplesFall", async function () {
    const wrong = await execution({ step: 0, element: 5 });
    await audit(wrong, 1, () => 0);
    const again = [{ item: 0, step: 0, element: 5 }];
    const error = await rejection(audit(wrong, 1, () => 0, again));
    expect(error).to.be.instanceOf(SelfAuditError);
    expect(error).to.have.property("sample").that.deep.equals(again[0]);
  });

  it("anyItemOfARun_isAudited_andExecutedAgainForIt", async function () {
    const runs = runProgram();
    const { publicClient, deployment } = session;
    const audit = (own: OwnRun, samples: readonly Sample[], root = own.run.root) =>
      selfAudit(publicClient, deployment.verifier, root, samples, async (action) => {
        const items = samples.map(({ item }) => item);
        await executeItems(own.run, own.run.missing(items), own.execute);
        return action(own.run);
      });
    const [honest, lying] = [await runOf(runs, 12), await runOf(runs, 12, { item: 5, step: 1, element: 9 })];
    const samples = drawSamples(honest.run, 40);
    expect(new Set(samples.map(({ item }) => item)).size).to.be.above(5);
    await audit(honest, samples);
    // Of the same carried state, the items after it are right.
    await audit(lying, [{ item: 6, step: 1, element: 9 }]);
    const error = await rejection(audit(lying, [...samples, { item: 5, step: 1, element: 9 }]));
    expect(error).to.be.instanceOf(SelfAuditError);
    expect(error.message).to.contain("item 5, step 1, element 9");
    // An item that is another one when it is executed again.
    const changed = { run: lying.run, execute: honest.execute };
    lying.run.release();
    const other = await rejection(audit(changed, [{ item: 5, step: 0, element: 0 }]));
    expect(other.message).to.contain("item 5, executed again, has another trace");
    expect((await rejection(audit(honest, samples, lying.run.root))).message).to.contain("has another trace");
  });

  /**
   * A worker whose executions are changed by `spoil`, which gets the number of earlier ones, on a job that waits for
   * it.
   */
  async function broken(spoil: (tensors: Uint8Array[], before: number) => void) {
    let rounds = 0;
    let executions = 0;
    const lines: { level: number; code?: string; reason: string; msg: string }[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    const key = await players.workerKey();
    const running = await players.startWorker(
      key,
      program,
      async (...given) => {
        const tensors = await reference()(...given);
        spoil(tensors, executions++);
        return tensors;
      },
      { selfAuditSamples: 60, onRound: () => rounds++, log },
    );
    const worker = { ...running, key, address: players.addressOf(key) };
    const { requester, record } = await posted();
    return {
      worker,
      lines,
      record,
      requester,
      executions: () => executions,
      moreRounds: async () => {
        for (const end = rounds + 3; rounds < end;) await sleep(10);
      },
      /** In any order: a worker executes while its claim is on its way. */
      kinds: () => worker.inbox.all.map(({ kind }) => kind),
    };
  }

  async function posted() {
    const { requester, jobId } = await players.post(program, inputs);
    const { history } = await followMarket(requester)();
    return { requester, record: history.jobs.get(jobId)! };
  }

  // Every element of a step of ten is wrong, and each of the steps is sampled many times.
  const last = program.model.program.steps.length - 1;
  const spoilLast = (tensors: Uint8Array[], by: number): void => {
    tensors[last] = tensors[last]!.map((byte) => byte ^ by);
  };

  it("aWorkerWhoseExecutionIsWrong_submitsNothing_triesOnceMore_andSaysOnceWhatIsAtStake", async function () {
    const { worker, lines, executions, moreRounds, kinds } = await broken((tensors) => spoilLast(tensors, 0x11));
    const { reason, penalty, submitBy } = await first(worker, "withheld");
    const { collateral } = session.deployment.parameters;
    expect(penalty).to.equal(collateral / 20n);
    expect(reason).to.include(`step ${last}`).and.include(String(penalty));
    expect(reason).to.include(new Date(Number(submitBy) * 1_000).toISOString());
    await moreRounds();
    await worker.stop();
    expect(kinds()).to.have.members(["claimed", "executed", "withheld"]);
    expect(executions()).to.equal(2);
    expect(lines.map(({ level }) => level)).to.deep.equal([40, 50, 50]);
    expect(lines[1]!.msg).to.equal("not ready: selfAudit");
    expect(lines[2]!.msg).to.equal("withheld");
    expect(lines[0]!.code).to.equal("SELF_AUDIT");
  });

  it("aMachineThatIsWrongInAnotherWayEachTime_isGivenUpAfterThree", async function () {
    const { worker, executions, moreRounds, kinds } = await broken((tensors, k) => spoilLast(tensors, 0x11 + k));
    await first(worker, "withheld");
    await moreRounds();
    await worker.stop();
    expect(kinds()).to.have.members(["claimed", "executed", "withheld"]);
    expect(executions()).to.equal(MAX_TRIES);
  });

  it("aFaultThatPasses_costsAnExecutionMore_andNothingElse", async function () {
    const { worker, lines, executions, kinds } = await broken((tensors, k) => spoilLast(tensors, k === 0 ? 0x11 : 0));
    const { root } = await first(worker, "submitted");
    await worker.stop();
    expect(root).to.equal((await execution()).trace.root);
    expect(kinds()).to.have.members(["claimed", "executed", "submitted"]);
    expect(executions()).to.equal(2);
    expect(lines).to.have.length(1);
  });

  it("whatItGaveUp_costsOnePenalty_andNoJobOfTheProgramIsClaimedAgain_untilARestart", async function () {
    const { worker, record, requester, moreRounds, kinds } = await broken((tensors) => spoilLast(tensors, 0x11));
    await first(worker, "withheld");
    await players.chain.advance(record.job.claimSeconds + 1);
    await first(worker, "expired");
    // The job is open again, and there is another one.
    const other = await posted();
    await moreRounds();
    expect(kinds()).to.have.members(["claimed", "executed", "withheld", "expired"]);
    const { collateral } = session.deployment.parameters;
    const { staked, locked } = await requester.vault.accountOf(worker.address);
    expect(staked).to.equal(2n * collateral - collateral / 20n);
    expect(locked).to.equal(0n);
    await worker.stop();
    // Mended, it takes the other job, and not the one that it was too late for.
    const mended = await players.startWorker(worker.key, program, reference(), { selfAuditSamples: 5 });
    expect((await first(mended, "submitted")).jobId).to.equal(other.record.id);
    await mended.stop();
    expect(mended.inbox.all.filter(({ kind }) => kind === "claimed")).to.have.length(1);
  });
});
