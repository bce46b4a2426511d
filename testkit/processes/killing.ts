import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeFunctionData, isAddressEqual, parseTransaction, type Address, type Hex } from "viem";
import { protocolAbi, type History, type JobRecord } from "../../src/chain/market/history.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { Outcome } from "../../src/chain/structs.ts";
import { SealBook } from "../../src/parties/worker/sealBook.ts";
import type { Players } from "../players/players.ts";
import { serveRpc } from "../nodes/rpcServer.ts";
import type { KilledJob } from "./killedJobs.ts";
import { RefuteProcess } from "./refuteProcess.ts";

/** The transactions that a process does not survive, by called function. Each entry counts once. */
type KillPoints = readonly string[];

/** The result for a killed party. */
export type Survived = { kills: string[]; calls: string[] };

/**
 * How long a wait may take beyond the last start of the process, if the process then has computed for some seconds: a
 * busy machine may give a process one second in five minutes. Without these seconds the wait ends later.
 */
const LIMIT_MS = 240_000;
const LIMIT_CPU_SECONDS = 20;
const LONGEST_MS = 1_800_000;

/**
 * Plays an honest worker, killed just after sending transactions. A watcher disputes the worker's claim without cause;
 * the worker must win and be paid.
 * @throws Error if the worker fails, or makes a move twice
 */
export async function killedWorker(players: Players, points: KillPoints, killed: KilledJob): Promise<Survived> {
  const key = await players.workerKey();
  const { program, inputs, terms, wrong } = killed;
  const { jobId } = await players.post(program, inputs, terms);
  const confused = await players.startWatcher(await players.watcherKey(), program, wrong);
  try {
    const command = ["worker", "--self-audit", "1", "--margin-seconds", "10"];
    return await withKills({ players, command, key, points, model: killed, jobs: [jobId] }, async (job) => {
      const game = await job(({ claims }) => claims.at(-1)?.games[0]?.closed);
      if (game.outcome !== Outcome.workerWon) throw new Error("the honest worker lost");
      await players.chain.advance(3_601);
      await job(({ claims }) => claims.at(-1)?.paid || undefined);
    });
  } finally {
    await confused.stop();
  }
}

/**
 * Plays an honest watcher, killed just after sending transactions. The watcher must refute the lie without a loss.
 * @throws Error
 */
export async function killedWatcher(players: Players, points: KillPoints, killed: KilledJob): Promise<Survived> {
  const key = await players.watcherKey();
  const session = await players.chain.sessionOf(key);
  const { credit } = await session.vault.accountOf(session.sender.address);
  const { program, inputs, terms, wrong } = killed;
  const { jobId } = await players.post(program, inputs, terms);
  const liar = await players.startWorker(await players.workerKey(), program, wrong);
  try {
    const command = ["watcher", "--mode", "defend"];
    return await withKills({ players, command, key, points, model: killed, jobs: [jobId] }, async (job) => {
      await job(({ claims }) => claims.some(({ refuted }) => refuted) || undefined);
      if ((await session.vault.accountOf(session.sender.address)).credit <= credit) throw new Error("the watcher lost");
    });
  } finally {
    await liar.stop();
  }
}

/** A job with a sealed submission, or a panel's seats: the requested model, and the time when seals may be opened. */
type SealedJobs = { model: KilledJob; jobs: readonly Hex[]; openFrom: number; window: number };

/**
 * Plays an honest worker that seals, killed just after sending transactions. After sealing, the worker stays away until
 * seals may be opened. After the restart, the worker must find the sealed data on disk, open the seal, and be paid.
 * @throws Error if the worker fails, loses stake, or makes a move twice
 */
export async function killedSealer(players: Players, points: KillPoints, sealed: SealedJobs): Promise<Survived> {
  const { model, jobs, openFrom, window } = sealed;
  const { chain } = players;
  const key = await players.workerKey();
  const session = await chain.sessionOf(key);
  const { vault, sender, deployment } = session;
  const { staked } = await vault.accountOf(sender.address);
  const state = mkdtempSync(join(tmpdir(), "refute-state-"));
  const book = join(state, "refute", `seals-${deployment.chainId}-${deployment.market}-${sender.address}.db`);
  const isMine = ({ worker }: { worker: Address }): boolean => isAddressEqual(worker, sender.address);
  const whileAway = async (call: string): Promise<void> => {
    if (call !== "seal") return;
    const { history } = await followMarket(session)();
    const seals = jobs.flatMap((id) => history.jobs.get(id)!.sealed ?? []).filter(isMine);
    const openings = await SealBook.at(book);
    if (seals.length !== 1 || openings.of(seals[0]!.seal) === undefined) throw new Error("no opening is on disk");
    openings.close();
    await chain.advance(openFrom + 60 - Number(await chain.now()));
  };
  const command = ["worker", "--self-audit", "1", "--margin-seconds", "10"];
  const party: KilledParty = { players, command, key, points, model, jobs, env: { XDG_STATE_HOME: state }, whileAway };
  try {
    const survived = await withKills(party, async (job) => {
      await job(({ claims }) => claims.find(({ claim }) => isMine(claim)));
      await chain.advance(window + 1);
      await job(({ claims }) => claims.find(({ claim, paid }) => isMine(claim) && paid));
    });
    if ((await vault.accountOf(sender.address)).staked !== staked) throw new Error("the honest worker lost stake");
    return survived;
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

/** Waits for the first result found in any job. */
type Until = <T>(found: (job: JobRecord) => T | undefined) => Promise<T>;

/**
 * A party under test: the `refute` command, the account, the jobs, the calls after which the test kills the process,
 * extra environment variables, and the action before each restart.
 */
type KilledParty = {
  players: Players;
  command: readonly string[];
  key: Hex;
  points: KillPoints;
  model: KilledJob;
  jobs: readonly Hex[];
  env?: Readonly<Record<string, string>>;
  whileAway?: (call: string) => Promise<void>;
};

async function withKills(killed: KilledParty, story: (job: Until) => Promise<void>): Promise<Survived> {
  const { players, command, key, points, model, jobs, env, whileAway } = killed;
  const { chain } = players;
  const left = [...points];
  const survived: Survived = { kills: [], calls: [] };
  let restarting: Promise<void> | undefined;
  const rpc = await serveRpc(chain.provider, async ({ method, params }, pass) => {
    const answer = await pass();
    if (method !== "eth_sendRawTransaction") return answer;
    const { functionName } = decodeFunctionData({ abi: protocolAbi, data: parseTransaction(params![0] as Hex).data! });
    survived.calls.push(functionName);
    const point = left.findIndex((name) => name === functionName || name === "*");
    if (point < 0) return answer;
    if (left[point] !== "*") left.splice(point, 1);
    survived.kills.push(functionName);
    restarting = party
      .kill()
      .then(() => whileAway?.(functionName))
      .then(() => party.start());
    await restarting;
    throw new Error("nobody hears this");
  });
  const flags = [
    "--rpc-url",
    rpc.url,
    "--chain-id",
    String(chain.chainId),
    "--market",
    chain.market,
    "--interval",
    "0.1",
  ];
  const party = new RefuteProcess([...command, ...flags], key, [model], env);
  await party.start();
  const follow = followMarket(await chain.newSession());
  const until: Until = async (found) => {
    for (const begun = Date.now(); ; await sleep(50)) {
      await restarting;
      const { history }: { history: History } = await follow();
      for (const jobId of jobs) {
        const value = found(history.jobs.get(jobId)!);
        if (value !== undefined) return value;
      }
      const waitedMs = Date.now() - Math.max(begun, party.startedAt.at(-1)!);
      const hasComputed = (party.cpuSeconds ?? Infinity) >= LIMIT_CPU_SECONDS;
      const isOver = waitedMs > LONGEST_MS || (waitedMs > LIMIT_MS && hasComputed);
      if (isOver || party.hasEnded) {
        const end = party.hasEnded ? "the process ended by itself" : `no end, ${party.cpuSeconds} s of computing`;
        throw new Error(`killed after ${survived.kills.join()}: ${end}\n${party.output.slice(-2_000)}`);
      }
    }
  };
  try {
    await story(until);
    await restarting;
  } finally {
    await restarting?.catch(() => undefined);
    await party.end();
    await rpc.close();
  }
  await mustNotRepeat(players, key);
  return survived;
}

/** Checks that an account's transactions did not revert and did not repeat each other. @throws Error */
async function mustNotRepeat({ chain }: Players, key: Hex): Promise<void> {
  const { publicClient, sender } = await chain.sessionOf(key);
  const made = new Set<Hex>();
  const head = await publicClient.getBlockNumber();
  for (let blockNumber = 1n; blockNumber <= head; blockNumber++) {
    const { transactions } = await publicClient.getBlock({ blockNumber, includeTransactions: true });
    for (const { from, hash, input } of transactions) {
      if (from.toLowerCase() !== sender.address.toLowerCase()) continue;
      const { status } = await publicClient.getTransactionReceipt({ hash });
      if (status === "reverted" || made.has(input)) throw new Error(`transaction ${hash} was made twice, or reverted`);
      made.add(input);
    }
  }
}
