import { TaskFailedError } from "../../src/runs/fleet/errors.ts";
import type { TaskOutcome, Task } from "../../src/runs/fleet/task.ts";
import { Postponed, type HandleTask, type TaskQueue } from "../../src/runs/fleet/taskQueue.ts";

/**
 * A queue in memory, without retries. Executors take tasks in turns; a task postponed by an executor goes to the next
 * executor.
 */
export class MemoryTasks implements TaskQueue {
  readonly tasks: Task[] = [];
  readonly #executors: readonly HandleTask[];
  #next = 0;

  constructor(executors: readonly HandleTask[]) {
    this.#executors = executors;
  }

  async submit(task: Task): Promise<TaskOutcome> {
    this.tasks.push(task);
    for (let tries = 0; tries < this.#executors.length; tries++) {
      const handle = this.#executors[this.#next++ % this.#executors.length]!;
      try {
        // Tasks and outcomes pass through a queue as text.
        return JSON.parse(JSON.stringify(await handle(JSON.parse(JSON.stringify(task)) as Task))) as TaskOutcome;
      } catch (error) {
        if (!(error instanceof Postponed)) throw error;
      }
    }
    throw new TaskFailedError("no executor takes it");
  }

  forget(): Promise<void> {
    return Promise.resolve();
  }

  executors(): Promise<number> {
    return Promise.resolve(this.#executors.length);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
