/** Claims that are judged by four executors, two of which are killed. */
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { numberToHex, type Hex } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { BullTasks } from "../../../src/runs/fleet/bullTasks.ts";
import { FleetExecutions } from "../../../src/runs/fleet/fleetExecutions.ts";
import { S3Store } from "../../../src/runs/fleet/s3Store.ts";
import type { ClaimRecord, JobRecord } from "../../../src/chain/market/history.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram, programFacts, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { Executions } from "../../../src/runs/executions.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { NO_METER, type FleetOutcome } from "../../../src/runs/figures.ts";
import { Health } from "../../../src/base/health.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { ONE_ITEM } from "../../../src/program/run.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { KEYS, REGION, S3Server } from "../../../testkit/fleet/s3Server.ts";
import { Auditor } from "../../../watcher/auditor.ts";
import { ExecutorProcess, THREADS } from "./executorProcess.ts";
import { inputOf, modelBytes } from "./network.ts";
import { PASSWORD, type Redis } from "./redis.ts";
import { useRedis } from "./useRedis.ts";

const CLAIMS = AT_LENGTH ? 1_000 : 120;
const EXECUTORS = 4;
const KILLED = 2;
/** Of so many claims one is wrong. */
const WRONG_OF = 50;
const AT_ONCE = 16;
const AGAIN_SHARE = 0.05;
const ARITY_BITS = 1;
/** Some ten milliseconds. */
const LAYERS = 8;

function jobOf({ model, commitment }: KnownProgram, k: number): JobRecord {
  const input = inputOf(k);
  const root = tensorRoot(input);
  return {
    id: numberToHex(k, { size: 32 }),
    job: { programRoot: model.programRoot, inputsRoot: MerkleList.fromHashes([root]).root, ...ONE_ITEM, answers: 0 },
    program: programFacts(commitment),
    inputRoots: [root],
    parts: new Map([[0, new Map([[0, toHex(input)]])]]),
    claims: [],
  } as unknown as JobRecord;
}

/** The claim of a worker whose trace has these roots. */
function claimOf(job: JobRecord, list: MerkleList): ClaimRecord {
  const claim = { root: list.root };
  const times = { windowEnd: BigInt(Math.ceil(Date.now() / 1_000) + 3_600), games: [] };
  const nodes = submissionOf(list, ARITY_BITS);
  const record = { id: job.id, jobId: job.id, claim, nodes, ...times } as unknown as ClaimRecord;
  job.claims.push(Object.assign(record, { finalised: false, refuted: false, accepted: false }));
  return record;
}

/** The same list, but for its last node. */
function wrongList(list: MerkleList): MerkleList {
  const roots = Array.from({ length: list.width }, (_, k) => list.node(0, k));
  return MerkleList.fromHashes([...roots.slice(0, -1), tensorRoot(Uint8Array.of(1))]);
}

/**
 * Has claims judged by a fleet: every fiftieth is wrong, and two of four executors are killed while they execute.
 * @throws AssertionError if a claim is not judged, a verdict is wrong, or a task was executed again without need
 */
async function judgeClaims(redis: Redis, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "refute-fleet-"));
  const server = new S3Server();
  const endpoint = await server.start();
  const bytes = modelBytes(LAYERS);
  const path = join(folder, "model.onnx");
  writeFileSync(path, bytes);
  writeFileSync(join(folder, "models.json"), JSON.stringify([{ path }]));
  const program = knownProgram(compile(readModel(bytes), { shapes: {} }));
  const own = new FastExecutors();
  const programs = ProgramLibrary.of([program]);
  // What workers claimed is known without the fleet.
  const workers = new Executions(programs, own.execute);
  const claims: { job: JobRecord; claim: ClaimRecord; isWrong: boolean }[] = [];
  for (let k = 0; k < count; k++) {
    const job = jobOf(program, k);
    const { claimed } = (await workers.of(job))!;
    const isWrong = k % WRONG_OF === WRONG_OF - 1;
    claims.push({ job, claim: claimOf(job, isWrong ? wrongList(claimed) : claimed), isWrong });
  }
  const env = {
    ...process.env,
    ...{ REFUTE_QUEUE_PASSWORD: PASSWORD, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: REGION },
    ...{ AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
  };
  const flags = [
    "--queue",
    redis.url,
    "--store",
    `s3://${server.bucket}/fleet`,
    "--models",
    join(folder, "models.json"),
  ];
  const executors = Array.from(
    { length: EXECUTORS },
    (_, k) => new ExecutorProcess(`executor-${k}`, [...flags, "--cache", join(folder, "cache")], env),
  );
  // Without executors the role would execute itself.
  await ExecutorProcess.allReady(executors);
  const outcomes: FleetOutcome[] = [];
  const log = pino({ level: "silent" });
  const health = new Health(log);
  const tasks = await BullTasks.open({ url: redis.url, password: PASSWORD, onError: () => undefined });
  const store = new S3Store({ bucket: server.bucket, prefix: "fleet/", endpoint, region: REGION, ...KEYS });
  const meter = { ...NO_METER, fleet: (outcome: FleetOutcome) => void outcomes.push(outcome) };
  const options = { tasks, store, here: own.execute, againShare: AGAIN_SHARE, health, meter, log };
  const fleet = new FleetExecutions(options);
  const auditor = new Auditor(new Executions(programs, fleet.execute), ARITY_BITS);
  const verdicts = new Map<Hex, string>();
  const failed: string[] = [];
  const start = performance.now();
  const waiting = [...claims];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { job, claim } = next;
      try {
        verdicts.set(claim.id, (await auditor.judge(job, claim, 0)).kind);
      } catch (error) {
        failed.push((error as Error).message);
        waiting.push(next);
      }
    }
  };
  const judging = Promise.all(Array.from({ length: AT_ONCE }, lane));
  // Each of the two is killed in the middle of tasks: the first early, the second when half is done.
  for (const [k, share] of [0.1, 0.5].entries()) {
    while (verdicts.size < share * count || executors[k]!.begun.length === 0) {
      assert(verdicts.size < count, `${executors[k]!.name} does tasks before all are done`);
      await sleep(5);
    }
    await executors[k]!.kill("SIGKILL");
  }
  await judging;
  const seconds = (performance.now() - start) / 1_000;
  for (const executor of executors.slice(KILLED)) await executor.kill("SIGTERM");
  await fleet.close();
  await own.close();
  await server.close();
  rmSync(folder, { recursive: true });
  check(claims, verdicts, executors, outcomes);
  const begun = executors.map((executor) => executor.begun.length);
  const repeated = outcomes.filter((outcome) => outcome === "again").length;
  console.log(
    `  ${count} claims in ${seconds.toFixed(1)} s on ${EXECUTORS} executors, ${KILLED} of them killed: none ` +
      `missed, ${begun.join(" + ")} executions, ${repeated} of them to repeat, ` +
      `${failed.length} tries failed`,
  );
}

function check(
  claims: readonly { claim: ClaimRecord; isWrong: boolean }[],
  verdicts: ReadonlyMap<Hex, string>,
  executors: readonly ExecutorProcess[],
  outcomes: readonly FleetOutcome[],
): void {
  for (const { claim, isWrong } of claims)
    assert.equal(verdicts.get(claim.id), isWrong ? "differs" : "agrees", `the verdict on claim ${claim.id}`);
  for (const outcome of ["differs", "failed", "here"] as const)
    assert(!outcomes.includes(outcome), `no execution of a sound fleet is counted as ${outcome}`);
  const begins = new Map<string, ExecutorProcess[]>();
  for (const executor of executors)
    for (const task of executor.begun) begins.set(task, [...(begins.get(task) ?? []), executor]);
  // A task is begun again only if whoever had it was killed, and of those only as many as it had at a time.
  const again = [...begins.values()].map((by) => by.length - 1).reduce((sum, more) => sum + more, 0);
  for (const by of begins.values()) assert(by.filter(({ isKilled }) => !isKilled).length <= 1, "begun twice");
  assert(again <= KILLED * THREADS, `${again} tasks were begun again`);
}

describe("a fleet with claims to judge", function () {
  this.timeout(1_800_000);
  const redis = useRedis();

  it("eachClaim_isJudgedRightly_whileTwoOfFourExecutorsAreKilled", () => judgeClaims(redis(), CLAIMS));
});
