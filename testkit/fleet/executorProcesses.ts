import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { TaskFailedError } from "../../src/runs/fleet/errors.ts";
import type { Task, TaskOutcome } from "../../src/runs/fleet/task.ts";
import type { HandleTask } from "../../src/runs/fleet/taskQueue.ts";

const CHILD = fileURLToPath(new URL("./executorProcess.ts", import.meta.url));

/** What a process answers. */
type Answer = { number: number; outcome?: TaskOutcome; reason?: string };

/** Executors of `runProgram` in processes of their own, which share a store in a folder. */
export class ExecutorProcesses {
  readonly #children: readonly ChildProcess[];
  #number = 0;

  constructor(count: number, folder: string) {
    this.#children = Array.from({ length: count }, () => {
      const child = fork(CHILD, [], { env: { ...process.env, REFUTE_TEST_STORE: folder } });
      killAtExit(child);
      return child;
    });
  }

  /** How each process does a task. */
  get handlers(): readonly HandleTask[] {
    return this.#children.map((child) => (task) => this.#ask(child, task));
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        const exited = once(child, "exit");
        child.kill();
        await exited;
      }),
    );
  }

  #ask(child: ChildProcess, task: Task): Promise<TaskOutcome> {
    const number = this.#number++;
    return new Promise((resolve, reject) => {
      const take = (answer: Answer): void => {
        if (answer.number !== number) return;
        child.off("message", take);
        if (answer.outcome !== undefined) resolve(answer.outcome);
        else reject(new TaskFailedError(answer.reason!));
      };
      child.on("message", take).send({ number, task });
    });
  }
}
