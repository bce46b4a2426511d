import type { Hex } from "viem";
import { ExecutionInputError } from "../src/executor/errors.ts";
import type { Meter } from "../src/runs/figures.ts";
import { problemOf, type Health, type Problem } from "../src/base/health.ts";

/** So many games on claims on one program may be lost to the chain's verifier: each costs a bond. */
const MAX_REFUTED = 2;

/**
 * Checks whether a watcher's audits end, and are right. A watcher counts as not judging after a failed last audit. The
 * same holds while a waiting claim's audit failed, or still runs when most of the window is over: the claim may be
 * wrong, and become final. The same holds after the chain's verifier refuted a local execution.
 */
export class Judging {
  readonly #health: Health;
  readonly #meter: Meter;
  /** Claims whose last audit failed. */
  readonly #failed = new Map<Hex, Problem>();
  #last: Problem | undefined;
  #late: Problem | undefined;
  #unread: Problem | undefined;
  /** By program, how often the chain's verifier refuted executions made here; and what it said last. */
  readonly #refuted = new Map<Hex, number>();
  #fault: Problem | undefined;

  constructor(health: Health, meter: Meter) {
    [this.#health, this.#meter] = [health, meter];
    this.#notify();
  }

  /** Takes note of an audit. @throws what the audit throws */
  async take<T>(claimId: Hex, audit: () => Promise<T>): Promise<T> {
    try {
      const verdict = await audit();
      this.#failed.delete(claimId);
      this.#last = undefined;
      return verdict;
    } catch (error) {
      // Inputs that do not fit are the job's fault, and anybody may post jobs.
      if (!(error instanceof ExecutionInputError)) {
        this.#meter.auditFailed();
        this.#last = problemOf(error, `the audit of claim ${claimId} failed`);
        this.#failed.set(claimId, this.#last);
      }
      throw error;
    } finally {
      this.#notify();
    }
  }

  /** Notes an own execution refuted by the chain's verifier. The note stays until a restart. */
  refuted(programRoot: Hex, error: Error): void {
    this.#refuted.set(programRoot, (this.#refuted.get(programRoot) ?? 0) + 1);
    this.#fault = problemOf(error, `an execution of program ${programRoot} was wrong`);
    this.#notify();
  }

  /** Whether games may be opened over a program: a machine that is at fault would lose a bond on each honest claim. */
  isTrusted(programRoot: Hex): boolean {
    return (this.#refuted.get(programRoot) ?? 0) < MAX_REFUTED;
  }

  /**
   * Forgets claims that need no judgement.
   * @param due The claims that need judgement.
   * @param late The due claims without a verdict although most of their window is over.
   * @param unread Open claims on jobs that were not read.
   */
  keep(due: ReadonlySet<Hex>, late: readonly Hex[], unread: readonly Hex[] = []): void {
    for (const claimId of this.#failed.keys()) if (!due.has(claimId)) this.#failed.delete(claimId);
    const reason = `claims without a verdict of which most of the window is over: ${late.length}, first ${late[0]}`;
    this.#late = late.length === 0 ? undefined : { reason };
    const unseen =
      `claims on jobs that were not read: ${unread.length}, first ${unread[0]}; the nodes lack the logs of these ` +
      "jobs: use other nodes (--rpc-url)";
    this.#unread = unread.length === 0 ? undefined : { reason: unseen };
    this.#notify();
  }

  #notify(): void {
    const [first] = this.#failed.values();
    this.#health.set("judges", this.#fault ?? this.#unread ?? this.#last ?? first ?? this.#late);
  }
}
