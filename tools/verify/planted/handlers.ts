import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { edit, imports, PLANTED, withBugs } from "./apply.ts";
import type { Bug } from "./bug.ts";
import { BUGS } from "./bugs.ts";
import { Findings } from "./findings.ts";

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, "../../..");
const SOLIDITY = "test/contracts/solidity";
/** Where a copy says which bug is alive: the worlds that the tests make. */
const WORLDS = ["/ProtocolWorld.t.sol", "/TicketsWorld.t.sol", "/ExamWorld.t.sol"];

/** A fast build: the contracts are not optimised, and tests are compiled as in hardhat.config.ts. */
const CONFIG = `import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { defineConfig } from "hardhat/config";
const require = createRequire(import.meta.url);
const optimizer = {
  enabled: true,
  runs: 1,
  details: { yul: true, yulDetails: { stackAllocation: true, optimizerSteps: "u:" } },
};
const solc = {
  version: "0.8.37",
  path: require.resolve("solc/soljson.js"),
  settings: { optimizer, viaIR: true, evmVersion: "osaka" },
};
const test = { ...solc, settings: { optimizer: { enabled: false, runs: 1 }, viaIR: false, evmVersion: "osaka" } };
const overrides = Object.fromEntries(globSync("test/contracts/solidity/*.t.sol").map((file) => [file, test]));
const profile = { compilers: [solc], overrides };
export default defineConfig({
  solidity: { profiles: { default: profile, production: profile } },
  networks: { default: { type: "edr-simulated", chainType: "l1", hardfork: "osaka" } },
  paths: { tests: { mocha: "./test", solidity: "./${SOLIDITY}" } },
  test: {
    solidity: {
      fuzz: { seed: "0x6f6e6e78" },
      invariant: { runs: Number(process.env.RUNS), depth: 64, failOnRevert: false },
    },
  },
});
`;

/** What is tried: files of tests, runs of each invariant, the copy's folder, and where the log is. */
type Options = { folder: string | undefined; tests: readonly string[]; runs: string; log: string | undefined };

/**
 * Tries bugs on files of `test/contracts/solidity`. An environment variable says which one is active.
 * @throws Error if a test fails without a bug.
 */
export function tryOnHandlers(isWanted: (bug: Bug) => boolean, { folder, tests, runs, log }: Options): Findings {
  /** What each file of tests reaches, itself included. */
  const reached = new Map(tests.map((name) => [name, reachOf(join(SOLIDITY, name))]));
  const copy = { folder: folder ?? mkdtempSync(join(tmpdir(), "planted-")), runs };
  const findings = new Findings(log, prepare(copy.folder, reached));
  const built = hardhat(copy, 0, "build", "--quiet");
  if (built.status !== 0) throw new Error(built.output);
  const [healthy] = run(copy, 0, tests);
  if (healthy !== undefined) throw new Error(`fails without a bug: ${healthy}`);
  for (const bug of findings.left(BUGS.map((bug, index) => ({ ...bug, id: index + 1 })).filter(isWanted))) {
    const reaching = [...reached].filter(([, files]) => files.has(bug.file)).map(([test]) => test);
    if (reaching.length === 0) console.log(`not tried: no tests reach ${bug.file}: ${bug.name}`);
    else findings.add(bug, run(copy, bug.id, reaching)[0]);
  }
  return findings;
}

type Copy = { folder: string; runs: string };

/** A file, what it imports, what it deploys as it is built, and what these import. */
function reachOf(first: string): Set<string> {
  const files = new Set<string>();
  const take = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, path] of text.matchAll(/^import [^"]*"(\.[^"]+)";/gm)) take(join(dirname(file), path!));
    for (const [, path] of text.matchAll(/"(contracts\/[^":]+\.sol):\w+"/g)) take(path!);
  };
  take(first);
  return files;
}

/**
 * Makes the copy: what the tests reach, with all bugs in it.
 * @returns a digest of it
 */
function prepare(to: string, reached: ReadonlyMap<string, ReadonlySet<string>>): string {
  const digest = createHash("sha256");
  const files = new Set([...reached.values()].flatMap((each) => [...each]));
  for (const file of files) {
    let text = readFileSync(join(ROOT, file), "utf8");
    if (file.endsWith("Vm.sol")) {
      text = edit(
        text,
        file,
        "function warp(",
        "function etch(address at, bytes calldata code) external;\n" +
          "    function envOr(string calldata name, uint256 otherwise) external view returns (uint256);\n" +
          "    function warp(",
      );
    }
    if (WORLDS.some((world) => file.endsWith(world))) {
      text = edit(
        text,
        file,
        "    constructor() {\n",
        '    constructor() {\n        vm.etch(Planted.AT, new bytes(vm.envOr("BUG", uint256(0))));\n',
      );
      text = imports(text, file, PLANTED);
    }
    text = withBugs(text, file, BUGS);
    // Whoever asks which bug is alive reads the chain, which pure functions may not.
    text = text.replace(/\bpure\b/g, "view");
    digest.update(text);
    write(join(to, file), text);
  }
  write(join(to, PLANTED.file), readFileSync(join(HERE, "Planted.sol"), "utf8"));
  write(join(to, "package.json"), '{ "type": "module" }');
  write(join(to, "hardhat.config.ts"), CONFIG);
  if (!existsSync(join(to, "node_modules"))) symlinkSync(join(ROOT, "node_modules"), join(to, "node_modules"));
  return digest.digest("hex").slice(0, 16);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

/**
 * Runs files of tests with one bug active (0: none), the fixed sequences first.
 * @returns The tests that fail.
 * @throws Error if they do not run.
 */
function run(copy: Copy, bug: number, tests: readonly string[]): string[] {
  const files = tests.map((name) => join(SOLIDITY, name));
  for (const words of ["test_", "invariant_"]) {
    const { output, status } = hardhat(copy, bug, "test", "solidity", "--no-compile", "--grep", words, ...files);
    const failures = [...output.matchAll(/^\s+\d+\) (\w+)\(/gm)].map(([, name]) => name!);
    if (status !== 0 && failures.length === 0) throw new Error(`the tests did not run: ${output}`);
    if (status !== 0) return failures;
  }
  return [];
}

function hardhat({ folder, runs }: Copy, bug: number, ...words: string[]): { output: string; status: number | null } {
  const env = { ...process.env, BUG: String(bug), RUNS: runs };
  const program = join(ROOT, "node_modules/.bin/hardhat");
  const { stdout, stderr, status } = spawnSync(program, words, { cwd: folder, env, encoding: "utf8" });
  return { output: stdout + stderr, status };
}
