/**
 * Mutation testing of the contracts: small changes, one at a time, each of which a test should notice.
 * `npm run mutate -- [--files DisputeGame.sol,lib/Descent.sol] [--most N] [--seed S] [--json FILE]`
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { withMutants, type Mutant } from "./schemata.ts";

/** What decides over money and verdicts; the verifier is tested against its definition instead. */
const FILES = [
  "DisputeGame.sol",
  "JobMarket.sol",
  "market/JobPosting.sol",
  "market/JobRecords.sol",
  "market/ResultDelivery.sol",
  "StakeVault.sol",
  "Provisioning.sol",
];
/** Tests of gas see the guards themselves. */
const NOT_OF_BEHAVIOUR = /gas|scheduled|CodeLimit|ignition|transactionLimit/i;

const { values } = parseArgs({
  options: {
    files: { type: "string", default: FILES.join(",") },
    tests: { type: "string", default: "test/contracts/**/*.test.ts" },
    most: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
  },
});

const copy = mkdtempSync(join(tmpdir(), "refute-mutants-"));
for (const name of [
  "contracts",
  "src",
  "watcher",
  "test",
  "test-support",
  "ignition",
  "package.json",
  "tsconfig.json",
  ".mocharc.json",
])
  cpSync(name, join(copy, name), { recursive: true });
symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
cpSync("hardhat.config.ts", join(copy, "hardhat.base.ts"));
writeFileSync(
  join(copy, "hardhat.config.ts"),
  `import base from "./hardhat.base.ts";
const network = base.networks!.default as object;
const coinbase = process.env.MUTANT;
export default { ...base, networks: { ...base.networks, default: { ...network, coinbase, allowUnlimitedContractSize: true, transactionGasCap: 100_000_000, blockGasLimit: 120_000_000 } } };
`,
);
cpSync("scripts/mutate/Mutants.sol", join(copy, "contracts/test/Mutants.sol"));

let passed = false;
try {
  passed = mutate();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = passed ? 0 : 1;

/** Runs in the copy. @returns What it printed, and whether it succeeded. */
function run(command: string, args: readonly string[], id = 0): { ok: boolean; output: string } {
  const MUTANT = `0x${(0x4d757461740000000000n + BigInt(id)).toString(16).padStart(40, "0")}`;
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, MUTANT },
    timeout: 600_000,
    maxBuffer: 2 ** 26,
  });
  return { ok: status === 0, output: stdout + stderr };
}

function mutate(): boolean {
  const survivors: Mutant[] = [];
  let killed = 0;
  let total = 0;
  for (const file of values.files.split(",")) {
    // One file at a time: guards make contracts larger, and what is created in one transaction must fit into one.
    const path = join(copy, "contracts", file);
    const original = readFileSync(path, "utf8");
    const { source, mutants } = withMutants(file, original, 1);
    const place = relative(dirname(path), join(copy, "contracts/test/Mutants.sol"));
    writeFileSync(path, source.replace('"MUTANTS"', `"${place.startsWith(".") ? place : `./${place}`}"`));
    const built = run("hardhat", ["build", "--quiet"]);
    if (!built.ok) throw new Error(`${file} with its mutants does not build:\n${built.output}`);
    const tests = [values.tests, "--bail", "--invert", "--grep", NOT_OF_BEHAVIOUR.source];
    const baseline = run("mocha", tests);
    if (!baseline.ok) throw new Error(`the tests fail without a mutant in ${file}:\n${baseline.output.slice(-4_000)}`);
    const drawn = draw(mutants, Number(values.most), Number(values.seed));
    total += drawn.length;
    for (const mutant of drawn) {
      if (run("mocha", tests, mutant.id).ok) survivors.push(mutant);
      else killed++;
    }
    console.log(`${file}: ${mutants.length} mutants, ${drawn.length} tried, ${killed} killed so far`);
    writeFileSync(path, original);
  }
  for (const { file, line, change } of survivors) console.log(`survives: ${file}:${line}: ${change}`);
  console.log(`${total} mutants, ${killed} killed, ${survivors.length} survive`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ total, killed, survivors }, null, 2)}\n`);
  return survivors.length === 0;
}

/** `count` of the mutants, the same for the same seed. */
function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const key = ({ id }: Mutant): number => (Math.imul(id + seed * 7_919, 0x9e3779b1) >>> 0) / 2 ** 32;
  return [...mutants]
    .sort((a, b) => key(a) - key(b))
    .slice(0, count)
    .sort((a, b) => a.id - b.id);
}
