import type { TaskOutcome, Task } from "./task.ts";

/** Takes tasks to executors and outcomes back. */
export type TaskQueue = {
  /**
   * Has a task done, or joins a running task with the same id.
   * @throws QueueUnavailableError, TaskFailedError, PoisonedTaskError
   */
  submit: (task: Task) => Promise<TaskOutcome>;
  /** Forgets a task's results, if any are known. @throws QueueUnavailableError */
  forget: (id: string) => Promise<void>;
  /** How many executors are connected now. @throws QueueUnavailableError */
  executors: () => Promise<number>;
  /** Ends; what waits for an outcome fails with QueueUnavailableError. */
  close: () => Promise<void>;
};

/** Gives tasks to an executor. */
export type TaskSource = {
  /** Takes no more tasks for now; those that were taken are done. */
  pause: () => Promise<void>;
  resume: () => void;
  /** Whether tasks may come: it is connected. */
  isConnected: () => Promise<boolean>;
  /** Takes no more tasks, and resolves after the taken tasks are done. */
  close: () => Promise<void>;
};

/**
 * Does a task. @throws Postponed if others must do the task, or the task must be tried again later, without counting
 * the try
 */
export type HandleTask = (task: Task) => Promise<TaskOutcome>;

/** A task that its executor cannot do now: no failure. */
export class Postponed extends Error {
  readonly afterMs: number;

  constructor(reason: string, afterMs: number) {
    super(reason);
    this.afterMs = afterMs;
  }
}
