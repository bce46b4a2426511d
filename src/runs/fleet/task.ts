import { createHash } from "node:crypto";
import { KERNEL_HASHES } from "../../numerics/kernels/kernelHashes.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import { MAX_STRETCH } from "../stretches.ts";
import type { RunLength } from "../../program/run.ts";

/** A stored tensor: its tree's root, and its length in bytes. */
export type TensorRef = { root: Hash; bytes: number };

/** An execution that is asked of a fleet. All of it is JSON. */
export type Task = {
  /** The task's id: equal executions have equal ids, whoever requests them. */
  id: string;
  programRoot: Hash;
  /** The program's inputs, in the program's order. For several items: the run's inputs, without empty inputs. */
  inputs: readonly TensorRef[];
  /** Whose tensors are asked for; of several items, those of the last one. */
  steps: readonly number[];
  /** The run's length, for tasks over several items that carry state. */
  run?: RunLength;
  /** For a decoder's items, the tokens expected before the last item. */
  text?: TensorRef;
  /** Until when the result is useful, unix seconds; null if unknown. The earliest is executed first. */
  due: number | null;
  /** Executors that are not to do it. */
  not: readonly string[];
  /** Sets tasks apart that are not to be taken for the same. */
  purpose: string;
};

/** An executor's result for a task. */
export type TaskOutcome = {
  executor: string;
  /** The requested tensors, in the order of `steps`. For several items: then the roots of all items. */
  tensors: readonly TensorRef[];
};

/** Other kernels' results are others' results. */
const KERNELS = JSON.stringify(KERNEL_HASHES);

/** The execution that a task requests. */
export type Asked = Pick<Task, "programRoot" | "inputs" | "steps" | "run" | "text">;

/**
 * A task with its id. Tasks with the same one are done once. An expected text changes no result, and no id.
 * @param purpose Sets tasks apart that are not to be taken for the same.
 */
export function taskOf(asked: Asked, due: number, not: readonly string[], purpose = ""): Task {
  const { programRoot, inputs, steps, run, text } = asked;
  const content = { programRoot, inputs, steps, ...(run && { run }) };
  const id = idOf({ ...content, purpose });
  return { ...content, ...(text && { text }), id, due: Number.isFinite(due) ? due : null, not, purpose };
}

function idOf({ programRoot, inputs, steps, run, purpose }: Asked & Pick<Task, "purpose">): string {
  const refs = inputs.map(({ root, bytes }) => [root, bytes]);
  const items = run === undefined ? [] : [run.items, run.firstItem];
  const content = JSON.stringify([KERNELS, purpose, programRoot, refs, steps, ...items]);
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Returns whether a queue's value is a task with the correct id. Otherwise one task's result could pass for another
 * task's result, and the id for a path.
 */
export function isTask(value: unknown): value is Task {
  const { id, programRoot, inputs, steps, run, text, due, not, purpose } = (value ?? {}) as Partial<Task>;
  return (
    typeof id === "string" &&
    typeof purpose === "string" &&
    isRoot(programRoot) &&
    Array.isArray(inputs) &&
    inputs.every(isRef) &&
    Array.isArray(steps) &&
    steps.every((step) => Number.isSafeInteger(step)) &&
    (run === undefined || isRun(run)) &&
    (text === undefined || isRef(text)) &&
    Array.isArray(not) &&
    (due === null || typeof due === "number") &&
    id === idOf({ programRoot, inputs, steps, ...(run && { run }), purpose })
  );
}

/** How many tensors the outcome of a task has. */
export const tensorsOf = ({ steps, run }: Pick<Task, "steps" | "run">): number =>
  steps.length + (run === undefined ? 0 : 1);

/** The name of a tensor in a store. */
export const tensorName = ({ root }: Pick<TensorRef, "root">): string => `tensors/${root.slice(2, 4)}/${root.slice(2)}`;

/** The name of what a task gave. */
export const outcomeName = (id: string): string => `outcomes/${id.slice(0, 2)}/${id}.json`;

/** An outcome has some hundred bytes for each tensor, and a program a million steps at most. */
export const MAX_OUTCOME_BYTES = 2 ** 27;

/**
 * Reads the content of {@link outcomeName}. @returns undefined if the content is not an outcome with so many tensors
 */
export function readOutcome(bytes: Uint8Array, tensors: number): TaskOutcome | undefined {
  try {
    const outcome = JSON.parse(new TextDecoder().decode(bytes)) as Partial<TaskOutcome> | null;
    return isOutcome(outcome) && outcome.tensors.length === tensors ? outcome : undefined;
  } catch {
    return undefined;
  }
}

/** Whether something has the form of an outcome. */
export function isOutcome(value: unknown): value is TaskOutcome {
  const { executor, tensors } = (value ?? {}) as Partial<TaskOutcome>;
  return typeof executor === "string" && Array.isArray(tensors) && tensors.every(isRef);
}

const isRoot = (value: unknown): value is Hash => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value);

function isRun(value: unknown): value is RunLength {
  const { items, firstItem } = (value ?? {}) as Partial<RunLength>;
  const isPart = Number.isSafeInteger(items) && items! > 0 && items! <= MAX_STRETCH;
  return isPart && Number.isSafeInteger(firstItem) && firstItem! >= 0 && Number.isSafeInteger(firstItem! + items!);
}

function isRef(value: unknown): value is TensorRef {
  const { root, bytes } = (value ?? {}) as Partial<TensorRef>;
  return isRoot(root) && Number.isSafeInteger(bytes) && bytes! >= 0;
}
