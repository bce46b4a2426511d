import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { parseEther } from "viem";
import { NO_METER, type NativeOutcome } from "../../src/runs/figures.ts";
import { Health } from "../../src/base/health.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import type { NativeRuntime } from "../../src/native/nativeRuntime.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { openDecoder } from "../../testkit/native/openedDecoder.ts";
import { classifierBytes } from "../../testkit/models/classifier.ts";
import { garbage, nativePrograms } from "../../testkit/native/nativePrograms.ts";
import { openBoth, type OpenedModel } from "../../testkit/native/openedModel.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { Prng } from "../../testkit/random/prng.ts";
import type { Execute } from "../../src/runs/execute.ts";

const ANSWER = { answer: true } as const;

const input = (seed: number): Uint8Array => {
  const prng = new Prng(seed);
  return floatTensor(Array.from({ length: 32 }, () => prng.below(2_001) / 1_000 - 1)).bytes;
};

/** What counts outcomes, and says what is wrong. */
function measured() {
  const outcomes: NativeOutcome[] = [];
  const health = new Health(pino({ level: "silent" }));
  return {
    outcomes,
    health,
    meter: { ...NO_METER, native: (outcome: NativeOutcome) => void outcomes.push(outcome) },
  };
}

/** Exact execution, counted. */
function counted(): { execute: Execute; count: () => number } {
  let executions = 0;
  const execute = reference();
  return { execute: (...args) => (executions++, execute(...args)), count: () => executions };
}
const policyFor = (requester: `0x${string}`) => ({ requesters: [requester], exposure: parseEther("100") });

describe("native execution, end to end", function () {
  const players = usePlayers("suite");
  let opened: OpenedModel;
  before(async () => (opened = await openBoth(classifierBytes())));
  after(() => opened.close());

  it("answerJob_workerAndWatcherNative_isDeliveredAndNobodyExecutes", async () => {
    const { program, programs } = nativePrograms(opened);
    const { requester, jobId } = await players().post(program, [input(1)], ANSWER);
    const policy = policyFor(requester.sender.address);
    const [byWorker, byWatcher] = [measured(), measured()];
    const [workerExecutes, watcherExecutes] = [counted(), counted()];
    const worker = await players().startWorker(await players().workerKey(), program, workerExecutes.execute, {
      native: { programs, exactShare: 0, policy },
      ...byWorker,
    });
    await first(worker, "answered", (e) => e.jobId === jobId);
    await first(worker, "submitted", (e) => e.jobId === jobId);
    const watcher = await players().startWatcher(await players().watcherKey(), program, watcherExecutes.execute, {
      native: { programs, exactShare: 0 },
      ...byWatcher,
    });
    await first(watcher, "agrees", (e) => e.jobId === jobId);
    await players().chain.advance(3_601);
    await first(worker, "delivered", (e) => e.jobId === jobId);
    await Promise.all([worker.stop(), watcher.stop()]);
    expect(workerExecutes.count() + watcherExecutes.count()).to.equal(0);
    expect(byWorker.outcomes).to.deep.equal(["native"]);
    expect(byWatcher.outcomes).to.deep.equal(["native"]);
  });

  it("answerJob_workerStartedAgain_deliversNatively", async () => {
    const { program, programs } = nativePrograms(opened);
    const { requester, jobId } = await players().post(program, [input(2)], ANSWER);
    const native = { programs, exactShare: 0, policy: policyFor(requester.sender.address) };
    const { execute, count } = counted();
    const key = await players().workerKey();
    const worker = await players().startWorker(key, program, execute, { native });
    await first(worker, "submitted", (e) => e.jobId === jobId);
    await worker.stop();
    await players().chain.advance(3_601);
    const again = await players().startWorker(key, program, execute, { native });
    await first(again, "delivered", (e) => e.jobId === jobId);
    await again.stop();
    expect(count()).to.equal(0);
  });

  it("job_ofAnUnlistedRequesterOrATraceOrBeyondTheExposure_isExecutedExactly", async () => {
    const { program, programs } = nativePrograms(opened);
    const answered = await players().post(program, [input(3)], ANSWER);
    const traced = await players().post(program, [input(3)]);
    const policies = [
      { ...policyFor(players().addressOf(await players().watcherKey())), jobs: [answered] },
      { ...policyFor(answered.requester.sender.address), exposure: 0n, jobs: [traced] },
    ];
    for (const policy of policies) {
      const { outcomes, meter } = measured();
      const { execute, count } = counted();
      const options = { native: { programs, exactShare: 0, policy }, meter };
      const worker = await players().startWorker(await players().workerKey(), program, execute, options);
      const { jobId } = await first(worker, "submitted");
      await worker.stop();
      expect(worker.inbox.all.some(({ kind }) => kind === "answered")).to.equal(false);
      expect(count()).to.be.above(0);
      expect(outcomes).to.deep.equal(jobId === answered.jobId ? ["exact"] : []);
    }
  });

  it("garbageRuntime_ofAWatcher_changesNoVerdictAndIsFound", async () => {
    const { program, programs } = nativePrograms(opened, garbage(opened.native));
    const { jobId } = await players().post(program, [input(4)], ANSWER);
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    await first(worker, "submitted", (e) => e.jobId === jobId);
    const { outcomes, health, meter } = measured();
    const options = { native: { programs, exactShare: 0 }, meter, health };
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(), options);
    await first(watcher, "agrees", (e) => e.jobId === jobId);
    await Promise.all([worker.stop(), watcher.stop()]);
    expect(outcomes.slice(0, 3)).to.deep.equal(["native", "rechecked", "disagreed"]);
    expect(health.problem("native")?.code).to.equal("NATIVE_DISAGREES");
    expect(watcher.inbox.all.filter(({ kind }) => kind === "opened")).to.deep.equal([]);
  });

  it("garbageRuntime_ofAWorkerThatChecks_isNotSubmitted", async () => {
    const { program, programs } = nativePrograms(opened, garbage(opened.native));
    const { requester, jobId } = await players().post(program, [input(5)], ANSWER);
    const policy = policyFor(requester.sender.address);
    const { outcomes, meter } = measured();
    const options = { native: { programs, exactShare: 1, policy }, meter };
    const worker = await players().startWorker(await players().workerKey(), program, reference(), options);
    await first(worker, "submitted", (e) => e.jobId === jobId);
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference());
    await first(watcher, "agrees", (e) => e.jobId === jobId);
    await Promise.all([worker.stop(), watcher.stop()]);
    expect(outcomes).to.deep.equal(["native", "rechecked", "disagreed"]);
  });

  it("garbageRuntime_ofAWorker_losesToAnExactWatcherAndSaysSo", async () => {
    const { program, programs } = nativePrograms(opened, garbage(opened.native));
    const { requester, jobId } = await players().post(program, [input(6)], ANSWER);
    const policy = policyFor(requester.sender.address);
    const { outcomes, health, meter } = measured();
    const options = { native: { programs, exactShare: 0, policy }, meter, health };
    const worker = await players().startWorker(await players().workerKey(), program, reference(), options);
    await first(worker, "submitted", (e) => e.jobId === jobId);
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference());
    const { claimId } = await first(watcher, "opened");
    while (health.problem("native") === undefined) await sleep(10);
    await players().chain.advance(20_000);
    await first(watcher, "moved", (e) => e.claimId === claimId && e.move === "timeout");
    await first(worker, "refuted", (e) => e.claimId === claimId);
    await Promise.all([worker.stop(), watcher.stop()]);
    expect(outcomes).to.deep.equal(["native", "rechecked", "disagreed"]);
    expect(worker.inbox.all.filter(({ kind }) => kind === "moved")).to.deep.equal([]);
  });
});

describe("the same native garbage at a worker and a watcher", function () {
  const players = usePlayers("suite");
  let opened: OpenedModel;
  before(async () => (opened = await openBoth(classifierBytes())));
  after(() => opened.close());

  it("isFoundByARandomCheck_andEarlierClaimsAreJudgedAgain", async () => {
    const { program, programs } = nativePrograms(opened, garbage(opened.native));
    const posted = await players().post(program, [input(7)], ANSWER);
    const requesters = [posted.requester.sender.address];
    const native = { programs, exactShare: 0, policy: { requesters, exposure: parseEther("100") } };
    const key = await players().workerKey();
    const worker = await players().startWorker(key, program, reference(), { native });
    await first(worker, "submitted", (e) => e.jobId === posted.jobId);
    let draw = 1;
    const { outcomes, meter } = measured();
    const options = { native: { programs, exactShare: 0.5, random: () => draw }, meter };
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(), options);
    await first(watcher, "agrees", (e) => e.jobId === posted.jobId);
    expect(outcomes).to.deep.equal(["native"]);
    // A second claim of the same kind is drawn.
    draw = 0;
    await worker.stop();
    const second = await players().post(program, [input(8)], ANSWER);
    requesters.push(second.requester.sender.address);
    const again = await players().startWorker(key, program, reference(), { native });
    await first(again, "submitted", (e) => e.jobId === second.jobId);
    await first(watcher, "differs", (e) => e.jobId === second.jobId);
    await first(watcher, "differs", (e) => e.jobId === posted.jobId);
    await Promise.all([again.stop(), watcher.stop()]);
    expect(outcomes.slice(0, 4)).to.deep.equal(["native", "native", "rechecked", "disagreed"]);
  });
});

describe("native text from a decoder, end to end", function () {
  const players = usePlayers("suite");
  const SHAPE = { layers: 1, width: 12, heads: 2, tokens: 6, vocabulary: 20 };
  let opened: OpenedModel;
  before(async () => (opened = await openDecoder(gpt2Decoder(SHAPE), { slots: 6, greedy: true })));
  after(() => opened.close());

  for (const [name, runtime, expected] of [
    ["ofOnnxruntime_isAcceptedAndNobodyExecutes", (native: NativeRuntime) => native, ["native"]],
    ["ofGarbage_changesNoVerdictAndIsFound", garbage, ["native", "rechecked", "disagreed"]],
  ] as const)
    it(`text_${name}`, async () => {
      const { program, programs } = nativePrograms(opened, runtime(opened.native));
      const inputs = decoderInputs(program.model, { prompt: [name.length % 20, 7] });
      const { requester, jobId } = await players().post(program, inputs, { ...ANSWER, items: 5 });
      const policy = policyFor(requester.sender.address);
      // The worker is right in both cases.
      const native = { programs: nativePrograms(opened).programs, exactShare: 0, policy };
      const byWorker = counted();
      const worker = await players().startWorker(await players().workerKey(), program, byWorker.execute, { native });
      await first(worker, "submitted", (e) => e.jobId === jobId);
      const { outcomes, meter, health } = measured();
      const byWatcher = counted();
      const options = { native: { programs, exactShare: 0 }, meter, health };
      const watcher = await players().startWatcher(await players().watcherKey(), program, byWatcher.execute, options);
      await first(watcher, "agrees", (e) => e.jobId === jobId);
      await players().chain.advance(3_601);
      await first(worker, "delivered", (e) => e.jobId === jobId);
      await Promise.all([worker.stop(), watcher.stop()]);
      expect(outcomes.slice(0, 3)).to.deep.equal(expected);
      expect(byWorker.count()).to.equal(0);
      expect(watcher.inbox.all.filter(({ kind }) => kind === "opened")).to.deep.equal([]);
      if (expected.length === 1) expect(byWatcher.count()).to.equal(0);
    });
});
