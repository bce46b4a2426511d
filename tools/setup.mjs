// Plain Node, no dependency: makes a fresh clone ready, then hands over to `npm run main:NAME`.
// A second `npm run` is needed because only a new one puts the bundled Node first in PATH.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const [name, ...rest] = process.argv.slice(2);
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const run = (args) => spawnSync(npm, args, { stdio: "inherit" }).status ?? 1;

// npm writes this file last, so an interrupted install is seen as none.
const stamp = "node_modules/.package-lock.json";
if (!existsSync(stamp) || statSync(stamp).mtimeMs < statSync("package-lock.json").mtimeMs) {
  console.log("Setting up (npm ci) ...");
  const status = run(["ci", "--include=dev", "--include=optional"]);
  if (status !== 0) process.exit(status);
}
process.exit(run(["run", "--silent", `main:${name}`, "--", ...rest]));
