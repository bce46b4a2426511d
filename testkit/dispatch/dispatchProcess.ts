import { spawn } from "node:child_process";
import type { Hex } from "viem";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { builtCommandLine } from "../processes/commandLine.ts";

/** How a process ended: by itself, or killed. */
type Ended = { status: number | null; stdout: string; stderr: string };

/** The process `refute job dispatch`. Tests kill and restart the process until it ends normally. */
export class DispatchProcess {
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #kill: () => void = () => undefined;
  lives = 0;

  /** @param args Of `refute`. */
  constructor(args: readonly string[], key: Hex) {
    this.#args = args;
    this.#env = { ...process.env, REFUTE_PRIVATE_KEY: key };
  }

  /** Runs it, as often as it is killed. */
  async run(): Promise<Ended> {
    for (;;) {
      const ended = await this.#live();
      if (ended.status !== null) return ended;
    }
  }

  /** Kills the process at once, in the middle of any work. */
  kill(): void {
    this.#kill();
  }

  #live(): Promise<Ended> {
    this.lives++;
    const child = spawn(process.execPath, [builtCommandLine(), ...this.#args], { env: this.#env });
    killAtExit(child);
    this.#kill = () => child.kill("SIGKILL");
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => void (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()));
    return new Promise((done) => child.once("close", (status) => done({ status, ...output })));
  }
}
