import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { killAtExit } from "./killAtExit.ts";

/** How long a process may take to end after it is asked to, milliseconds. */
const END_MS = 5_000;

/** A process of a local market. The process logs JSON lines. */
export class MarketProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #lines = new EventEmitter<{ line: [string] }>();
  readonly #ended: Promise<void>;
  #last = "it said nothing";
  #isStopping = false;
  /** Fulfilled with the last output when the process ends by itself. */
  readonly failed: Promise<string>;

  /**
   * Starts it.
   * @param command The program and its arguments: no secret among them.
   * @param env Its environment, beside the system's. Settings of the command line are not passed on.
   */
  constructor(name: string, command: readonly string[], env: Readonly<Record<string, string>>) {
    this.name = name;
    const inherited = Object.entries(process.env).filter(([variable]) => !variable.startsWith("REFUTE_"));
    const [program, ...args] = command;
    this.#child = spawn(program!, args, {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    killAtExit(this.#child);
    this.#lines.setMaxListeners(0);
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) this.#read(stream);
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
      this.#child.once("error", ({ message }) => {
        this.#last = message;
        resolve();
      });
    });
    this.failed = new Promise((resolve) => {
      void this.#ended.then(() => {
        if (!this.#isStopping) resolve(this.#last);
      });
    });
  }

  /** Calls back with each line that the process logs from now on. */
  onLine(take: (line: string) => void): void {
    this.#lines.on("line", take);
  }

  /** Waits for a line of its log. @returns what `find` finds in it; undefined if the process ends before */
  waitForLine<T>(find: (line: string) => T | undefined): Promise<T | undefined> {
    return new Promise((resolve) => {
      this.onLine((line) => {
        const found = find(line);
        if (found !== undefined) resolve(found);
      });
      void this.#ended.then(() => resolve(undefined));
    });
  }

  /** Ends it: asks first, and waits until it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #read(stream: NodeJS.ReadableStream): void {
    let rest = "";
    stream.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        this.#last = line;
        this.#lines.emit("line", line);
      }
    });
  }
}
