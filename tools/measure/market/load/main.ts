/**
 * Has a market of 8 workers and 2 watchers, all in this process, serve jobs of a small network on one devnet, and
 * prints jobs a second and gas a job as they grow. All workers share one executor: the CPU's, or a GPU's. Watchers
 * check on the CPU. A campaign that was stopped goes on; one that is through begins anew.
 */
import { join } from "node:path";
import { parseEther } from "viem";
import { chooseDevice } from "../../../../src/executor/gpu/chooseExecutor.ts";
import { CPU_SHARE, DeviceExecutions } from "../../../../src/runs/deviceExecutions.ts";
import type { Execute } from "../../../../src/runs/execute.ts";
import { FastExecutors } from "../../../../src/runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../../src/runs/programLibrary.ts";
import { followMarket, type Session } from "../../../../src/chain/market/session.ts";
import type { History } from "../../../../src/chain/market/history.ts";
import { describeProgram } from "../../../../src/parties/requester/describeProgram.ts";
import { postJob } from "../../../../src/parties/requester/postJob.ts";
import { runWorker } from "../../../../src/parties/worker/worker.ts";
import type { WorkerEvent } from "../../../../src/parties/worker/events.ts";
import { mlpInput, mlpProgram } from "../../../../testkit/models/mlp.ts";
import { start, type Running } from "../../../../testkit/players/players.ts";
import { runWatcher } from "../../../../watcher/watcher.ts";
import type { WatcherEvent } from "../../../../watcher/events.ts";
import { file, readOptions, text, whole } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import { BenchDevnet, type Slice } from "./devnet.ts";

const WORKERS = 8;
const WATCHERS = 2;
/** Number of jobs open or in their windows at the same time; the chain is kept after each slice. */
const SLICE = 250;
const WINDOW = 1_900;
/** A job's fee, wei: more than the gas takes. */
const FEE = parseEther("0.1");
/** Jobs that the requester can pay for. */
const MAX_JOBS = 20_000n;
/** The chain's folder while a campaign goes on. */
const FOLDER = join("cache", "bench", "market");

const PROGRAM = mlpProgram();

/** The participants in a campaign's market. */
type Cast = { requester: Session; players: Pick<Running<unknown>, "stop">[]; close: () => Promise<void> };

const values = readOptions({
  jobs: whole("jobs of the campaign", 1_000),
  slice: whole("jobs that are open at a time; the chain is kept after each slice", SLICE),
  device: text("where the workers compute: cpu, gpu or a part of a GPU's name", "cpu"),
  json: file("a file for the figures"),
});
const { jobs, slice, device } = values;
/** The GPU's executions so far, and their seconds. */
const gpu = { executions: 0, seconds: 0 };
const devnet = await BenchDevnet.open(FOLDER);
const cast = await assemble(devnet);
try {
  for (const done of devnet.slices) print(done, slice);
  while ((devnet.slices.at(-1)?.jobs ?? 0) < jobs) {
    await devnet.keep(await serve(devnet, cast, slice));
    print(devnet.slices.at(-1)!, slice);
  }
} finally {
  await Promise.all(cast.players.map(({ stop }) => stop()));
  await cast.close();
  await devnet.close();
}
BenchDevnet.forget(FOLDER);
keepFigures(values.json, { market: devnet.slices });
// The devnet's chain keeps the process alive.
process.exit();

async function assemble(devnet: BenchDevnet): Promise<Cast> {
  const { session: requester } = await devnet.party("requester", { credit: MAX_JOBS * FEE });
  const { bond } = requester.deployment;
  const cpu = new FastExecutors();
  const { execute, close } = await executorOf(cpu.execute);
  const players: Cast["players"] = [];
  for (let k = 0; k < WORKERS; k++) {
    const { session } = await devnet.party(`worker ${k}`, { claims: SLICE });
    const own = { programs: ProgramLibrary.of([PROGRAM]), execute, selfAuditSamples: 0 };
    const policy = { minFee: 1n, marginSeconds: 10, maxOpenClaims: SLICE };
    players.push(start<WorkerEvent>(session, (all) => runWorker({ ...all, ...own, policy })));
  }
  for (let k = 0; k < WATCHERS; k++) {
    const { session } = await devnet.party(`watcher ${k}`, { credit: 3n * bond });
    const own = { programs: ProgramLibrary.of([PROGRAM]), execute: cpu.execute, mode: "defend" as const };
    players.push(start<WatcherEvent>(session, (all) => runWatcher({ ...all, ...own })));
  }
  return { requester, players, close: () => close().then(() => cpu.close()) };
}

/** The executor of all workers. */
async function executorOf(cpu: Execute): Promise<{ execute: Execute; close: () => Promise<void> }> {
  const chosen = await chooseDevice(device, console.log);
  if (chosen === undefined) return { execute: cpu, close: () => Promise.resolve() };
  console.log(`workers compute on ${chosen.name}`);
  return new DeviceExecutions({
    ...{ gpu: chosen, cpu, share: CPU_SHARE },
    onGpuSeconds(seconds) {
      gpu.executions++;
      gpu.seconds += seconds;
    },
    onStop: ({ message }) => console.log(message),
    onRefusal: (_, reason) => console.log(reason),
  });
}

/** Posts `count` jobs, and waits until all are paid. Time passes on the chain once all jobs have claims. */
async function serve(devnet: BenchDevnet, { requester }: Cast, count: number): Promise<Slice> {
  const { anvil } = devnet;
  const { publicClient } = requester;
  const before = await publicClient.getBlockNumber();
  const look = followMarket(requester);
  const ids = new Set<string>();
  const until = async (holds: (job: NonNullable<ReturnType<History["jobs"]["get"]>>) => boolean): Promise<void> => {
    for (;;) {
      const { history } = await look();
      if ([...ids].every((id) => holds(history.jobs.get(id as `0x${string}`)!))) return;
      await new Promise((done) => setTimeout(done, 200));
    }
  };
  const [begun, used] = [performance.now(), process.cpuUsage()];
  const { timestamp } = await publicClient.getBlock();
  const terms = { fee: FEE, window: WINDOW, claimSeconds: 7_200, deadline: timestamp + 80_000n };
  const description = describeProgram(PROGRAM);
  const known = (await look()).history.jobs.size;
  for (let k = 0; k < count; k++) {
    const { jobId } = await postJob(requester, description, [mlpInput(known + k)], terms);
    ids.add(jobId);
  }
  await until(({ claims }) => claims.length > 0);
  await anvil.request("evm_increaseTime", [WINDOW + 1]);
  await anvil.request("evm_mine");
  await until(({ claims }) => claims.some(({ paid }) => paid));
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(used);
  let [gas, transactions, reverted] = [0, 0, 0];
  for (let number = before + 1n; number <= (await publicClient.getBlockNumber()); number++) {
    const block = await publicClient.getBlock({ blockNumber: number });
    gas += Number(block.gasUsed);
    transactions += block.transactions.length;
    for (const hash of block.transactions)
      if ((await publicClient.getTransactionReceipt({ hash })).status === "reverted") reverted++;
  }
  const processorSeconds = (user + system) / 1e6;
  const memoryMib = process.memoryUsage().rss / 2 ** 20;
  return { jobs: known + count, seconds, processorSeconds, gas, transactions, reverted, memoryMib };
}

function print(done: Slice, count: number): void {
  const { jobs, seconds, processorSeconds, gas, transactions, reverted, memoryMib } = done;
  const cells = [
    `${jobs} jobs`,
    `${(count / seconds).toFixed(2)} jobs a second`,
    `${Math.round((1_000 * processorSeconds) / count)} ms of the parties' processors a job`,
    `${Math.round(gas / count)} gas and ${(transactions / count).toFixed(1)} transactions a job`,
    `${(reverted / count).toFixed(1)} of them for a job that another worker had`,
    `${Math.round(memoryMib)} MiB`,
    ...(device === "cpu" ? [] : [`so far ${gpu.executions} executions on the GPU, ${gpu.seconds.toFixed(1)} s`]),
  ];
  console.log(cells.join(", "));
}
