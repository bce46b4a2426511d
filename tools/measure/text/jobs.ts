/** Jobs of a decoder on an embedded chain: an honest one to its end, and such with lies that are refuted. */
import { hexToBytes, parseEther, type TransactionReceipt } from "viem";
import type { WatcherEvent } from "../../../watcher/events.ts";
import { chosenToken } from "../../../src/compiler/wraps/decoderInputs.ts";
import type { KnownProgram } from "../../../src/dispute/run/execution.ts";
import { followMarket, type Session } from "../../../src/chain/market/session.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { minWindow, usualClaimSeconds, type JobTerms } from "../../../src/parties/requester/postJob.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import type { Players, Running } from "../../../testkit/players/players.ts";
import type { Execute } from "../../../src/runs/execute.ts";

/** What is asked for. */
type DecoderJob = { program: KnownProgram; inputs: readonly Uint8Array[]; items: number };

/** Longest wait for an event. */
const LIMIT_MS = 1_200_000;

const event = <E extends { kind: string }, K extends E["kind"]>({ inbox }: Running<E>, kind: K) =>
  inbox.first(kind, (e): e is Extract<E, { kind: K }> => e.kind === kind, LIMIT_MS);

const termsOf = (session: Session, { program, items }: DecoderJob): Partial<JobTerms> => {
  const description = describeProgram(program);
  const [window, claimSeconds] = [
    minWindow(session, description, items),
    usualClaimSeconds(session, description, items),
  ];
  return { items, window, claimSeconds, fee: parseEther("0.5") };
};

async function post(players: Players, job: DecoderJob) {
  const terms = termsOf(await players.chain.newSession(), job);
  return { ...(await players.post(job.program, job.inputs, terms)), window: terms.window! };
}

/** An honest job: posted, claimed, executed, final, delivered. @returns its tokens, and what it took */
export async function honestJob(players: Players, job: DecoderJob, execute: Execute) {
  const { requester, jobId, window } = await post(players, job);
  const worker = await players.startWorker(await players.workerKey(), job.program, execute);
  const claimed = await event<WorkerEvent, "claimed">(worker, "claimed");
  const { milliseconds } = await event<WorkerEvent, "executed">(worker, "executed");
  const submitted = await event<WorkerEvent, "submitted">(worker, "submitted");
  await players.chain.advance(window + 1);
  // Delivering makes it final.
  const delivered = await event<WorkerEvent, "delivered">(worker, "delivered");
  await worker.stop();
  const { history } = await followMarket(requester)();
  const record = history.jobs.get(jobId)!;
  const bytes = hexToBytes(record.claims[0]!.delivered.get(0)!);
  return {
    tokens: Array.from({ length: job.items }, (_, item) => chosenToken(bytes, item)),
    milliseconds,
    window,
    gas: { claim: claimed, submit: submitted, deliver: delivered },
  };
}

/**
 * A job that a cheat serves and a watcher watches, the only one of its market: once refuted, it is open again.
 * @returns where the lie was found, and what that took
 */
export async function refutedJob(players: Players, job: DecoderJob, cheat: Execute, honest: Execute) {
  const { requester, jobId } = await post(players, job);
  const worker = await players.startWorker(await players.workerKey(), job.program, cheat);
  await event<WorkerEvent, "submitted">(worker, "submitted");
  const watcher = await players.startWatcher(await players.watcherKey(), job.program, honest);
  const { milliseconds } = await event<WatcherEvent, "differs">(watcher, "differs");
  const start = performance.now();
  await event<WorkerEvent, "refuted">(worker, "refuted");
  const gameMilliseconds = performance.now() - start;
  await Promise.all([worker.stop(), watcher.stop()]);
  const { history } = await followMarket(requester)();
  const { moves, proved, closed } = history.jobs.get(jobId)!.claims[0]!.games[0]!;
  const receipts: TransactionReceipt[] = [];
  for (const hash of [...moves.map(({ transactionHash }) => transactionHash), closed!.transactionHash])
    receipts.push(await requester.publicClient.getTransactionReceipt({ hash }));
  return {
    ...{ milliseconds, gameMilliseconds, item: moves.at(-1)!.state.item, step: proved!.step },
    ...{ transactions: receipts.length, gas: receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) },
  };
}
