import type { Hash } from "../../program/merkle/hash.ts";
import { freshSeed } from "../../base/prng.ts";
import { nativeAnswer, type NativeProgram } from "../../native/nativeAnswer.ts";
import { workSeconds } from "../../chain/market/clock.ts";
import { runWork } from "../../program/run.ts";
import { programWork } from "../../program/work.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { Meter } from "../figures.ts";
import type { Health } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import { nativeExecutions } from "./nativeExecutions.ts";

/** The programs that can be answered natively. */
export type NativePrograms = {
  /** @returns undefined if a program cannot, or cannot yet */
  of: (root: Hash) => Promise<(NativeProgram & KnownProgram) | undefined>;
};

/** How jobs are answered natively. */
export type NativeOptions = {
  programs: NativePrograms;
  /** The share of native answers checked by exact execution, drawn at random: 0 to 1. */
  exactShare: number;
  /** Draws in 0 .. 1, which nobody may foresee; fresh ones if absent. */
  random?: (() => number) | undefined;
};

/** A run's outputs. For each output: the tensors of all items, or the last item's tensor. */
export type OutputTensors = readonly (readonly Uint8Array[])[];

type NativeSurroundings = { log: Logger; meter: Meter; health: Health; rate: bigint };

/**
 * Seconds allowed for the native answer to a job, plus a quarter of the time allowed for its exact work. After this
 * time, exact execution must still be in time.
 */
const SECONDS = 20;

/**
 * Answers jobs natively where all decisions have thick margins, counts how often that is so, and no longer does so for
 * a program once an exact execution disagreed.
 */
export class NativeJobs {
  readonly #options: NativeOptions;
  readonly #log: Logger;
  readonly #meter: Meter;
  readonly #health: Health;
  readonly #rate: bigint;
  readonly #distrusted = new Set<Hash>();

  /** @param rate Of the deployment: work a second. */
  constructor(options: NativeOptions, { log, meter, health, rate }: NativeSurroundings) {
    [this.#options, this.#log, this.#meter, this.#health, this.#rate] = [options, log, meter, health, rate];
    health.set("native", undefined);
  }

  /**
   * The outputs of a job by native execution.
   * @param job Its id, for the log.
   * @returns undefined if exact execution has to answer: the program is not calibrated, an item's inputs are outside
   *   the box, a margin is thin, the runtime failed, or it was found wrong before
   */
  async answer(job: string, root: Hash, inputs: RunInputs): Promise<OutputTensors | undefined> {
    const program = this.#distrusted.has(root) ? undefined : await this.#options.programs.of(root);
    if (program === undefined) {
      this.refused(job, this.#distrusted.has(root) ? "its program was found wrong" : "its program is not calibrated");
      return undefined;
    }
    const { outputs, each = [] } = program.model.program;
    const executions = nativeExecutions(program.model, inputs);
    if (typeof executions === "string") return this.#answerExactly({ job }, "outside", executions);
    const { count } = executions;
    const tensors: Uint8Array[][] = outputs.map(() => []);
    const work = runWork(inputs.length.items, programWork(program.model.program));
    const limit = SECONDS + workSeconds(work, this.#rate) / 4;
    const begun = performance.now();
    for (let item = 0; item < count; item++) {
      const answer = await nativeAnswer(program, executions.inputs(item));
      if (answer.kind !== "native") return this.#answerExactly({ job, item }, answer.kind, answer.reason);
      if ((performance.now() - begun) / 1_000 > limit)
        return this.#answerExactly({ job, item }, "failed", `the runtime takes more than ${limit} s`);
      answer.outputs.forEach((bytes, k) => {
        // The runtime may use its memory again.
        if (each.includes(k) || item === count - 1) tensors[k]!.push(Uint8Array.from(bytes));
      });
    }
    this.#meter.native("native");
    return tensors;
  }

  #answerExactly(
    what: { job: string; item?: number },
    outcome: "thin" | "outside" | "failed",
    reason: string,
  ): undefined {
    this.#meter.native(outcome);
    this.#log.info({ ...what, outcome, reason }, "not native: executed exactly");
  }

  /** Notes that a job is executed exactly, whatever the native result would be. */
  refused(job: string, reason: string): void {
    this.#meter.native("exact");
    this.#log.info({ job, reason }, "not native: executed exactly");
  }

  /** Whether exact execution checks a native answer; drawn anew each time. */
  drawsExact(): boolean {
    const { exactShare, random = () => freshSeed() / 2 ** 32 } = this.#options;
    return random() < exactShare;
  }

  /** Notes the exact execution's verdict on a native answer. */
  compared(job: string, root: Hash, agrees: boolean): void {
    this.#meter.native("rechecked");
    if (agrees) return;
    this.#meter.native("disagreed");
    this.#distrusted.add(root);
    const reason =
      `the native answer to job ${job} was wrong although its margins were thick: program ${root} is executed ` +
      "exactly until a restart; answers given or accepted natively before may be wrong too: " +
      "calibrate again with more inputs";
    this.#log.error({ job, programRoot: root }, reason);
    this.#health.set("native", { code: "NATIVE_DISAGREES", reason });
  }
}
