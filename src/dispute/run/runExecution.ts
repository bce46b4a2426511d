import { Level } from "../../chain/structs.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import type { MerkleList } from "../../program/merkle/list.ts";
import { RefuteError } from "../../base/errors.ts";
import type { ClaimForm } from "../../chain/market/claimForm.ts";
import { isOfEachItem, type Answer } from "../../program/trace/answer.ts";
import type { OpenedOutput } from "../../program/trace/openedOutput.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { carriedTensors, type Carried } from "../../program/trace/runItems.ts";
import type { Trace } from "../../program/trace/trace.ts";
import type { Execution, KnownProgram } from "./execution.ts";
import type { RunRoots } from "./runRoots.ts";
import { StoredRun } from "./storedRun.ts";

/** Executions of items that were not kept. Executing these items again gives them. */
export class MissingItemsError extends RefuteError {
  readonly code = "ITEMS_NOT_KEPT";
  readonly items: readonly number[];

  constructor(items: readonly number[]) {
    super(`the executions of items ${items.join(", ")} were not kept; execute these items again and hold them`);
    this.items = items;
  }
}

/** The optional parts of a run, besides the roots. */
export type RunOptions = {
  /** The execution of the last item, from when all were executed. */
  last?: Execution | undefined;
  /** The stored part of the run, without executions. */
  stored?: StoredRun;
  /** The form of a claim on the run: "trace" by default. */
  form?: ClaimForm;
};

/**
 * A player's own execution of a job: all items of the run. For a run with many items, the object keeps the roots, the
 * initial state of some items, and the executions of some items.
 */
export class RunExecution {
  readonly program: KnownProgram;
  readonly inputs: RunInputs;
  /** The trace roots of the items. */
  readonly list: MerkleList;
  /** The roots of the outputs. */
  readonly answer: Answer;
  /** The form of a claim on the run. */
  readonly form: ClaimForm;
  /** The stored part of the run, without executions. */
  readonly stored: StoredRun;
  /** The execution of the last item, from when all were executed. */
  readonly #last: Execution | undefined;
  readonly #held = new Map<number, Execution>();

  constructor(
    program: KnownProgram,
    inputs: RunInputs,
    { traces, answer }: RunRoots,
    { last, stored, form = "trace" }: RunOptions = {},
  ) {
    [this.program, this.inputs, this.list, this.answer] = [program, inputs, traces, answer];
    this.stored = stored ?? new StoredRun(program.model.program, inputs.length.items);
    [this.#last, this.form] = [last, form];
  }

  /** The root over the list of the items' traces. */
  get runRoot(): Hash {
    return this.list.root;
  }

  /** The root that a claim states. */
  get root(): Hash {
    return this.form === "answer" ? this.answer.root : this.runRoot;
  }

  get items(): number {
    return this.list.width;
  }

  /** The list under a claim's root: the outputs, the items, or the only item's trace. */
  get claimed(): MerkleList {
    if (this.form === "answer") return this.answer.list;
    return this.items === 1 ? this.item(0).trace.list : this.list;
  }

  /** The level of the claimed list in games. */
  get claimedLevel(): Level {
    if (this.form === "answer") return Level.answer;
    return this.items === 1 ? Level.trace : Level.run;
  }

  /** @throws MissingItemsError */
  item(item: number): Execution {
    this.require([item]);
    return this.#own(item)!;
  }

  /**
   * Checks that all executions are available.
   * @throws MissingItemsError that names every missing item
   */
  require(items: readonly number[]): void {
    const missing = this.missing(items);
    if (missing.length > 0) throw new MissingItemsError(missing);
  }

  /** Returns the items whose executions are neither stored nor held. */
  missing(items: readonly number[]): number[] {
    return items.filter((item) => this.#own(item) === undefined);
  }

  /** The nearest item at or before an item from which executing can begin, and what it takes from the item before. */
  async before(item: number): Promise<{ from: number; carried: Carried }> {
    if (!this.stored.isCarried) return { from: item, carried: new Map() };
    let held: { from: number; execution?: Execution } = { from: 0 };
    for (const [at, execution] of this.#held) if (at < item && at + 1 > held.from) held = { from: at + 1, execution };
    const { from, execution } = held;
    const carried = execution === undefined ? new Map<number, Uint8Array>() : carriedFrom(execution);
    return (await this.stored.nearest(item, from)) ?? { from, carried };
  }

  /** Holds the execution of an item. */
  hold(item: number, execution: Execution): void {
    this.#held.set(item, execution);
  }

  /** The execution that a trace belongs to. */
  ofTrace(trace: Trace): Execution {
    const own = [this.#last, ...this.#held.values()].find((execution) => execution?.trace === trace);
    if (own === undefined) throw new RangeError("a trace of another run");
    return own;
  }

  /** Releases what was held since the run was executed. @param but Items that are held on. */
  release(but: ReadonlySet<number> = new Set()): void {
    for (const item of this.#held.keys()) if (!but.has(item)) this.#held.delete(item);
    if (!but.has(this.items - 1)) this.#last?.trace.release();
  }

  /** Roughly the bytes of memory that it takes. */
  get bytes(): number {
    let sum =
      this.list.bytes + this.answer.bytes + this.inputs.size + (this.#last?.trace.bytes ?? 0) + this.stored.bytes;
    for (const { trace } of this.#held.values()) sum += trace.bytes;
    return sum;
  }

  #own(item: number): Execution | undefined {
    return (item === this.items - 1 ? this.#last : undefined) ?? this.#held.get(item);
  }
}

/** Returns the state that the next item takes from the execution, by input. */
export const carriedFrom = ({ model, trace }: Execution): Carried =>
  carriedTensors(model.program, (step) => trace.tensor(step));

/**
 * Opens an output, with the path up to a claim's root.
 * @param trace The item's trace.
 * @returns undefined if a claim in the run's form does not hold the item's output
 */
export function outputAt(run: RunExecution, item: number, trace: Trace, output: number): OpenedOutput | undefined {
  const { program } = run.program.model;
  const checkpoint = program.outputs[output]!;
  const isAnswer = run.form === "answer";
  if (isAnswer && item < run.items - 1 && !isOfEachItem(program, output)) return undefined;
  return {
    bytes: trace.tensor(program.checkpoints[checkpoint]!.step),
    siblings: isAnswer ? run.answer.path(output, item) : [...trace.list.path(checkpoint), ...run.list.path(item)],
  };
}
