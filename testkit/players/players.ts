import { pino } from "pino";
import { numberToHex, parseEther, zeroHash, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { postedJob } from "../../src/chain/clients/jobMarket.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { Session } from "../../src/chain/market/session.ts";
import { Inbox } from "../../src/deploy/demo/events.ts";
import { startLocalChain, type LocalChain, type LocalParameters } from "../../src/deploy/demo/localChain.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { attest } from "../../src/attestation/attest.ts";
import { SoftwareDevice } from "../../src/attestation/device.ts";
import { SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { jobRequest, postJob, type JobTerms } from "../../src/parties/requester/postJob.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import type { WatcherEvent } from "../../watcher/events.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import type { Execute } from "../../src/runs/execute.ts";
import type { WorkerOptions } from "../../src/parties/worker/options.ts";
import type { WatcherOptions } from "../../watcher/options.ts";

/** A log that writes nothing. */
export const quiet = pino({ level: "silent" });
const INTERVAL_MS = 30;

/**
 * Executes by the definition. A lie changes one float32 to a value of very different size, and later steps follow from
 * the wrong value.
 */
export const reference =
  (lie?: { step: number; element: number }): Execute =>
  (model, inputs) =>
    Promise.resolve(
      executeReference(model, inputs, {
        onStep: (step, tensor) => {
          if (step === lie?.step) tensor[lie.element * 4 + 3]! ^= 0x3f;
        },
      }),
    );

/** What a party serves: a program or several. */
export type Served = KnownProgram | readonly KnownProgram[];

/** A loop that can be stopped. */
export type Running<E> = { inbox: Inbox<E>; stop: () => Promise<void> };

/** A chain with the protocol, and its workers, watchers and requesters. */
export class Players {
  readonly chain: LocalChain;
  readonly manufacturer: SoftwareManufacturer;

  protected constructor(chain: LocalChain, manufacturer: SoftwareManufacturer) {
    this.chain = chain;
    this.manufacturer = manufacturer;
  }

  static async create(parameters: LocalParameters = {}, token?: string): Promise<Players> {
    const manufacturer = new SoftwareManufacturer();
    return new Players(await startLocalChain({ ...parameters, manufacturers: [manufacturer.id] }, token), manufacturer);
  }

  /** Players on another deployment of the protocol on the same chain. */
  async onAnotherDeployment(parameters: LocalParameters = {}): Promise<Players> {
    const chain = await this.chain.deployAgain({ ...parameters, manufacturers: [this.manufacturer.id] });
    return new Players(chain, this.manufacturer);
  }

  /** Returns an attested worker's key. @param claims The stake, in collaterals. */
  async workerKey(claims = 2): Promise<Hex> {
    const key = await this.chain.newAccount(parseEther("5"));
    const session = await this.chain.sessionOf(key);
    await attest(session, new SoftwareDevice(this.manufacturer), zeroHash);
    const stake = (BigInt(Math.round(100 * claims)) * session.deployment.parameters.collateral) / 100n;
    await deposit(session, stake);
    await session.vault.stake(stake);
    return key;
  }

  /** The key of a watcher with credit for three bonds. */
  async watcherKey(): Promise<Hex> {
    const key = await this.chain.newAccount(parseEther("1"));
    const session = await this.chain.sessionOf(key);
    await deposit(session, 3n * session.deployment.bond);
    return key;
  }

  /** Posts a job from a requester with credit. */
  post(program: KnownProgram, inputs: readonly Uint8Array[], terms: Partial<JobTerms> = {}) {
    return this.#posted(postJob, program, inputs, terms);
  }

  /** The same, without the checks of honest requesters: the program may be one that nobody compiled. */
  postUnchecked(program: KnownProgram, inputs: readonly Uint8Array[], terms: Partial<JobTerms> = {}) {
    const post: typeof postJob = async (session, description, bytes, all) =>
      postedJob(await session.market.post(jobRequest(description, bytes, all)));
    return this.#posted(post, program, inputs, terms);
  }

  async #posted(post: typeof postJob, program: KnownProgram, inputs: readonly Uint8Array[], terms: Partial<JobTerms>) {
    const requester = await this.chain.newSession(parseEther("1"));
    await deposit(requester, parseEther("1"));
    const now = await this.chain.now();
    const deadline = now + 86_400n;
    const all = { fee: parseEther("0.1"), window: 3_600, claimSeconds: 1_800, deadline, ...terms };
    const { jobId, job } = await post(requester, describeProgram(program), inputs, all);
    return { requester, jobId, job };
  }

  /** @param program The served program, or several. */
  async startWorker(key: Hex, program: Served, execute: Execute, options: Partial<WorkerOptions> = {}) {
    const session = await this.chain.sessionOf(key);
    const policy = { minFee: 1n, marginSeconds: 10 };
    return start<WorkerEvent>(session, (all) =>
      runWorker({
        ...all,
        programs: ProgramLibrary.of([program].flat()),
        execute,
        policy,
        selfAuditSamples: 0,
        ...options,
      }),
    );
  }

  async startWatcher(key: Hex, program: Served, execute: Execute, options: Partial<WatcherOptions> = {}) {
    const session = await this.chain.sessionOf(key);
    return start<WatcherEvent>(session, (all) =>
      runWatcher({ ...all, programs: ProgramLibrary.of([program].flat()), execute, mode: "defend", ...options }),
    );
  }

  /** Has the pool before the chain take no transaction above a size, bytes. */
  async limitTransactions(maxBytes: number): Promise<void> {
    await this.chain.provider.request({ method: "pool_setLimits", params: [{ maxBytes: numberToHex(maxBytes) }] });
  }

  addressOf(key: Hex): Hex {
    return privateKeyToAccount(key).address;
  }
}

type Loop<E> = {
  session: Session;
  signal: AbortSignal;
  intervalMs: number;
  log: typeof quiet;
  onEvent: (event: E) => void;
};

/** Runs an account's loop until the test stops the loop. */
export function start<E>(session: Session, run: (loop: Loop<E>) => Promise<void>): Running<E> {
  const inbox = new Inbox<E>();
  const stop = new AbortController();
  const running = run({ session, signal: stop.signal, intervalMs: INTERVAL_MS, log: quiet, onEvent: inbox.put });
  return {
    inbox,
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

/** The first event of a kind, past or to come. */
export function first<E extends { kind: string }, K extends E["kind"]>(
  { inbox }: Running<E>,
  kind: K,
  matches: (event: Extract<E, { kind: K }>) => boolean = () => true,
): Promise<Extract<E, { kind: K }>> {
  const isIt = (event: E): event is Extract<E, { kind: K }> => event.kind === kind && matches(event as never);
  return inbox.first(kind, isIt);
}
