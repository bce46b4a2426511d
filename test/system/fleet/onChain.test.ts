/**
 * `refute worker` and `refute watcher` on a chain, whose jobs `refute fleet executor`s execute. Several honest jobs,
 * claimed at the same time, become final, and a run that carries state; a lie is refuted; an executor is killed in the
 * middle of a task, and another executor in the middle of a stretch of the run.
 */
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEther, type Hex } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import type { RunWiring } from "../../../src/compiler/runWiring.ts";
import { Anvil, anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { deployLocally } from "../../../src/deploy/devnet/deployLocally.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { postJob } from "../../../src/parties/requester/postJob.ts";
import { waitForResult } from "../../../src/parties/requester/result.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { runWorker } from "../../../src/parties/worker/worker.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference, start } from "../../../testkit/players/players.ts";
import { Parties } from "../../../testkit/processes/parties.ts";
import { RefuteProcess } from "../../../testkit/processes/refuteProcess.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { ExecutorProcess } from "./executorProcess.ts";
import { inputOf, modelBytes } from "./network.ts";
import { PASSWORD, type Redis } from "./redis.ts";
import { useRedis } from "./useRedis.ts";

/** Two of them are killed. */
const EXECUTORS = 4;
const JOBS = 4;
/** Long enough for an executor to be killed in the middle of it: it gives forty tensors. */
const LAYERS = 40;
/** A run that carries state: stretches of some items each. */
const [RUN_LAYERS, ITEMS] = [12, 16];
/** The model of the job that a liar takes. */
const LIED = 2;
/** Longer than the check, so that a busy machine loses no clock; what is left of windows is skipped. */
const [WINDOW, CLOCK] = [1_800, 900];
/** What the work of the largest job adds to the shortest window, at most. */
const WORK = 300;
const FEE = parseEther("0.1");
/** A watcher has bonds for this game, and for what it may have to open again. */
const BONDS = 3n;

/** What is ended when all is over, or something has failed: the latest first. */
type Ends = (() => Promise<unknown>)[];

/** @returns what came about, in words */
async function play(redis: Redis, folder: string, ends: Ends): Promise<string> {
  const began = performance.now();
  const [model, runModel] = [modelBytes(LAYERS), modelBytes(RUN_LAYERS)];
  const wiring = { carried: { x: `y${RUN_LAYERS - 1}` }, lastOutputs: [`y${RUN_LAYERS - 1}`] };
  const program = knownProgram(compile(readModel(model), { shapes: {} }));
  const runProgram = knownProgram(compile(readModel(runModel), { shapes: {}, run: wiring }));
  const models = [{ bytes: model }, { bytes: runModel, run: wiring }, { bytes: mlpBytes(LIED) }];
  writeModels(folder, models);
  const password = { REFUTE_QUEUE_PASSWORD: PASSWORD };
  const fleet = ["--queue", redis.url, "--store", join(folder, "store")];
  const served = ["--models", join(folder, "models.json"), "--cache", join(folder, "cache")];
  const executors = Array.from(
    { length: EXECUTORS },
    (_, k) => new ExecutorProcess(`chain-${k}`, [...fleet, ...served], { ...process.env, ...password }),
  );
  for (const executor of executors) ends.push(() => executor.kill("SIGTERM"));
  const anvil = await Anvil.start();
  ends.push(() => anvil.close());
  const { chainId, market, manufacturer } = await deployLocally(anvil.url, { baseWindow: WINDOW, baseClock: CLOCK });
  const parties = new Parties(anvil, { chainId, market, manufacturer }, 1);
  const requester = await parties.withCredit("requester", FEE * BigInt(JOBS + 2));
  const { bond } = requester.session.deployment;
  const [worker, liar] = [await parties.withStake("worker", JOBS + 1), await parties.withStake("liar", 1)];
  const watcher = await parties.withCredit("watcher", BONDS * bond);
  const chain = ["--rpc-url", anvil.url, "--chain-id", String(chainId), "--market", market, "--interval", "0.5"];
  const asked = [...chain, ...fleet, "--at-once", String(JOBS), "--monitor-port", "0"];
  const working = [
    ...["worker", ...asked, "--max-open-claims", String(JOBS + 1), "--margin-seconds", "10"],
    ...["--self-audit", "1"],
  ];
  const roles = [
    // The worker does not know the model of the lie: what it would claim there, the liar could not.
    new RefuteProcess(working, worker.key, models.slice(0, 2), password),
    new RefuteProcess(["watcher", ...asked, "--mode", "defend"], watcher.key, models, password),
  ];
  for (const role of roles) ends.push(() => role.end());
  await ExecutorProcess.allReady(executors);
  for (const role of roles) await role.start();
  const lying = startLiar(liar.session);
  ends.push(() => lying.stop());
  const post = async (known: KnownProgram, input: Uint8Array, items = 1): Promise<Hex> => {
    const { timestamp } = await requester.session.publicClient.getBlock();
    const terms = { fee: FEE, window: WINDOW + WORK, claimSeconds: 3_600, deadline: timestamp + 86_000n, items };
    return (await postJob(requester.session, describeProgram(known), [input], terms)).jobId;
  };
  const lied = await post(mlpProgram(LIED), mlpInput(1));
  const jobs: Hex[] = [];
  for (let k = 0; k < JOBS; k++) jobs.push(await post(program, inputOf(k)));
  const counting = new HeldAtOnce(requester.session);
  ends.push(() => counting.end());
  await anvil.mineEvery(1);
  const killed = [await killInTheMiddle(executors, ({ begun }) => begun.length > 0)];
  jobs.push(await post(runProgram, inputOf(JOBS), ITEMS));
  killed.push(await killInTheMiddle(executors, ({ stretches }) => stretches > 0));
  const follow = followMarket(requester.session);
  for (;;) {
    for (const role of roles) assert(!role.hasEnded, `a role ended:\n${role.output}`);
    const { history } = await follow();
    const claimed = jobs.map((id) => history.jobs.get(id)!);
    const isRefuted = history.jobs.get(lied)!.claims.some(({ refuted }) => refuted);
    if (isRefuted && claimed.every(({ claims }) => claims.length > 0)) break;
    await sleep(100);
  }
  const atOnce = await counting.end();
  await first(lying, "refuted");
  await lying.stop();
  while ((await countsOf(roles[1]!)).agrees < jobs.length) await sleep(200);
  await anvil.request("evm_increaseTime", [WINDOW + WORK + 1]);
  const own = new FastExecutors();
  ends.push(() => own.close());
  for (const [k, jobId] of jobs.entries()) {
    const { outputs, worker: by } = await waitForResult(requester.session, jobId, { intervalMs: 100 });
    let exact = inputOf(k);
    const [{ model: executed }, items] = k < JOBS ? [program, 1] : [runProgram, ITEMS];
    for (let item = 0; item < items; item++) exact = (await own.execute(executed, [exact])).at(-1)!;
    assert.equal(by, worker.address);
    assert(Buffer.from(outputs.get(0)!).equals(Buffer.from(exact)), "the result is the exact one");
  }
  const counts = await Promise.all(roles.map(countsOf));
  for (const { done, here, differs } of counts)
    assert(done > 0 && here === 0 && differs === 0, `others executed, and nothing was done here: ${done}, ${here}`);
  assert(atOnce > 1, "the worker has several claims at a time");
  for (const role of roles) await role.end();
  return (
    `  ${jobs.length} jobs final, one of them a run of ${ITEMS} items that carry state, up to ` +
    `${atOnce} of them claimed at a time, one lie refuted, ${killed.join(" and ")} killed while they executed, in ` +
    `${((performance.now() - began) / 1_000).toFixed(0)} s`
  );
}

/** Counts, beside everything else, how many jobs are claimed at a time and not submitted. */
class HeldAtOnce {
  readonly #counting: Promise<void>;
  #isOver = false;
  #max = 0;

  constructor(session: Parameters<typeof followMarket>[0]) {
    this.#counting = this.#count(followMarket(session));
    this.#counting.catch(() => undefined);
  }

  /** @returns the most */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#counting;
    return this.#max;
  }

  async #count(follow: ReturnType<typeof followMarket>): Promise<void> {
    while (!this.#isOver) {
      const { history } = await follow();
      const held = [...history.jobs.values()].filter(({ holder }) => holder !== undefined);
      this.#max = Math.max(this.#max, held.length);
      await sleep(50);
    }
  }
}

function writeModels(folder: string, models: readonly { bytes: Uint8Array; run?: RunWiring }[]): void {
  const paths = models.map(({ bytes, run }, k) => {
    const path = join(folder, `model${k}.onnx`);
    writeFileSync(path, bytes);
    return { path, run };
  });
  writeFileSync(join(folder, "models.json"), JSON.stringify(paths));
}

/** A worker that lies about the last tensor of one model, and executes by itself. */
function startLiar(session: Parameters<typeof start>[0]) {
  const program = mlpProgram(LIED);
  const { step } = program.model.program.checkpoints.at(-1)!;
  const execute = reference({ step, element: 0 });
  const policy = { minFee: 1n, marginSeconds: 10 };
  const programs = ProgramLibrary.of([program]);
  return start<WorkerEvent>(session, (loop) => runWorker({ ...loop, programs, execute, policy, selfAuditSamples: 0 }));
}

/** Kills the first executor of which that is so, at once. @returns its name */
async function killInTheMiddle(
  executors: readonly ExecutorProcess[],
  isInTheMiddle: (executor: ExecutorProcess) => boolean,
): Promise<string> {
  for (;;) {
    const busy = executors.find((executor) => !executor.isKilled && isInTheMiddle(executor));
    if (busy !== undefined) {
      await busy.kill("SIGKILL");
      return busy.name;
    }
    await sleep(2);
  }
}

/** What a role's metrics say of its fleet, and of the claims that it found right. */
async function countsOf(role: RefuteProcess): Promise<Record<"done" | "here" | "differs" | "agrees", number>> {
  const [, port] = /"port":(\d+),"msg":"monitor listens"/.exec(role.output) ?? [];
  assert(port !== undefined, `the role serves its metrics:\n${role.output}`);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const count = (series: string): number =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(series))
        ?.split(" ")[1] ?? 0,
    );
  const ofFleet = (outcome: string): number => count(`refute_fleet_total{outcome="${outcome}"}`);
  return {
    done: ofFleet("done"),
    here: ofFleet("here"),
    differs: ofFleet("differs"),
    agrees: count('refute_events_total{kind="agrees"}'),
  };
}

describe("a fleet on a chain", function () {
  this.timeout(1_800_000);
  const ends: Ends = [];
  let folder: string | undefined;
  // Before the hooks of the server: executors end only while the queue is there.
  after(async () => {
    for (const end of ends.reverse()) await end().catch(() => undefined);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  const redis = useRedis();
  before(function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") leaveOut(this, binary.missing);
    folder = mkdtempSync(join(tmpdir(), "refute-fleet-chain-"));
  });

  it("jobsBecomeFinal_andALieIsRefuted_whileExecutorsAreKilled", async () => {
    console.log(await play(redis(), folder!, ends));
  });
});
