import { randomInt } from "node:crypto";
import { examsAbi } from "../src/chain/abi/exams.ts";
import { ContractRevertError } from "../src/chain/errors.ts";
import { firstBlockSince } from "../src/chain/firstBlockSince.ts";
import { LogStore } from "../src/chain/logStore.ts";
import type { ChainEvent } from "../src/chain/logReader.ts";
import { PledgeStatus, type ExamResult } from "../src/chain/structs.ts";
import { translateError } from "../src/chain/translateError.ts";
import type { Hash } from "../src/program/merkle/hash.ts";
import { programFacts } from "../src/dispute/run/execution.ts";
import type { Role } from "../src/parties/role/role.ts";
import type { ExamClaimContracts } from "../src/attestation/exams/openExamClaims.ts";
import { solver } from "../src/attestation/exams/solve.ts";
import { withOrder } from "../src/runs/executeRun.ts";
import { isOnGpu } from "../src/runs/execute.ts";
import type { WatcherEvent } from "./events.ts";
import type { WatcherOptions, ExamAuditOptions } from "./options.ts";
type Sat = Extract<ChainEvent<typeof examsAbi>, { eventName: "ExamSat" }>;

/** Steps of a share. */
const SHARES = 1_000_000;

/** Errors of the contracts after which nothing can be done about an exam result, or nothing need be. */
const OVER = new Set([
  ...["NotAResult", "ClaimExists", "WorkerStopped", "WrongPledgeStatus", "IssuedAfterRequest", "LifetimeOver"],
]);

/**
 * Executes the exams that workers sat, and challenges wrong roots. Challenged results become claims, and the watcher
 * disputes them like other claims. Only results backed by a pledge are audited.
 */
export class ExamAudits {
  readonly #options: Pick<WatcherOptions, "session" | "programs" | "execute" | "mode" | "log" | "signal">;
  readonly #claimContracts: ExamClaimContracts;
  readonly #share: number;
  readonly #role: Role<WatcherEvent>;
  #store: LogStore<typeof examsAbi> | undefined;
  /** Results that need no further action. */
  readonly #done = new Set<string>();
  /** Results that are to be executed. */
  readonly #drawn = new Set<string>();
  /** Own roots for wrong results, until the challenge. */
  readonly #wrong = new Map<string, Hash>();

  constructor(
    options: Pick<WatcherOptions, "session" | "programs" | "execute" | "mode" | "log" | "signal">,
    { claimContracts, share }: ExamAuditOptions,
    role: Role<WatcherEvent>,
  ) {
    [this.#options, this.#claimContracts, this.#share, this.#role] = [options, claimContracts, share, role];
  }

  /** Audits what was sat since the last time. @param now The chain's time, unix seconds. */
  async tend(now: bigint): Promise<void> {
    const { session, signal } = this.#options;
    const { publicClient, fromBlock } = session;
    const address = this.#claimContracts.exams.address;
    this.#store ??= new LogStore(
      publicClient,
      [address],
      examsAbi,
      await firstBlockSince(publicClient, now - this.#claimContracts.lifetime, fromBlock),
    );
    const store = this.#store;
    await store.sync();
    for (const event of [...store.events]) {
      if (signal.aborted) return;
      const key = keyOf(event);
      if (event.eventName === "ExamSat" && !this.#done.has(key)) await this.#audit(event, key, now);
    }
    this.#forget(store);
  }

  async #audit(event: Sat, key: string, now: bigint): Promise<void> {
    const { programs, mode, execute, log } = this.#options;
    const { args } = event;
    const exam = { worker: args.worker, class: args.class, number: args.number };
    // Drawn once: a try after a failure does not draw again.
    if (!this.#drawn.has(key) && randomInt(SHARES) >= this.#share * SHARES) return void this.#done.add(key);
    this.#drawn.add(key);
    const root = this.#claimContracts.classes[args.class]!.programRoot;
    if (!programs.knows(root)) {
      if (programs.awaits(root)) return;
      if (this.#role.isNew("exams", String(args.class))) log.warn(exam, "cannot be judged: its program is not known");
      return void this.#done.add(key);
    }
    const result = await this.#resultOf(event);
    if (!(await this.#isBacked(result, now))) return void this.#done.add(key);
    const program = await programs.load(root);
    if (program === undefined) return;
    if (!this.#wrong.has(key)) {
      const start = performance.now();
      const nonce = Buffer.from(args.nonce.slice(2), "hex");
      let own = await solver(program, execute)(nonce);
      // A GPU's error is no reason for a challenge.
      if (own !== args.traceRoot && isOnGpu(execute)) {
        const doubted = withOrder(execute, (order) => ({ ...order, isDoubted: true }));
        own = await solver(program, doubted)(nonce);
      }
      const milliseconds = Math.round(performance.now() - start);
      if (own === args.traceRoot) {
        this.#done.add(key);
        return this.#role.report({ kind: "examAgrees", ...exam, milliseconds });
      }
      this.#role.report({ kind: "examDiffers", ...exam, reported: args.traceRoot, own, milliseconds });
      this.#wrong.set(key, own);
    }
    if (mode === "watch" || (await this.#challenge(result, programFacts(program.commitment), exam))) {
      this.#done.add(key);
      this.#wrong.delete(key);
    }
  }

  /** Puts a result on chain. @returns true once the result is on chain, or cannot be put there */
  async #challenge(
    result: ExamResult,
    facts: ReturnType<typeof programFacts>,
    exam: Pick<ExamResult, "worker" | "class" | "number">,
  ): Promise<true> {
    try {
      const receipt = await this.#claimContracts.examClaims.challenge(result, facts);
      this.#role.report({ kind: "examChallenged", ...exam, receipt });
    } catch (error) {
      if (!(error instanceof ContractRevertError && OVER.has(error.errorName))) throw error;
      this.#options.log.warn({ ...exam, error: error.errorName }, "a wrong exam cannot be challenged");
    }
    return true;
  }

  /** Whether a pledge backs a result that can still be challenged. */
  async #isBacked({ worker, time }: ExamResult, now: bigint): Promise<boolean> {
    if (now > time + this.#claimContracts.lifetime) return false;
    const pledge = await this.#claimContracts.pledges.pledgeOf(worker);
    if (pledge.status === PledgeStatus.active) return true;
    return pledge.status === PledgeStatus.releasing && time < pledge.time;
  }

  async #resultOf({ args, blockNumber }: Sat): Promise<ExamResult> {
    const { worker, device, class: examClass, number, nonce, traceRoot } = args;
    const { timestamp: time } = await this.#options.session.publicClient
      .getBlock({ blockNumber })
      .catch((error: unknown) => {
        throw translateError(error, "reading the block of an exam");
      });
    return { worker, device, class: examClass, number, time, nonce, traceRoot };
  }

  /** Forgets finished results that no reorganisation can bring back. */
  #forget(store: LogStore<typeof examsAbi>): void {
    store.drop(store.keptFrom, (event) =>
      event.eventName === "ExamSat" && !this.#done.has(keyOf(event)) ? event : undefined,
    );
    const kept = new Set(store.events.map(keyOf));
    for (const known of [this.#done, this.#drawn, this.#wrong])
      for (const key of known.keys()) if (!kept.has(key)) known.delete(key);
  }
}

const keyOf = ({ blockHash, logIndex }: { blockHash: string; logIndex: number }): string => `${blockHash} ${logIndex}`;
