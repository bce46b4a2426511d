import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptKeystoreJson } from "ethers";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { RunWiring } from "../../src/compiler/runWiring.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import type { DecoderOptions } from "../../src/compiler/wraps/wrapDecoder.ts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { builtCommandLine } from "./commandLine.ts";

const PASSWORD = "Tr0ub4dor-and-3";

/** A model for a process, and the compiler settings for the model. */
export type ServedModel = {
  bytes: Uint8Array;
  shapes?: Record<string, readonly number[]>;
  bind?: object;
  run?: RunWiring;
  decoder?: DecoderOptions;
  train?: TrainSpec;
};

/**
 * A party whose process, `refute worker` or `refute watcher`, gets killed and restarted. Each start uses a new empty
 * folder. Only the cache folder remains.
 */
export class RefuteProcess {
  readonly #command: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #folder = mkdtempSync(join(tmpdir(), "refute-"));
  readonly #key: Hex;
  #child: ChildProcess | undefined;
  #starts = 0;
  /** Everything that it printed in all its lives. */
  output = "";
  /** When each of its lives began, milliseconds. */
  readonly startedAt: number[] = [];

  /**
   * @param command With its settings as flags: `--rpc-url` and the like. The key comes from a keystore file.
   * @param env Beside this process's own.
   */
  constructor(
    command: readonly string[],
    key: Hex,
    models: readonly ServedModel[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#key = key;
    const entries = models.map(({ bytes, shapes = {}, bind = {}, run, decoder, train }, k) => {
      const path = join(this.#folder, `model${k}.onnx`);
      writeFileSync(path, bytes);
      return { path, shapes, bind, run, decoder, train };
    });
    const list = join(this.#folder, "models.json");
    writeFileSync(list, JSON.stringify(entries));
    const files = { "--models": list, "--keystore": join(this.#folder, "keystore.json"), "--cache": this.cache };
    this.#command = [...command, ...Object.entries(files).flat()];
    this.#env = { ...process.env, ...env, REFUTE_KEYSTORE_PASSWORD: PASSWORD };
  }

  /** Starts it. */
  async start(): Promise<void> {
    if (this.#starts++ === 0) {
      // A light scrypt keeps the start quick.
      const account = { address: privateKeyToAddress(this.#key), privateKey: this.#key };
      const keystore = await encryptKeystoreJson(account, PASSWORD, { scrypt: { N: 2, r: 8, p: 1 } });
      writeFileSync(join(this.#folder, "keystore.json"), keystore);
    }
    const cwd = this.#cwd;
    mkdirSync(cwd);
    const child = spawn(process.execPath, [builtCommandLine(), ...this.#command], { cwd, env: this.#env });
    this.startedAt.push(Date.now());
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => void (this.output += chunk.toString()));
    this.#child = child;
    killAtExit(child);
  }

  /** Memory that it has now, MiB (Linux); undefined if it does not run. */
  get residentMib(): number | undefined {
    const pid = this.#child?.pid;
    if (pid === undefined || !existsSync(`/proc/${pid}/status`)) return undefined;
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1_024);
  }

  /** The computing time of its present life, seconds (Linux); undefined if it does not run. */
  get cpuSeconds(): number | undefined {
    const path = `/proc/${this.#child?.pid}/stat`;
    if (!existsSync(path)) return undefined;
    // The name before may contain blanks. The 14th and 15th fields count hundredths of a second.
    const fields = readFileSync(path, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Whether it ended by itself. */
  get hasEnded(): boolean {
    return this.#child !== undefined && this.#child.exitCode !== null;
  }

  /** Kills the process at once, in the middle of any work. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }

  /**
   * Kills the process, removes its files, and checks that the process kept nothing on disk except the cache and printed
   * no secret.
   * @throws Error
   */
  async end(): Promise<void> {
    await this.kill();
    const kept = Array.from({ length: this.#starts }, (_, k) => readdirSync(join(this.#folder, String(k + 1)))).flat();
    rmSync(this.#folder, { recursive: true });
    if (kept.length > 0) throw new Error(`the process keeps files: ${kept.join()}`);
    const secrets = [this.#key.slice(2), PASSWORD];
    if (secrets.some((secret) => this.output.includes(secret)))
      throw new Error("the process prints its key or password");
    if (secrets.some((secret) => this.#command.join().includes(secret))) throw new Error("a secret is an argument");
  }

  /** The folder that remains from life to life. */
  get cache(): string {
    return join(this.#folder, "cache");
  }

  get #cwd(): string {
    return join(this.#folder, String(this.#starts));
  }
}
