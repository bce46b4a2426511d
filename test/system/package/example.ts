import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { runCommand } from "../../../testkit/processes/runCommand.ts";

/** What `refute devnet --json` prints when it is ready. */
type Ready = { env: Record<string, string> };

/** Milliseconds until a devnet must be ready. */
const LIMIT_MS = 120_000;
/** Not through npx, which keeps a signal to itself. */
const REFUTE = join("node_modules", "refute", "dist", "src", "cli", "main.js");

/** `examples/iris`, installed and built as by a stranger, with a devnet that serves it. */
export class Example {
  readonly at: string;
  readonly #devnet: ChildProcess;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(at: string, devnet: ChildProcess, { env }: Ready) {
    this.at = at;
    this.#devnet = devnet;
    this.#env = { ...process.env, ...env };
  }

  /**
   * Installs it with the packed package in place of the registry's. Prints how long each step took.
   * @throws Error with what a step printed
   */
  static async start(tarball: string, folder: string): Promise<Example> {
    const at = join(folder, "iris");
    cpSync("examples/iris", at, { recursive: true, filter: (path) => !path.includes("node_modules") });
    const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as { dependencies: { refute: string } };
    manifest.dependencies.refute = `file:${tarball}`;
    writeFileSync(join(at, "package.json"), JSON.stringify(manifest));
    const start = Date.now();
    const log = (what: string): void =>
      console.log(`    example: ${what} after ${((Date.now() - start) / 1e3).toFixed(0)} s`);
    runCommand("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], at);
    log("installed");
    runCommand("npm", ["run", "build"], at);
    log("built");
    const flags = ["devnet", "--model", "model/iris.onnx", "--port", "0", "--json"];
    const devnet = spawn(process.execPath, [REFUTE, ...flags], { cwd: at });
    killAtExit(devnet);
    const ready = await readyOf(devnet);
    log("the devnet is ready");
    return new Example(at, devnet, ready);
  }

  /** Whether the audit of the model is clean. */
  audit(): boolean {
    const args = [REFUTE, "model", "audit", "model/iris.onnx", "--samples", "8", "--json"];
    return (JSON.parse(runCommand(process.execPath, args, this.at)) as { clean: boolean }).clean;
  }

  /** Asks about the usual flower. @returns what the script prints */
  ask(): string {
    return runCommand(process.execPath, ["scripts/ask.ts"], this.at, this.#env);
  }

  /** The files that its page needs and that are not there. */
  missingFiles(): string[] {
    return ["page/page.js", "page/oracle.json"].filter((file) => !existsSync(join(this.at, file)));
  }

  async stop(): Promise<void> {
    if (this.#devnet.exitCode !== null) return;
    const ended = new Promise((done) => this.#devnet.once("exit", done));
    this.#devnet.kill("SIGINT");
    await ended;
  }
}

function readyOf(devnet: ChildProcess): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const fail = (): void => reject(new Error(`the devnet is not ready: ${printed.slice(-2_000)}`));
    const timer = setTimeout(fail, LIMIT_MS);
    devnet.once("exit", fail);
    devnet.stderr!.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    let line = "";
    devnet.stdout!.on("data", (chunk: Buffer) => {
      line += chunk.toString();
      if (!line.includes("\n")) return;
      clearTimeout(timer);
      devnet.removeListener("exit", fail);
      resolve(JSON.parse(line) as Ready);
    });
  });
}
