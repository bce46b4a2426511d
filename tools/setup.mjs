// Plain Node, no dependency: makes a fresh clone ready, then hands over to `npm run main:NAME`.
// A second `npm run` is needed because only a new one puts the bundled Node first in PATH.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";

const [name, ...rest] = process.argv.slice(2);
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const run = (args) => spawnSync(npm, args, { stdio: "inherit" }).status ?? 1;

const { engines } = JSON.parse(readFileSync("package.json", "utf8"));

/** Whether `engines` (`^22.21.0 || >=24.9.0`) allows a version of Node. */
function isPromised(version) {
  const [line, minor] = version.split(".").map(Number);
  return engines.node.split(" || ").some((range) => {
    const [, sign, first, least] = /^(\^|>=)(\d+)\.(\d+)\.0$/.exec(range);
    return (line === +first && minor >= +least) || (sign === ">=" && line > +first);
  });
}

// npm writes this file last, so an interrupted install is seen as none.
const stamp = "node_modules/.package-lock.json";
if (!existsSync(stamp) || statSync(stamp).mtimeMs < statSync("package-lock.json").mtimeMs) {
  console.log("Setting up (npm ci) ...");
  const status = run(["ci", "--include=dev", "--include=optional"]);
  if (status !== 0) process.exit(status);
}
// Of the packages' own Node there is one for Linux x64 only. Elsewhere this one is used.
if (!existsSync("node_modules/.bin/node") && !isPromised(process.versions.node)) {
  console.error(`Node ${process.versions.node} cannot run Refute; install Node ${engines.node}`);
  process.exit(1);
}
process.exit(run(["run", "--silent", `main:${name}`, "--", ...rest]));
