import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isAddressEqual, parseEther, type Address, type PublicClient } from "viem";
import type { SumForm } from "../../src/compiler/passes/shares/sumSteps.ts";
import type { ClaimRecord, History } from "../../src/chain/market/history.ts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { DispatchProcess } from "../dispatch/dispatchProcess.ts";
import { passTime } from "../dispatch/passTime.ts";
import { serveRpc } from "../nodes/rpcServer.ts";
import type { Players } from "../players/players.ts";
import { RefuteProcess } from "../processes/refuteProcess.ts";
import type { CrookKind, CrookSettings } from "./crookedWorker.ts";
import { freePort, MortalWorker } from "./mortalWorker.ts";
import { Stage } from "./stage.ts";
import type { Training } from "./trainer.ts";

const CROOK = fileURLToPath(new URL("./crookedWorker.ts", import.meta.url));
const KINDS: readonly CrookKind[] = ["lying", "copying"];
/** A worker's stake, in collaterals: enough for a single claim, even after being late. */
const STAKE = 1.5;

/** A training over workers in separate processes. */
type TrainingStory = {
  training: Training;
  /** The form for sums, exact by default. */
  sums?: SumForm;
  /** Workers, including dishonest workers. Each stake allows a single claim. Every worker gets a share. */
  workers: number;
  /** The step, from 0, when an honest worker is killed after claiming. */
  killed?: number;
  /** The steps in which workers are dishonest. */
  crooks?: Readonly<Partial<Record<CrookKind, number>>>;
};

/** One step, as the command prints it. */
type PrintedStep = { step: number; loss: number; jobs: number; fee: string; gas: number; bytes: number };

type TrainingStoryResult = {
  /** The file of the trained model. */
  trained: Uint8Array;
  steps: readonly PrintedStep[];
  seconds: number;
  /** The killed worker's lives. */
  lives: number;
  /** Jobs that a worker held too long. */
  late: number;
  /** Gas for transactions by workers and the watcher. */
  othersGas: number;
  /** Claims refuted. */
  refuted: Record<CrookKind | "honest", number>;
  isLieFinal: boolean;
};

/**
 * Plays a training with `refute job train`, workers (`refute worker`) and a watcher, all separate processes, on the
 * embedded chain. Jobs' inputs are files.
 * @throws Error with the command's error output, if the command fails
 */
export async function playTraining(players: Players, story: TrainingStory): Promise<TrainingStoryResult> {
  const { chain } = players;
  const { training, workers, killed, crooks = {}, sums = "exact" } = story;
  const begun = Date.now();
  const stage = await Stage.open(training, workers, sums);
  const rpc = await serveRpc(chain.provider);
  const closing: (() => unknown)[] = [() => stage.close(), () => rpc.close()];
  const network = { chainId: chain.chainId, market: chain.market };
  const flags = (url: string): string[] => [
    ...["--rpc-url", url, "--chain-id", String(network.chainId), "--market", network.market, "--interval", "0.2"],
  ];
  const fetching = ["--references", "--input-hosts", stage.host];
  const models = stage.trains.map((train) => ({ bytes: training.onnx, train }));
  const ports: number[] = [];

  /** A dishonest worker: its address, and how it is started. */
  const crook = async (kind: CrookKind, step: number): Promise<{ kind: CrookKind; address: Address; step: number }> => {
    const [key, port] = [await players.workerKey(STAKE), await freePort()];
    ports.push(port);
    const batch = { x: stage.batchFile("x", step), labels: stage.batchFile("labels", step) };
    const place = { model: stage.at("model.onnx"), trains: stage.trains, batch, host: stage.host, port };
    const settings: CrookSettings = { ...network, url: rpc.url, key, kind, ...place };
    const child: ChildProcess = fork(CROOK, [], { env: { ...process.env, CROOK: JSON.stringify(settings) } });
    killAtExit(child);
    closing.unshift(() => child.kill("SIGKILL"));
    await once(child, "message");
    return { kind, address: players.addressOf(key), step };
  };
  const dishonest = await Promise.all(
    KINDS.flatMap((kind) => (crooks[kind] === undefined ? [] : [crook(kind, crooks[kind])])),
  );

  const start = async (command: readonly string[], key: `0x${string}`, url: string): Promise<RefuteProcess> => {
    const made = new RefuteProcess([...command, ...fetching, ...flags(url)], key, models);
    closing.unshift(() => made.end());
    await made.start();
    return made;
  };
  const honest: RefuteProcess[] = [];
  let mortal: MortalWorker | undefined;
  for (let k = dishonest.length; k < workers; k++) {
    const [key, port] = [await players.workerKey(STAKE), await freePort()];
    ports.push(port);
    let { url } = rpc;
    if (killed !== undefined && mortal === undefined) {
      mortal = new MortalWorker(players.addressOf(key), killed);
      const own = await serveRpc(chain.provider, mortal.through);
      closing.push(() => own.close());
      url = own.url;
    }
    honest.push(await start(["worker", "--margin-seconds", "10", "--publish-port", String(port)], key, url));
  }
  mortal?.take(honest[0]!);
  await start(["watcher", "--mode", "defend"], await players.watcherKey(), rpc.url);

  const requester = await chain.newAccount(parseEther("20"));
  const dispatcher = new DispatchProcess(
    [
      ...[
        "job",
        "train",
        ...stage.flags,
        "--shares",
        String(workers),
        "--sums",
        sums,
        "--fee",
        "0.02",
        "--budget",
        "15",
      ],
      ...["--state", stage.at("training.db"), "--place-folder", stage.at("files"), "--out", stage.at("trained.onnx")],
      ...["--place-url", `http://${stage.host}/`, "--withheld-seconds", "20", "--check", "0", ...flags(rpc.url)],
      ...ports.flatMap((port) => ["--from", `http://127.0.0.1:${port}`]),
    ],
    requester,
  );
  const { publicClient } = await chain.newSession();
  const first = await publicClient.getBlockNumber();
  let seen: History | undefined;
  const isWrong = ({ claim, jobId }: ClaimRecord): boolean => {
    const job = seen?.jobs.get(jobId);
    const step = dishonest.find(({ address }) => address === claim.worker)?.step;
    return job !== undefined && step !== undefined && stage.stepOf(job) === step;
  };
  const idle = new Set<Address>();
  const onLook = (history: History): void => {
    seen = history;
    const jobs = [...history.jobs.values()];
    if (mortal === undefined) return;
    mortal.look(jobs, Math.max(0, ...jobs.map((job) => stage.stepOf(job) ?? 0)));
    if (mortal.isDead) idle.add(mortal.address);
    else idle.delete(mortal.address);
  };
  const over = new AbortController();
  const time = passTime(players, { idle, isWrong }, over.signal, { onLook });
  try {
    const { status, stdout, stderr } = await dispatcher.run();
    over.abort();
    const history = (seen = await time);
    if (status !== 0) throw new Error(`refute job train ends with ${status}: ${stderr}`);
    const claims = [...history.claims.values()];
    const refuted = { lying: 0, copying: 0, honest: 0 };
    for (const { claim } of claims.filter((each) => each.refuted))
      refuted[dishonest.find(({ address }) => address === claim.worker)?.kind ?? "honest"]++;
    return {
      ...{ trained: readFileSync(stage.at("trained.onnx")), seconds: (Date.now() - begun) / 1_000, refuted },
      steps: (JSON.parse(stdout) as { steps: PrintedStep[] }).steps,
      lives: honest[0]?.startedAt.length ?? 0,
      othersGas: await othersGas(publicClient, players.addressOf(requester), first),
      late: [...history.jobs.values()].filter((job) => job.late.size > 0).length,
      isLieFinal: claims.some((claim) => claim.finalised && isWrong(claim)),
    };
  } finally {
    over.abort();
    await time.catch(() => undefined);
    for (const close of closing) await close();
  }
}

/** The gas for all transactions since a block, except an account's own. */
async function othersGas(
  { getBlock, getBlockNumber, getTransactionReceipt }: PublicClient,
  own: Address,
  since: bigint,
) {
  let gas = 0n;
  const head = await getBlockNumber();
  for (let blockNumber = since + 1n; blockNumber <= head; blockNumber++)
    for (const { from, hash } of (await getBlock({ blockNumber, includeTransactions: true })).transactions)
      if (!isAddressEqual(from, own)) gas += (await getTransactionReceipt({ hash })).gasUsed;
  return Number(gas);
}
