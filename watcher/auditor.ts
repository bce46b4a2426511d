import type { Hex } from "viem";
import { submittedList } from "../src/dispute/disputed.ts";
import type { Executions } from "../src/runs/executions.ts";
import { Answer } from "../src/program/trace/answer.ts";
import { formOf } from "../src/chain/market/claimForm.ts";
import { sourcesOf } from "../src/chain/market/jobInputs.ts";
import type { NativeJobs } from "../src/runs/native/nativeJobs.ts";
import { openingPick } from "../src/dispute/pick.ts";
import type { ClaimRecord, History, JobRecord } from "../src/chain/market/history.ts";
import { errorWithCode } from "../src/base/errors.ts";
import type { Pick } from "../src/chain/structs.ts";

/** What re-executing a claim's job says of it. `opening` is where a game over a difference begins. */
export type Verdict =
  | { kind: "agrees"; milliseconds: number; isNative?: true }
  | { kind: "differs"; milliseconds: number; own: Hex; opening: Pick }
  | { kind: "unknown"; reason: string };

/** A node's logs show other nodes of a claim than those that its root is of. */
class ClaimNodesError extends errorWithCode("CLAIM_NODES", { retryable: true }) {}

/** A verdict, and what it rests on. */
type Known = { verdict: Verdict; lost: number; input: string; isProgramKnown: boolean; programRoot: Hex };

/**
 * Verdicts that are remembered, however many claims there are; those on claims that are gone are forgotten beyond it.
 */
const REMEMBERED = 10_000;

/**
 * Judges claims. A verdict is remembered with its opening, so that no claim is executed twice while it waits for a
 * bond.
 */
export class Auditor {
  readonly #executions: Executions;
  readonly #arityBits: number;
  readonly #native: NativeJobs | undefined;
  readonly #known = new Map<Hex, Known>();
  /** How long an item took in the latest execution of a program, seconds. */
  readonly #seconds = new Map<Hex, number>();

  /** @param native Accepts answers without exact execution; none are if absent. */
  constructor(executions: Executions, arityBits: number, native?: NativeJobs) {
    [this.#executions, this.#arityBits, this.#native] = [executions, arityBits, native];
  }

  /**
   * How long a job's execution takes, seconds, as far as one of its program was seen. By items: else a long run, which
   * anybody may post and execute, would make every short job of its program look late.
   */
  secondsFor = ({ job }: JobRecord): number => (this.#seconds.get(job.programRoot) ?? 0) * job.items;

  /** Whether a claim is found right, or cannot be judged until more of its input is published or its program known. */
  isDone(job: JobRecord, claim: ClaimRecord): boolean {
    const known = this.#known.get(claim.id);
    if (known === undefined || known.verdict.kind === "differs") return false;
    if (known.verdict.kind === "agrees") return true;
    return known.input === this.#inputNow(job) && known.isProgramKnown === this.#executions.knows(job);
  }

  /** Whether a claim has a verdict, whatever it is. */
  hasVerdict({ id }: ClaimRecord): boolean {
    return this.#known.has(id);
  }

  /**
   * Re-executes a claim's job and compares the roots: in answer form those of the outputs.
   * @param lost How many games on it are lost: after each it is executed again.
   * @throws ExecutionInputError, ClaimNodesError
   */
  async judge(job: JobRecord, claim: ClaimRecord, lost: number): Promise<Verdict> {
    const known = this.#known.get(claim.id);
    if (known?.verdict.kind === "differs" && known.lost === lost) return known.verdict;
    const isProgramKnown = this.#executions.knows(job);
    const { programRoot } = job.job;
    const verdict = await this.#execute(job, claim);
    this.#known.set(claim.id, { verdict, lost, input: this.#inputNow(job), isProgramKnown, programRoot });
    return verdict;
  }

  /** Forgets claims that are gone, once there are many. */
  forget({ claims }: History): void {
    if (this.#known.size <= REMEMBERED) return;
    for (const id of this.#known.keys()) if (!claims.has(id)) this.#known.delete(id);
  }

  /** What is at hand of a job's input: of one that publishes none, all or nothing. */
  #inputNow(job: JobRecord): string {
    const isHeld = job.job.rootOnly && this.#executions.canExecute(job);
    return `${publishedDigits(job)} ${isHeld}`;
  }

  async #execute(job: JobRecord, { id: claimId, claim, nodes }: ClaimRecord): Promise<Verdict> {
    if (!this.#executions.knows(job)) return { kind: "unknown", reason: "its program was not compiled here" };
    const start = performance.now();
    const native = await this.#nativeRoot(job);
    // SAFETY: a worker on the same arithmetic may err alike, so that a random part is executed exactly all the same.
    if (native === claim.root && !this.#native!.drawsExact())
      return { kind: "agrees", milliseconds: Math.round(performance.now() - start), isNative: true };
    const execution = await this.#executions.of(job);
    if (execution === undefined) return { kind: "unknown", reason: "its input bytes are not at hand" };
    if (native !== undefined) this.#compare(job, execution.root === native);
    const milliseconds = Math.round(performance.now() - start);
    // Of a run whose roots were on disk nothing was executed.
    const wasExecuted = execution.missing([execution.items - 1]).length === 0;
    if (wasExecuted) this.#seconds.set(job.job.programRoot, milliseconds / 1_000 / job.job.items);
    const own = execution.root;
    if (own === claim.root) {
      this.#executions.drop(job);
      return { kind: "agrees", milliseconds };
    }
    const list = submittedList(execution, nodes);
    const opening = openingPick(execution, list, this.#arityBits);
    // The contract computes the root from the nodes. A node that logs others is asked again.
    if (opening === undefined)
      throw new ClaimNodesError(
        `the nodes of claim ${claimId} are not those of its root: ask another node (--rpc-url)`,
      );
    return { kind: "differs", milliseconds, own, opening };
  }

  /** Takes note whether a native answer is right. Claims that were accepted by wrong arithmetic are judged again. */
  #compare({ id, job: { programRoot } }: JobRecord, agrees: boolean): void {
    this.#native!.compared(id, programRoot, agrees);
    if (agrees) return;
    for (const [claimId, { verdict, programRoot: root }] of this.#known)
      if (root === programRoot && verdict.kind === "agrees" && verdict.isNative) this.#known.delete(claimId);
  }

  /** What a claim on the job would say by native execution. @returns undefined if exact execution has to say it */
  async #nativeRoot(job: JobRecord): Promise<Hex | undefined> {
    if (this.#native === undefined || formOf(job.job) !== "answer") return undefined;
    const inputs = this.#executions.inputsOf(job);
    const tensors = inputs && (await this.#native.answer(job.id, job.job.programRoot, inputs));
    return tensors && Answer.ofTensors(tensors).root;
  }
}

/** How much of a job's input is at hand, with it or with other jobs: digits. */
const publishedDigits = (job: JobRecord): number =>
  [job, ...sourcesOf(job)]
    .flatMap(({ parts }) => [...parts.values()])
    .flatMap((ofInput) => [...ofInput.values()])
    .reduce((sum, data) => sum + data.length, 0);
