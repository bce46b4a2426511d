import type { TaskOutcome, Task } from "./task.ts";

/** Takes tasks to executors and outcomes back. */
export type TaskQueue = {
  /**
   * Has a task done, or takes part in one of the same id.
   * @throws QueueUnavailableError, TaskFailedError, PoisonedTaskError
   */
  submit: (task: Task) => Promise<TaskOutcome>;
  /** Forgets what a task gave, if anything is known of it. @throws QueueUnavailableError */
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
  /** Takes no more tasks, and resolves when those that were taken are done. */
  close: () => Promise<void>;
};

/** Does a task. @throws Postponed if it is to be given to others, or to be tried again later, without counting it */
export type HandleTask = (task: Task) => Promise<TaskOutcome>;

/** A task that its executor cannot do now: no failure. */
export class Postponed extends Error {
  readonly afterMs: number;

  constructor(reason: string, afterMs: number) {
    super(reason);
    this.afterMs = afterMs;
  }
}
