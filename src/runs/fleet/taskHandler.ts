import { tensorRoot } from "../../program/merkle/tensor.ts";
import { carriesState } from "../../program/run.ts";
import type { Program } from "../../program/types.ts";
import { executeStretch } from "../executeRun.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { ProgramLibrary } from "../programLibrary.ts";
import { keptSteps } from "../../program/trace/runItems.ts";
import { bytesOf, RunInputs, tensorsOf as inputTensorsOf } from "../../program/trace/runInputs.ts";
import type { BlobStore } from "./blobStore.ts";
import { StoreCorruptError, TaskFailedError } from "./errors.ts";
import {
  isTask,
  MAX_OUTCOME_BYTES,
  outcomeName,
  readOutcome,
  tensorName,
  tensorsOf,
  type TaskOutcome,
  type Task,
  type TensorRef,
} from "./task.ts";
import { Postponed } from "./taskQueue.ts";
import type { Execute } from "../execute.ts";

/** Returns whether a task over several items includes an input of so many bytes. The index has no bytes. */
export const isSent = (bytes: number): boolean => bytes > 0;

export type HandlerOptions = {
  /** This executor's name, unique in the queue. */
  name: string;
  programs: ProgramLibrary;
  store: BlobStore;
  execute: Execute;
  /** Called when a task is executed, and not found to be done already. */
  onExecute?: (task: Task) => void;
};

/** Pause before another look at a task that another executor must do, in milliseconds. */
const OTHERS_MS = 1_000;

/** The same pause, if the task's program may soon become known. */
const UNKNOWN_MS = 5_000;

/**
 * Does tasks. A task's results are in the store before the task counts as done. A task delivered twice, or whose
 * executor died after the last tensor, is therefore not executed again.
 */
export class TaskHandler {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /**
   * @throws Postponed; StoreError, StoreFullError, StoreCorruptError; TaskFailedError if the task does not fit its
   *   program; the errors of the execution
   */
  readonly handle = async (task: Task): Promise<TaskOutcome> => {
    const { name, programs, store, execute } = this.#options;
    if (!isTask(task)) throw new TaskFailedError("what the queue gave is no task");
    if (task.not.includes(name)) throw new Postponed(`not by ${name}`, OTHERS_MS);
    const program = await programs.load(task.programRoot);
    if (program === undefined) throw new Postponed(`the program ${task.programRoot} is not known here`, UNKNOWN_MS);
    requireFit(task, program.model.program);
    const done = await store.get(outcomeName(task.id), MAX_OUTCOME_BYTES);
    const known = done && readOutcome(done, tensorsOf(task));
    if (known !== undefined) return known;
    const inputs = await Promise.all(task.inputs.map((ref) => this.#input(ref)));
    this.#options.onExecute?.(task);
    const refs: TensorRef[] = [];
    const text = task.text && (await this.#input(task.text).catch(() => undefined));
    for (const bytes of await tensorsBy(execute, task, program, inputs, text)) {
      const ref = { root: tensorRoot(bytes), bytes: bytes.length };
      await store.put(tensorName(ref), bytes);
      refs.push(ref);
    }
    const outcome: TaskOutcome = { executor: name, tensors: refs };
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

/** Bytes of each input of a task. */
function inputBytes({ inputs }: Program, { run }: Task): number[] {
  if (run === undefined) return inputs.map(bytesOf);
  return inputs.map((input) => inputTensorsOf(input, run.items) * bytesOf(input));
}

/** @throws TaskFailedError if a task does not fit its program */
function requireFit(task: Task, program: Program): void {
  const sent = task.run === undefined ? () => true : isSent;
  const fits = inputBytes(program, task).filter(sent);
  if (fits.length !== task.inputs.length || task.inputs.some(({ bytes }, k) => bytes !== fits[k]))
    throw new TaskFailedError("the program takes other inputs");
  if (task.steps.some((step) => !(step in program.steps))) throw new TaskFailedError("the program has no such step");
  if (task.run === undefined) return;
  if (!carriesState(program.inputs))
    throw new TaskFailedError("the program carries no state from one item to the next");
  const kept = keptSteps(program);
  if (task.text !== undefined && program.inputs.every((input) => bytesOf(input) !== task.text!.bytes))
    throw new TaskFailedError("the program takes no such text");
  if (!task.steps.every((step) => kept.has(step))) throw new TaskFailedError("a run does not need these steps");
}

/** Executes a task. @returns the outcome's tensors, in order */
async function tensorsBy(
  execute: Execute,
  task: Task,
  program: KnownProgram,
  given: readonly Uint8Array[],
  text: Uint8Array | undefined,
): Promise<Uint8Array[]> {
  const { steps, run } = task;
  const { model } = program;
  if (run === undefined) {
    const wanted = new Set(steps);
    const tensors = await execute(model, given, (step) => wanted.has(step));
    return steps.map((step) => tensors[step]!);
  }
  const sent = given.values();
  const all = inputBytes(model.program, task).map((bytes) => (isSent(bytes) ? sent.next().value! : NOTHING));
  const inputs = new RunInputs(model.program.inputs, run, all);
  const { tensors, roots } = await executeStretch({ program, inputs, steps, ...(text && { text }) }, execute);
  return [...steps.map((step) => tensors[step]!), roots];
}

const NOTHING = new Uint8Array(0);
