import { spawn, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { MissingPackageError } from "../../base/optionalPackage.ts";
import { askNode } from "./askNode.ts";
import { DevnetError } from "./errors.ts";
import { killAtExit } from "./killAtExit.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/** The npm package with the program for this machine. */
export const ANVIL_PACKAGE = `@foundry-rs/anvil-${process.platform === "win32" ? "win32" : process.platform}-${
  process.arch === "x64" ? "amd64" : process.arch
}`;
const LISTENING = /Listening on 127\.0\.0\.1:(\d+)/;
const START_MS = 30_000;

/** Gas limit of a block, equal to Ethereum's L1. */
const BLOCK_GAS = 60_000_000;

/** Returns the path to the npm package's anvil program, or the reason why the program is missing. */
export function anvilBinary(): string | { missing: string } {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${ANVIL_PACKAGE}/package.json`);
    return join(dirname(manifest), "bin", process.platform === "win32" ? "anvil.exe" : "anvil");
  } catch {
    return { missing: `the node anvil is not there: npm install ${ANVIL_PACKAGE}` };
  }
}

/** How a node runs. */
type AnvilOptions = {
  /** Seconds between blocks; without it, each transaction is mined at once. */
  blockSeconds?: number;
  /** Whether transactions are mined at once also where there are seconds between blocks. */
  isMixed?: boolean;
  /** Where it listens on 127.0.0.1; a port that is free if left out. */
  port?: number;
  /** The folder that stores the chain; an existing chain continues. Default: a temporary folder. */
  folder?: string;
  /** Whether contracts may be larger than on a real network. */
  unlimited?: boolean;
};

/**
 * A process of anvil: a chain with the osaka fork's rules, including the limit on a transaction's gas. A folder stores
 * the chain's state: the node can stop and start again.
 */
export class Anvil {
  readonly #folder: { path: string; remove: () => void };
  readonly #isKept: boolean;
  readonly #isUnlimited: boolean;
  readonly #isMixed: boolean;
  #blockSeconds: number | undefined;
  #child: ChildProcess | undefined;
  #port = 0;
  #onFailed!: (how: string) => void;
  /** Fulfilled when the node ends by itself after starting. */
  readonly failed = new Promise<string>((resolve) => (this.#onFailed = resolve));

  private constructor({ blockSeconds, port = 0, folder, unlimited = false, isMixed = false }: AnvilOptions) {
    [this.#isUnlimited, this.#isMixed] = [unlimited, isMixed];
    [this.#blockSeconds, this.#port] = [blockSeconds, port];
    this.#isKept = folder !== undefined;
    this.#folder = folder !== undefined ? { path: folder, remove: () => undefined } : temporaryFolder("refute-anvil-");
  }

  /**
   * Starts a node, with an empty chain if none is kept.
   * @throws MissingPackageError if the program is missing; DevnetError if it does not start
   */
  static async start(options: AnvilOptions = {}): Promise<Anvil> {
    const anvil = new Anvil(options);
    try {
      await anvil.#start();
    } catch (error) {
      await anvil.close();
      throw error;
    }
    return anvil;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Asks the node. @throws Error with the node's words, `code` and `data` */
  request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return askNode(this.url, method, params);
  }

  /** Has the node mine a block every so many seconds from now on, and no transaction at once. */
  async mineEvery(seconds: number): Promise<void> {
    this.#blockSeconds = seconds;
    await this.request("evm_setAutomine", [false]);
    await this.request("evm_setIntervalMining", [seconds]);
  }

  /** Lets this process end while the node runs; the node ends with it. */
  unref(): void {
    const child = this.#child;
    child?.unref();
    for (const stream of [child?.stdout, child?.stderr]) (stream as Socket | undefined)?.unref();
  }

  /** Stops the node, which saves its chain, and restarts the node on the same port after a pause. */
  async restart(pauseMs = 0): Promise<void> {
    await this.#stop("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await this.#start();
  }

  /** Ends the node and removes its files, but for a folder that was given. */
  async close(): Promise<void> {
    await this.#stop("SIGKILL");
    this.#folder.remove();
  }

  async #start(): Promise<void> {
    const binary = anvilBinary();
    if (typeof binary !== "string") throw new MissingPackageError(binary.missing);
    // Without the states of older blocks, which take a megabyte each, a long chain can be kept.
    const older = this.#isKept ? [] : ["--preserve-historical-states"];
    const state = ["--state", join(this.#folder.path, "state.json"), ...older];
    const rules = ["--hardfork", "osaka", "--enable-tx-gas-limit", "--gas-limit", String(BLOCK_GAS)];
    if (this.#isUnlimited) rules.push("--disable-code-size-limit");
    const blocks = this.#blockSeconds === undefined ? [] : ["--block-time", String(this.#blockSeconds)];
    if (this.#isMixed) blocks.push("--mixed-mining");
    const child = spawn(binary, ["--host", "127.0.0.1", "--port", String(this.#port), ...state, ...rules, ...blocks]);
    this.#child = child;
    killAtExit(child);
    await new Promise<void>((resolve, reject) => {
      let printed = "";
      const fail = (): void => {
        clearTimeout(timer);
        reject(new DevnetError(`anvil does not start: ${printed.trim().slice(-1_000)}`));
      };
      const timer = setTimeout(fail, START_MS);
      child.once("exit", fail).once("error", ({ message }) => {
        printed = message;
        fail();
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          if (printed === "listening") return;
          const found = LISTENING.exec((printed += chunk.toString()));
          if (found === null) return;
          printed = "listening";
          this.#port = Number(found[1]);
          clearTimeout(timer);
          child.removeListener("exit", fail);
          child.once("exit", (code, signal) => {
            if (this.#child === child) this.#onFailed(`the chain's node ended (${signal ?? `status ${code}`})`);
          });
          resolve();
        });
    });
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#child = undefined;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }
}
