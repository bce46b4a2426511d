// Plain Node, no dependency: makes a fresh clone ready for `npm start` or `npm test`, says what it does and how long
// this takes, and then runs it with the Node that comes with the packages.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { unpackArtifacts } from "./setup/contracts.mjs";

const [name, ...rest] = process.argv.slice(2);
const PROGRAM = { start: "src/deploy/demo/main.ts", test: "tools/verify/test.ts" }[name];
/** The compiler, by its path: it is run without npm. */
const HARDHAT = "node_modules/hardhat/dist/src/cli.js";
const BUNDLED_NODE = "node_modules/.bin/node";
/** How often a step says that it still runs, seconds. */
const SAY_SECONDS = 5;

const { engines } = json("package.json");

function json(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Whether `engines` (`^22.21.0 || >=24.9.0`) allows this Node. */
function isPromised() {
  const [line, minor] = process.versions.node.split(".").map(Number);
  return engines.node.split(" || ").some((range) => {
    const [, sign, first, least] = /^(\^|>=)(\d+)\.(\d+)\.0$/.exec(range);
    return (line === +first && minor >= +least) || (sign === ">=" && line > +first);
  });
}

/** Whether a step of the preparation ran. */
let isPrepared = false;

/** Runs a step of the preparation, and says now and then that it still runs. @returns Its exit status */
function step(title, command, args, options) {
  isPrepared = true;
  console.log(title);
  const begin = Date.now();
  const seconds = () => `${Math.round((Date.now() - begin) / 1000)} s`;
  const timer = setInterval(() => console.log(`  still at it, ${seconds()}`), SAY_SECONDS * 1000);
  const child = spawn(command, args, { stdio: "inherit", ...options });
  return new Promise((done) => {
    child.once("error", ({ message }) => {
      console.error(message);
      done(1);
    });
    child.once("exit", (status) => done(status ?? 1));
  }).then((status) => {
    clearInterval(timer);
    if (status === 0) console.log(`  done, ${seconds()}`);
    return status;
  });
}

/**
 * `npm start` needs the packages that src/deploy/demo names, and a newer Node on a machine with an old Node. `npm test`
 * needs all packages. Once all packages are installed, `npm start` keeps them.
 */
async function install() {
  // npm writes this file last. An interrupted install counts as no install.
  const stamp = "node_modules/.package-lock.json";
  const installed = existsSync(stamp) ? json(stamp).packages : {};
  const has = (workspace) => `node_modules/${workspace}` in installed;
  const isFresh = existsSync(stamp) && statSync(stamp).mtimeMs >= statSync("package-lock.json").mtimeMs;
  const needsAll = name !== "start" || has("refute-anvil");
  // npm runs scripts with the bundled Node as soon as it is installed.
  const needsNode = existsSync(BUNDLED_NODE) || !isPromised();
  if (isFresh && has(needsAll ? "refute-anvil" : "refute-demo") && (!needsNode || has("refute-node"))) return 0;
  const node = needsNode ? ["-w", "tools/binaries/node"] : [];
  const some = needsAll ? [] : ["-w", "src/deploy/demo", ...node];
  const title = needsAll
    ? "Packages: npm installs all that tests and tools need, 1.8 GB on disk: 1 to 4 minutes, more over a slow line."
    : "Packages: npm installs what the demonstration needs, 0.9 GB on disk: 30 s to 2 minutes, more over a slow line.";
  const windows = process.platform === "win32";
  return step(title, windows ? "npm.cmd" : "npm", ["ci", ...some, "--include=dev", "--include=optional"], {
    shell: windows,
  });
}

/** Runs a program with the packages' own Node first in PATH, where there is one. */
function withNode(run, args) {
  const PATH = [resolve("node_modules/.bin"), process.env.PATH].join(delimiter);
  return run(existsSync(BUNDLED_NODE) ? BUNDLED_NODE : process.execPath, args, {
    stdio: "inherit",
    env: { ...process.env, PATH },
  });
}

/** Unpacks the compiled contracts, or compiles where the sources are not those of the packed contracts. */
function contracts() {
  if (unpackArtifacts()) return 0;
  const title = "Contracts: compiled where they changed. All of them take 2 to 5 minutes, none takes some seconds.";
  return withNode(
    (node, args, options) => step(title, node, args, options),
    [HARDHAT, "build", "--quiet", "--no-tests"],
  );
}

let status = await install();
// The bundled Node runs on Linux x64 only. Other machines use their own Node.
if (status === 0 && !existsSync(BUNDLED_NODE) && !isPromised()) {
  console.error(`Node ${process.versions.node} cannot run Refute; install Node ${engines.node}`);
  status = 1;
}
if (status === 0 && name === "start") status = await contracts();
if (status === 0 && isPrepared && name === "start") console.log("The demonstration: 10 to 30 s.\n");
if (status === 0) status = withNode(spawnSync, [PROGRAM, ...rest]).status ?? 1;
process.exitCode = status;
