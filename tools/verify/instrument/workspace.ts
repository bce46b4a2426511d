import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { HEAR } from "./listener.ts";
import { run, type RunOptions } from "./run.ts";

const COPIED = [
  "contracts",
  "src",
  "watcher",
  "test",
  "testkit",
  "ignition",
  "tools",
  "docs",
  "examples",
  "package.json",
  "tsconfig.json",
  ".mocharc.json",
] as const;

/**
 * Settings that the added code needs: larger contracts, calls with more gas, larger transactions. Much added code also
 * needs a compiler with few optimisations.
 */
const config = (optimised: boolean): string => `import base from "./hardhat.base.ts";
const network = base.networks!.default as object;
const limits = {
  gasMultiplier: 2,
  allowUnlimitedContractSize: true,
  transactionGasCap: 2_000_000_000,
  blockGasLimit: 2_000_000_000,
};
type Profile = { compilers: { settings: object }[] };
const { default: profile } = (base.solidity as { profiles: { default: Profile } }).profiles;
const [compiler] = profile.compilers;
const optimizer = {
  enabled: true,
  runs: 1,
  details: { yul: true, yulDetails: { stackAllocation: true, optimizerSteps: "dhfoDgvulfnTUtnIf" } },
};
const settings = { ...compiler!.settings, ${optimised ? "" : "optimizer"} };
const quick = { ...profile, compilers: [{ ...compiler!, settings }] };
export default {
  ...base,
  solidity: { profiles: { default: quick, production: quick } },
  networks: { ...base.networks, default: { ...network, ...limits } },
  test: {
    solidity: {
      ...base.test!.solidity!,
      gasLimit: 2n ** 60n,
      blockGasLimit: false,
      transactionGasCap: false,
      memoryLimit: 2 ** 31,
      fsPermissions: { dangerouslyReadWriteDirectory: ["./replay"] },
    },
  },
};
`;

/**
 * Returns a contract's source whose functions may call and read the chain, as added code does. Free functions stay
 * pure: the compiler wants operators' functions pure.
 */
export const withViews = (source: string): string =>
  source.replace(/^function [^{;]*|\bpure\b/gm, (found) => (found === "pure" ? "view" : found));

/** A copy of the repository with changeable contracts. */
export class Workspace {
  readonly path: string;
  readonly #kept: boolean;

  /**
   * @param folder The copy's folder. The folder is kept: the next run compiles only changes. By default a temporary
   *   folder.
   * @param optimised Whether contracts are compiled as usual: for little added code.
   */
  constructor(folder?: string, optimised = false) {
    this.#kept = folder !== undefined;
    this.path = folder === undefined ? mkdtempSync(join(tmpdir(), "refute-instrumented-")) : resolve(folder);
    for (const name of COPIED) {
      rmSync(join(this.path, name), { recursive: true, force: true });
      cpSync(name, join(this.path, name), { recursive: true });
    }
    if (!existsSync(join(this.path, "node_modules")))
      symlinkSync(resolve("node_modules"), join(this.path, "node_modules"));
    for (const file of this.files("contracts/**/*.sol")) this.write(file, withViews(this.read(file)));
    cpSync("hardhat.config.ts", join(this.path, "hardhat.base.ts"));
    writeFileSync(join(this.path, "hardhat.config.ts"), config(optimised));
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), "utf8");
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.path, file), text);
  }

  /** Adds a library that reports executed places. */
  addLibrary(file: string, source: string): void {
    this.write(file, this.read(source));
    const listener = this.read("tools/verify/instrument/Listener.sol");
    this.write(join(dirname(file), "Listener.sol"), listener.replace("listenerHear(id)", `${HEAR}$&`));
  }

  /** Replaces a contract, and imports a library of the copy. */
  writeContract(file: string, source: string, library: { name: string; file: string }): void {
    const place = relative(dirname(file), library.file);
    const pragma = source.search(/^pragma .*$/m);
    const end = source.indexOf("\n", pragma) + 1;
    const imported = `import {${library.name}} from "${place.startsWith(".") ? place : `./${place}`}";\n`;
    this.write(file, source.slice(0, end) + imported + source.slice(end));
  }

  /** Compiles the contracts, or some files of contracts and tests. @throws Error with the compiler's output. */
  async build(files: readonly string[] = []): Promise<void> {
    const lines: string[] = [];
    const status = await this.run(
      "hardhat",
      ["build", "--quiet", ...(files.length === 0 ? ["--no-tests"] : files)],
      (line) => void lines.push(line),
    );
    if (status === 0) return;
    // Warnings about added code would hide the errors.
    const from = lines.findIndex((line) => /^\w*Error\b/.test(line));
    throw new Error(`the changed contracts do not build:\n${lines.slice(from < 0 ? -60 : from).join("\n")}`);
  }

  /** Runs a program in the copy, as `run` does. */
  run(command: string, args: readonly string[], onLine: (line: string) => void, options?: RunOptions): Promise<number> {
    return run(this.path, command, args, onLine, options);
  }

  /** Returns the copy's files that match globs, separated by commas: each file once, in the globs' order. */
  files(globs: string): string[] {
    const of = (glob: string) => (glob === "" ? [] : globSync(glob, { cwd: this.path }).sort());
    return [...new Set(globs.split(",").flatMap(of))];
  }

  /** Removes the copy if its folder is temporary. */
  remove(): void {
    if (!this.#kept) rmSync(this.path, { recursive: true, force: true });
  }
}
