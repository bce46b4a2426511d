import { hexToBytes, type Address, type Hex } from "viem";
import { submittedList } from "../src/dispute/disputed.ts";
import type { Executions } from "../src/runs/executions.ts";
import { readHeader } from "../src/program/header.ts";
import { Answer } from "../src/program/trace/answer.ts";
import { outputPlace } from "../src/program/trace/openedOutput.ts";
import { publishedOutput, type OutputSource, type SnapshotSource } from "../src/program/trace/published.ts";
import type { Said, Snapshots } from "../src/runs/ahead.ts";
import type { AskOutput } from "../src/runs/execute.ts";
import { formOf } from "../src/chain/market/claimForm.ts";
import { sourcesOf } from "../src/chain/market/jobInputs.ts";
import type { NativeJobs } from "../src/runs/native/nativeJobs.ts";
import { openingPick } from "../src/dispute/pick.ts";
import type { ClaimRecord, History, JobRecord } from "../src/chain/market/history.ts";
import { errorWithCode } from "../src/base/errors.ts";
import type { Pick } from "../src/chain/structs.ts";

/** The result of re-executing a claim's job. `opening` starts a game over a difference. */
export type Verdict =
  | { kind: "agrees"; milliseconds: number; isNative?: true }
  | { kind: "differs"; milliseconds: number; own: Hex; opening: Pick }
  | { kind: "unknown"; reason: string };

/** A node's logs show nodes of a claim that do not match the claim's root. */
class ClaimNodesError extends errorWithCode("CLAIM_NODES", { retryable: true }) {}

/** What workers publish about their claims. Nothing of it is trusted. */
type Published = {
  /** Claims' outputs: texts are then checked faster. */
  outputs?: OutputSource | undefined;
  /** Runs' snapshots: with a fleet, stretches of a run are then checked side by side. */
  snapshots?: SnapshotSource | undefined;
  /** Whether clocks of games run now. Meanwhile no snapshot is asked for: a wrong one may take long. */
  isPlaying?: () => boolean;
};

/** A verdict, and what it rests on. */
type Known = { verdict: Verdict; lost: number; input: string; isProgramKnown: boolean; programRoot: Hex };

/**
 * Maximum number of remembered verdicts. Beyond this number, verdicts on forgotten claims are dropped; verdicts on
 * known claims always stay.
 */
const REMEMBERED = 10_000;

/** Judges claims. A verdict is remembered with its opening: claims that wait for a bond are not executed twice. */
export class Auditor {
  readonly #executions: Executions;
  readonly #arityBits: number;
  readonly #native: NativeJobs | undefined;
  readonly #published: Published;
  /** Workers that gave wrong snapshots: they are not asked for snapshots again. */
  readonly #liars = new Set<Address>();
  readonly #known = new Map<Hex, Known>();
  /** How long an item took in the latest execution of a program, seconds. */
  readonly #seconds = new Map<Hex, number>();

  /**
   * @param native Accepts answers without exact execution; none are if absent.
   * @param published Where workers publish what makes checks faster, if anywhere.
   */
  constructor(executions: Executions, arityBits: number, native?: NativeJobs, published: Published = {}) {
    [this.#executions, this.#arityBits, this.#native] = [executions, arityBits, native];
    this.#published = published;
  }

  /**
   * Estimates a job's execution time in seconds, from earlier executions of its program. The estimate is per item.
   * Otherwise one long run, which anybody may post and execute, would make each short job with the same program look
   * late.
   */
  secondsFor = ({ job }: JobRecord): number => (this.#seconds.get(job.programRoot) ?? 0) * job.items;

  /**
   * Returns whether a claim was found right, or cannot be judged until more input is published or its program becomes
   * known.
   */
  isDone(job: JobRecord, claim: ClaimRecord): boolean {
    const known = this.#known.get(claim.id);
    if (known === undefined || known.verdict.kind === "differs") return false;
    if (known.verdict.kind === "agrees") return true;
    return known.input === this.#inputNow(job) && known.isProgramKnown === this.#executions.knows(job);
  }

  /** Returns whether a claim has any verdict. */
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

  /** Forgets removed claims, if there are many. */
  forget({ claims }: History): void {
    if (this.#known.size <= REMEMBERED) return;
    for (const id of this.#known.keys()) if (!claims.has(id)) this.#known.delete(id);
  }

  /** Describes the available part of a job's input. For a job that publishes none: all or nothing. */
  #inputNow(job: JobRecord): string {
    const isHeld = job.job.rootOnly && this.#executions.canExecute(job);
    return `${publishedDigits(job)} ${isHeld}`;
  }

  async #execute(job: JobRecord, { id: claimId, claim, nodes }: ClaimRecord): Promise<Verdict> {
    if (!this.#executions.knows(job)) return { kind: "unknown", reason: "its program was not compiled here" };
    const start = performance.now();
    const native = await this.#nativeRoot(job);
    // SAFETY: a worker on the same arithmetic may make the same error. A random part is therefore executed exactly all
    // the same.
    if (native === claim.root && !this.#native!.drawsExact())
      return { kind: "agrees", milliseconds: Math.round(performance.now() - start), isNative: true };
    let execution = await this.#executions.of(job, this.#saidOf(job, claimId, claim));
    if (execution === undefined) return { kind: "unknown", reason: "its input bytes are not at hand" };
    // A game over a GPU's error would cost the bond.
    if (execution.root !== claim.root) execution = (await this.#executions.again(job)) ?? execution;
    if (native !== undefined) this.#compare(job, execution.root === native);
    const milliseconds = Math.round(performance.now() - start);
    // If a run's roots were on disk, nothing was executed.
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

  /** Asks the claim's publisher for outputs and snapshots. Outputs that the claim does not hold are dropped. */
  #saidOf(job: JobRecord, claimId: Hex, { root, worker }: ClaimRecord["claim"]): Said | undefined {
    const { outputs, snapshots, isPlaying } = this.#published;
    if (outputs === undefined) return undefined;
    const output: AskOutput = async (item, output) => {
      const described = readHeader(hexToBytes(job.program.header)).outputs[output];
      const place = described && outputPlace(job.job, root, item, output, described);
      return place && publishedOutput(outputs, { claimId, item, output }, place);
    };
    if (snapshots === undefined || this.#liars.has(worker)) return { output };
    const ask: Snapshots["ask"] = async (item, bytes) =>
      isPlaying?.() === true ? undefined : snapshots({ claimId, item }, bytes);
    return { output, snapshots: { ask, onWrong: () => void this.#liars.add(worker) } };
  }

  /** Takes note whether a native answer is right. Claims that were accepted by wrong arithmetic are judged again. */
  #compare({ id, job: { programRoot } }: JobRecord, agrees: boolean): void {
    this.#native!.compared(id, programRoot, agrees);
    if (agrees) return;
    for (const [claimId, { verdict, programRoot: root }] of this.#known)
      if (root === programRoot && verdict.kind === "agrees" && verdict.isNative) this.#known.delete(claimId);
  }

  /** Returns a claim's root by native execution. @returns undefined if exact execution must decide */
  async #nativeRoot(job: JobRecord): Promise<Hex | undefined> {
    if (this.#native === undefined || formOf(job.job) !== "answer") return undefined;
    const inputs = this.#executions.inputsOf(job);
    const tensors = inputs && (await this.#native.answer(job.id, job.job.programRoot, inputs));
    return tensors && Answer.ofTensors(tensors).root;
  }
}

/** Measures how much of a job's input is published, with the job or with other jobs: digits. */
const publishedDigits = (job: JobRecord): number =>
  [job, ...sourcesOf(job)]
    .flatMap(({ parts }) => [...parts.values()])
    .flatMap((ofInput) => [...ofInput.values()])
    .reduce((sum, data) => sum + data.length, 0);
