import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, join } from "node:path";
import { runCommand } from "../../../testkit/processes/runCommand.ts";

/** What a program that runs on prints when it is ready: a devnet, a dongle, a worker, a server of pages. */
const READY = /Ctrl-C stops|^socket |self test passed|Local: /m;
/** Programs that run on, in a terminal of their own. */
const RUNS_ON = /^(npx refute-ml|refute) (devnet|device dongle|worker|watcher)\b|^npm run (devnet|page)\b/;
/** Milliseconds until such a program must be ready, and until it must have ended. */
const [READY_MS, END_MS] = [400_000, 20_000];
/** The devnet's words before the commands of another account. */
const OTHERS = /^A worker of your own/m;

/** Types the lines of pages as a reader does: in one folder, with the package's tarball in place of its name. */
export class Shell {
  readonly at: string;
  readonly #tarball: string;
  readonly #running: ChildProcess[] = [];
  /** The lines that a devnet printed last. */
  devnet = "";
  env: NodeJS.ProcessEnv;

  constructor(at: string, tarball: string) {
    this.at = at;
    this.#tarball = tarball;
    const inherited = Object.entries(process.env).filter(([name]) => !/^(REFUTE|npm)_/.test(name));
    this.env = {
      ...Object.fromEntries(inherited),
      PATH: [join(at, "node_modules/.bin"), process.env.PATH].join(delimiter),
      XDG_CACHE_HOME: join(at, "cache"),
      XDG_STATE_HOME: join(at, "state"),
      // Another market may run on this machine.
      REFUTE_PORT: "0",
    };
  }

  /** Executes a line. @returns What it printed. @throws Error with the output, if it fails or does not get ready */
  async type(line: string): Promise<string> {
    const typed = line.startsWith("npm install") ? line.replace(/\brefute-ml(?=\s|$)/, this.#tarball) : line;
    const start = Date.now();
    const output = RUNS_ON.test(line) ? await this.#start(typed) : runCommand("sh", ["-c", typed], this.at, this.env);
    console.log(`    ${((Date.now() - start) / 1e3).toFixed(0).padStart(3)} s  ${line}`);
    if (!output.includes("Ctrl-C stops")) return output;
    // The reader pastes the lines of a devnet.
    this.devnet = output;
    this.paste(output.split(OTHERS)[0]!);
    return output;
  }

  /** Sets the variables that a text exports. */
  paste(text: string): void {
    for (const [, name, value] of text.matchAll(/^ *export (\w+)=(.+)$/gm)) this.env[name!] = value;
  }

  /** Ends all programs that run on, the last one first. */
  async stop(): Promise<void> {
    for (const child of this.#running.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((done) => child.once("exit", done));
      // npx and npm keep a signal to themselves.
      signalAll(child, "SIGINT");
      const timer = setTimeout(() => signalAll(child, "SIGKILL"), END_MS);
      await ended;
      clearTimeout(timer);
    }
  }

  #start(line: string): Promise<string> {
    const child = spawn("sh", ["-c", line], { cwd: this.at, env: this.env, detached: true });
    this.#running.push(child);
    process.once("exit", () => signalAll(child, "SIGKILL"));
    return new Promise((resolve, reject) => {
      let printed = "";
      const fail = (): void => reject(new Error(`${line} is not ready: ${printed.slice(-2_000)}`));
      const timer = setTimeout(fail, READY_MS);
      child.once("exit", fail);
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
          if (!READY.test(printed)) return;
          clearTimeout(timer);
          child.removeListener("exit", fail);
          resolve(printed);
        });
    });
  }
}

/** Sends a signal to a process and to all that it started. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // All have ended.
  }
}
