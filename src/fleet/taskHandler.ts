import { tensorRoot } from "../merkle/tensor.ts";
import type { Execute } from "../player/executeRun.ts";
import type { ProgramLibrary } from "../player/programLibrary.ts";
import { bytesOf } from "../trace/runInputs.ts";
import type { BlobStore } from "./blobStore.ts";
import { StoreCorruptError, TaskFailedError } from "./errors.ts";
import {
  isTask,
  MAX_OUTCOME_BYTES,
  outcomeName,
  readOutcome,
  tensorName,
  type Outcome,
  type Task,
  type TensorRef,
} from "./task.ts";
import { Postponed } from "./taskQueue.ts";

export type HandlerOptions = {
  /** Of this executor, among all of the queue. */
  name: string;
  programs: ProgramLibrary;
  store: BlobStore;
  execute: Execute;
  /** Called when a task is executed, and not found to be done already. */
  onExecute?: (task: Task) => void;
};

/** Until a task that another executor must do is looked at again, milliseconds. */
const OTHERS_MS = 1_000;
/** The same of one whose program is not known here, and may be soon. */
const UNKNOWN_MS = 5_000;

/**
 * Does tasks. What a task gave is in the store before it counts as done, so that one that is delivered twice, or whose
 * executor died after the last tensor, is not executed again.
 */
export class TaskHandler {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /**
   * @throws Postponed; StoreError, StoreFullError, StoreCorruptError; TaskFailedError if the task is none of its
   *   program; what executing throws
   */
  readonly handle = async (task: Task): Promise<Outcome> => {
    const { name, programs, store, execute } = this.#options;
    if (!isTask(task)) throw new TaskFailedError("what the queue gave is no task");
    if (task.not.includes(name)) throw new Postponed(`not by ${name}`, OTHERS_MS);
    const program = await programs.load(task.programRoot);
    if (program === undefined) throw new Postponed(`the program ${task.programRoot} is not known here`, UNKNOWN_MS);
    const { steps, inputs: declared } = program.model.program;
    const fits = declared.map(bytesOf);
    if (fits.length !== task.inputs.length || task.inputs.some(({ bytes }, k) => bytes !== fits[k]))
      throw new TaskFailedError("the program takes other inputs");
    if (task.steps.some((step) => !(step in steps))) throw new TaskFailedError("the program has no such step");
    const done = await store.get(outcomeName(task.id), MAX_OUTCOME_BYTES);
    const known = done && readOutcome(done, task.steps.length);
    if (known !== undefined) return known;
    const inputs = await Promise.all(task.inputs.map((ref) => this.#input(ref)));
    const wanted = new Set(task.steps);
    this.#options.onExecute?.(task);
    const tensors = await execute(program.model, inputs, (step) => wanted.has(step));
    const refs: TensorRef[] = [];
    for (const step of task.steps) {
      const bytes = tensors[step]!;
      const ref = { root: tensorRoot(bytes), bytes: bytesOf(steps[step]!) };
      await store.put(tensorName(ref), bytes);
      refs.push(ref);
    }
    const outcome: Outcome = { executor: name, tensors: refs };
    await store.put(outcomeName(task.id), new TextEncoder().encode(JSON.stringify(outcome)));
    return outcome;
  };

  async #input(ref: TensorRef): Promise<Uint8Array> {
    const { store } = this.#options;
    const bytes = await store.get(tensorName(ref), ref.bytes);
    if (bytes === undefined) throw new StoreCorruptError(`an input (${ref.root}) is not in ${store.name}`);
    if (tensorRoot(bytes) !== ref.root) throw new StoreCorruptError(`an input in ${store.name} is not ${ref.root}`);
    return bytes;
  }
}
