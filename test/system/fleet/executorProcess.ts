import { strict as assert } from "node:assert";
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { builtCommandLine } from "../../../testkit/processes/commandLine.ts";

/** Tasks that each executor does at a time. */
export const THREADS = 2;

/** What an executor logs. */
type Line = { msg: string; task: string; level: number; items: number };

/** `refute fleet executor`, and what it says. */
export class ExecutorProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  #rest = "";
  readonly begun: string[] = [];
  /** Those of them that were about several items of a run. */
  stretches = 0;
  isKilled = false;
  isReady = false;

  constructor(name: string, flags: readonly string[], env: NodeJS.ProcessEnv) {
    this.name = name;
    const args = [
      builtCommandLine(),
      "fleet",
      "executor",
      "--name",
      name,
      "--threads",
      String(THREADS),
      "--lease",
      "5",
    ];
    this.#child = spawn(process.execPath, [...args, "--log-level", "debug", ...flags], { env });
    killAtExit(this.#child);
    this.#child.stderr!.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
  }

  /** Resolves when all are ready for tasks. @throws AssertionError if one ends */
  static async allReady(executors: readonly ExecutorProcess[]): Promise<void> {
    while (executors.some(({ isReady }) => !isReady)) {
      assert(
        executors.every(({ hasEnded }) => !hasEnded),
        "every executor starts",
      );
      await sleep(50);
    }
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Ends it, if it has not ended. */
  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.hasEnded) return;
    this.isKilled = signal === "SIGKILL";
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.kill(signal);
    await ended;
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const { msg, task, level = 0, ...rest } = JSON.parse(line) as Line;
      if (msg === "task begins") this.begun.push(task);
      if (msg === "task begins" && rest.items !== 1) this.stretches++;
      if (msg === "executor starts") this.isReady = true;
      if (level > 40) console.error(`${this.name}: ${msg} ${JSON.stringify(rest)}`);
    }
  }
}
