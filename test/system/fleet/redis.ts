import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { isInstalled } from "../../../testkit/processes/runCommand.ts";

const PROGRAMS = ["valkey-server", "redis-server"];
export const PASSWORD = "c0rrectHorse";

/** A server that is there on this machine. @returns undefined if none is */
export const serverProgram = (): string | undefined => PROGRAMS.find(isInstalled);

/** A server of Valkey or Redis with a password, in memory only. */
export class Redis {
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "refute-redis-"));
  #port = 0;
  #child: ChildProcess | undefined;

  constructor(program: string) {
    this.#program = program;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Starts it, each time with nothing in it, on the same port. */
  async start(): Promise<void> {
    this.#port ||= await freePort();
    const flags = ["--port", String(this.#port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const child = spawn(this.#program, [...flags, "--requirepass", PASSWORD, "--dir", this.#folder]);
    killAtExit(child);
    this.#child = child;
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    while (!printed.includes("Ready to accept connections")) {
      if (child.exitCode !== null) throw new Error(`${this.#program} ended: ${printed}`);
      await sleep(20);
    }
  }

  /** Kills it: what is in it is lost. */
  async kill(): Promise<void> {
    const child = this.#child!;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
