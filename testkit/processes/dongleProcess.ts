import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { builtCommandLine } from "./commandLine.ts";

/** `refute device dongle` in a separate process. */
export class DongleProcess {
  readonly #child: ChildProcess;
  /** All that it printed. */
  output = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on("data", (chunk: Buffer) => void (this.output += chunk.toString()));
    killAtExit(child);
  }

  /**
   * Starts the dongle on a folder, and waits until it answers. @throws Error with the dongle's output if the process
   * ends
   */
  static async start(folder: string): Promise<DongleProcess> {
    const child = spawn(process.execPath, [builtCommandLine(), "device", "dongle", folder]);
    const dongle = new DongleProcess(child);
    const ended = once(child, "exit");
    while (!dongle.output.includes("socket ")) {
      const isOver = await Promise.race([ended.then(() => true), once(child.stdout, "data").then(() => false)]);
      if (isOver) throw new Error(dongle.output);
    }
    return dongle;
  }

  /** Kills the process at once, in the middle of any work, or ends the process by another signal. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
