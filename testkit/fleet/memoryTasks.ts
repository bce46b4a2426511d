import { TaskFailedError } from "../../src/runs/fleet/errors.ts";
import type { TaskOutcome, Task } from "../../src/runs/fleet/task.ts";
import { Postponed, type HandleTask, type TaskQueue } from "../../src/runs/fleet/taskQueue.ts";

/** A queue in memory, without retries: executors take tasks in turns, and one that postpones a task is passed by. */
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
        // What goes through a queue is text.
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
