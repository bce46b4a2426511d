import { hexToBytes, type Address, type Hex } from "viem";
import { JobMarketReader } from "../../chain/clients/jobMarket.ts";
import { formOf, type ClaimForm } from "../../chain/market/claimForm.ts";
import type { ClaimRecord, History, JobRecord } from "../../chain/market/history.ts";
import { inputsOf } from "../../chain/market/jobInputs.ts";
import { followMarket } from "../../chain/market/session.ts";
import { pause } from "../../chain/pause.ts";
import { JobStatus } from "../../chain/structs.ts";
import { JobClosedError, JobUnknownError, JobUntakenError } from "./errors.ts";
import { throughOutages, type OutageOptions } from "./outages.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** How far a job is. */
export type JobProgress = {
  /** The form of the job's claims. */
  form: ClaimForm;
  status: keyof typeof JobStatus;
  /** Who has claimed it, while somebody has. */
  worker?: Address;
  /** The latest claim: root, and number of disputing games. */
  claim?: ClaimProgress;
};

/** A claim's progress: root, window end (unix seconds), and number of disputing games. */
export type ClaimProgress = {
  worker: Address;
  root: Hex;
  windowEnd: bigint;
  gamesOpen: number;
  refuted: boolean;
};

/** The delivered outputs, by number, whose calls of the requester's contract succeeded or failed. */
export type Callbacks = { made: number[]; failed: number[] };

/** The chain's current record of a job. */
export type JobState = {
  /** Root of the requested program. */
  programRoot: Hex;
  /** Items of the requested run. */
  items: number;
  /** The form of the job's claims. */
  form: ClaimForm;
  /** As they were published, in the program's order; undefined while a part is missing. */
  inputs: readonly Uint8Array[] | undefined;
  /** `complete` once all outputs are delivered and, with a callback, taken; `finalised` before. */
  status: keyof typeof JobStatus;
  /** All claims, oldest first. */
  claims: (ClaimProgress & { finalised: boolean; provenBy?: Hex })[];
  /** The final claim's outputs delivered so far, by number: little-endian, row-major. */
  outputs: ReadonlyMap<number, Uint8Array>;
  /** Both empty without a callback (`callbackGas`). `redeliver` repeats those that failed. */
  callbacks: Callbacks;
};

/** The result of a finalised job, or of a job that was proven under a key of the caller's. */
export type JobResult = {
  /** Root of the requested program. */
  programRoot: Hex;
  /** Items of the requested run. */
  items: number;
  /** As they were published, in the program's order. */
  inputs: readonly Uint8Array[] | undefined;
  worker: Address;
  root: Hex;
  /**
   * The delivered outputs by their number: little-endian, row-major. An output of more than the job's `maxOutputBytes`
   * is not delivered.
   */
  outputs: ReadonlyMap<number, Uint8Array>;
  /** Both empty without a callback (`callbackGas`). `redeliver` repeats those that failed. */
  callbacks: Callbacks;
  /** The key under which the outputs were proven; absent for a final result. */
  provenBy?: Hex;
};

/** Reads how far a job is. @throws JobUnknownError */
export async function jobProgress(session: Reader, jobId: Hex): Promise<JobProgress> {
  const { history, blockNumber } = await followMarket(session)();
  return progressOf(session, requireJob(session, history, jobId), blockNumber);
}

/** Reads the chain's whole record of a job: state, claims and delivered outputs. @throws JobUnknownError */
export async function jobState(session: Reader, jobId: Hex): Promise<JobState> {
  const { history, blockNumber } = await followMarket(session)();
  const job = requireJob(session, history, jobId);
  const final = job.claims.find(({ finalised }) => finalised);
  return {
    programRoot: job.job.programRoot,
    items: job.job.items,
    form: formOf(job.job),
    // Decoded and hashed for those who ask only: they may be large.
    get inputs() {
      return inputsOf(job)?.bytes;
    },
    status: (await progressOf(session, job, blockNumber)).status,
    claims: job.claims.map((record) => ({
      ...claimProgress(record),
      finalised: record.finalised,
      ...(record.proven && { provenBy: record.proven.keyHash }),
    })),
    outputs: final === undefined ? new Map() : outputsOf(final),
    callbacks: final === undefined ? { made: [], failed: [] } : callbacksOf(final),
  };
}

/** How a result is waited for. */
export type WaitOptions = Partial<OutageOptions> & {
  /** The job was posted: a node that does not know it lags. */
  isPosted?: boolean;
  /**
   * The hashes of keys whose proofs are taken in the place of a final claim, none by default. A key names its program,
   * and the market pairs it with that program alone. Whoever posted the job chose the key; whoever knows the key's
   * secrets can prove anything.
   */
  keys?: readonly Hex[];
  /** Ends the wait: it rejects with the signal's reason, such as a DOMException of AbortSignal.timeout. */
  signal?: AbortSignal;
  /**
   * Called with each new phase of the job, in words.
   * @param until The end of the window (unix seconds), while the claim may be disputed.
   */
  onPhase?: (phase: string, until?: bigint) => void;
};

/**
 * Waits until a job is finalised and the outputs are delivered, or until the outputs are proven under one of `keys`.
 * All state comes from the chain: the function can be called again at any time. While no node answers, the function
 * keeps waiting.
 * @throws JobClosedError if the job ends without a result or with a proof under another key, JobUntakenError if its
 *   deadline leaves no worker time to claim it, JobUnknownError, or the signal's reason
 */
export async function waitForResult(
  session: Reader,
  jobId: Hex,
  { isPosted = false, keys = [], onPhase, intervalMs = 4_000, ...options }: WaitOptions = {},
): Promise<JobResult> {
  const { signal } = options;
  const follow = followMarket(session);
  let phase: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const { history, now: time } = await throughOutages(follow, { ...options, intervalMs });
    if (history.jobs.has(jobId) || !isPosted) {
      const job = requireJob(session, history, jobId);
      if (job.closed) throw new JobClosedError(`job ${jobId} was closed without a result; its fee was returned`);
      const taken = job.claims.find(({ accepted }) => accepted);
      if (taken !== undefined)
        throw new JobClosedError(
          `the requester accepted the claim of job ${jobId} in its window: it never becomes final; its root is ` +
            `${taken.claim.root}`,
        );
      const proven = job.claims.find((record) => record.proven !== undefined);
      if (proven !== undefined) return provenResult(job, proven, keys);
      const claim = job.claims.find(({ finalised }) => finalised);
      if (claim !== undefined && isDelivered(claim)) return resultOf(job, claim);
      // Nobody is paid for a delivery any more.
      if (claim?.reclaimed === true)
        throw new JobClosedError(
          `outputs of job ${jobId} were not delivered in time, and its fee was returned; its result is final and has ` +
            `the root ${claim.claim.root}`,
        );
      requireTime(job, time);
      const now = phaseOf(job, time);
      if (now !== phase) onPhase?.(now, windowOf(job));
      phase = now;
    }
    await pause(intervalMs, signal);
  }
}

/** The end of the window that is running. */
function windowOf({ open, holder, claims }: JobRecord): bigint | undefined {
  const last = claims.at(-1);
  return open || holder !== undefined || last?.finalised === true ? undefined : last?.windowEnd;
}

/** Whether the time of who has claimed a job is over. */
const isLate = ({ holder }: JobRecord, now: bigint): boolean => holder !== undefined && now > holder.until;

/**
 * Once no worker can claim a job any more, it gets no result.
 * @param now The head's time, unix seconds. @throws JobUntakenError
 */
function requireTime(record: JobRecord, now: bigint): void {
  const { id, job, open, holder, sealed, claims } = record;
  const isIdle = open || isLate(record, now) || (holder ?? sealed ?? claims.at(-1)) === undefined;
  if (!isIdle || now + BigInt(job.claimSeconds) <= job.deadline) return;
  const why = holder === undefined ? "nobody claimed it in time" : `its worker ${holder.worker} is late`;
  const how = holder === undefined ? "cancel it (market.cancel; refute job cancel)" : "expire it (market.expire)";
  throw new JobUntakenError(
    `job ${id} gets no result: ${why}, and its deadline leaves no time for a claim; ${how}, and its fee comes back`,
  );
}

/** How far a job without a result is, in words. */
function phaseOf(record: JobRecord, time: bigint): string {
  const { open, holder, sealed, claims } = record;
  const last = claims.at(-1);
  if (open)
    return last?.refuted ? "the claim was refuted; the job is open again" : "open: no worker has claimed it yet";
  if (isLate(record, time)) return `claimed by ${holder!.worker}, who is late; refute job expire opens it again`;
  if (holder !== undefined) return `claimed by ${holder.worker}`;
  if (sealed !== undefined) return `sealed by ${sealed.worker}; to be opened`;
  if (last === undefined) return "waiting for its input";
  if (last.finalised) return "final; outputs are being delivered";
  const { windowEnd, gamesOpen } = claimProgress(last);
  const until = new Date(Number(windowEnd) * 1_000).toISOString();
  const disputes = gamesOpen === 0 ? "" : `, disputed in ${gamesOpen} ${gamesOpen === 1 ? "game" : "games"}`;
  return `submitted by ${last.claim.worker}; may be disputed until ${until}${disputes}`;
}

const isDelivered = ({ claim, delivered }: ClaimRecord): boolean =>
  [...delivered.keys()].reduce((bits, output) => bits | (1n << BigInt(output)), 0n) === claim.job.deliverables;

const outputsOf = ({ delivered }: ClaimRecord): Map<number, Uint8Array> =>
  new Map([...delivered].map(([output, data]) => [output, hexToBytes(data)]));

/** The result of a proven claim. @throws JobClosedError for a key that the caller did not name */
function provenResult(job: JobRecord, record: ClaimRecord, keys: readonly Hex[]): JobResult {
  const { keyHash, outputs } = record.proven!;
  if (!keys.some((key) => key.toLowerCase() === keyHash))
    throw new JobClosedError(
      `the claim of job ${job.id} was proven under the key ${keyHash}, which you did not name: it never becomes ` +
        "final. If the key is of this program, and you trust those who made it, name it in keys",
    );
  const bytes = new Map(outputs.map((data, output) => [output, hexToBytes(data)]));
  return Object.assign(resultOf(job, record, bytes), { provenBy: keyHash });
}

function resultOf(job: JobRecord, record: ClaimRecord, outputs = outputsOf(record)): JobResult {
  const { programRoot, items } = job.job;
  const { worker, root } = record.claim;
  return {
    programRoot,
    items,
    // Decoded and hashed for those who ask only: they may be large.
    get inputs() {
      return inputsOf(job)?.bytes;
    },
    worker,
    root,
    outputs,
    callbacks: callbacksOf(record),
  };
}

/** How the calls of the requester went, one for each delivered output. */
export function callbacksOf({ claim, delivered, calledBack }: ClaimRecord): Callbacks {
  const called = claim.job.callbackGas === 0 ? [] : [...delivered.keys()];
  return {
    made: called.filter((output) => calledBack.has(output)),
    failed: called.filter((output) => !calledBack.has(output)),
  };
}

/** How far a job of a history is. @param blockNumber Of the history: what is read beside it agrees with it. */
export async function progressOf(
  { publicClient, deployment }: Reader,
  job: JobRecord,
  blockNumber: bigint,
): Promise<JobProgress> {
  const { status, worker } = await new JobMarketReader(deployment.market, { publicClient }).jobOf(job.id, blockNumber);
  const names = Object.keys(JobStatus) as (keyof typeof JobStatus)[];
  const last = job.claims.at(-1);
  const holder = status === JobStatus.submitted ? last?.claim.worker : worker;
  const claimed = status === JobStatus.claimed || status === JobStatus.submitted;
  return {
    form: formOf(job.job),
    status: names[status]!,
    ...(claimed && holder !== undefined ? { worker: holder } : {}),
    ...(last === undefined ? {} : { claim: claimProgress(last) }),
  };
}

function claimProgress({ claim, windowEnd, games, refuted }: ClaimRecord): ClaimProgress {
  const gamesOpen = refuted ? 0 : games.filter(({ closed }) => closed === undefined).length;
  return { worker: claim.worker, root: claim.root, windowEnd, gamesOpen, refuted };
}

/** A job of a market's history. @throws JobUnknownError */
export function requireJob({ fromBlock }: Reader, { jobs }: History, jobId: Hex): JobRecord {
  const job = jobs.get(jobId);
  if (job === undefined)
    throw new JobUnknownError(
      `no job ${jobId} on this market since block ${fromBlock}: check the id, or name an earlier block ` +
        "(fromBlock; --from-block on the command line)",
    );
  return job;
}
