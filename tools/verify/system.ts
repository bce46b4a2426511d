/**
 * Runs the tests in test/system: they install packages, start servers and browsers, and wait for them. Tests without a
 * needed program are left out, and print a note.
 */
import { chosen, flag, readOptions } from "../options.ts";
import { lineOf, run, sumOf, type Totals } from "./totals.ts";

const SYSTEMS = {
  fleet: "executors on a queue, judged claims, jobs on a chain (Debian package redis-server)",
  web: "the page in browsers (Debian packages chromium, firefox-esr)",
  package: "the package in projects of users; needs the registry",
  operations: "image, units, alerts, dashboard (Debian package prometheus)",
};

const values = readOptions({ "at-length": flag("more claims for the fleet") }, `[${Object.keys(SYSTEMS).join("|")}]`);
const names = values.words.length > 0 ? values.words : Object.keys(SYSTEMS);
const env = values["at-length"] ? { REFUTE_AT_LENGTH: "true" } : {};
const totals: Totals[] = [];
for (const [name, about] of chosen(names, SYSTEMS, "system")) {
  console.log(`== ${name}: ${about}`);
  // Chains in the tests' process keep the process alive.
  totals.push(await run("mocha", ["--exit", `test/system/${name}/**/*.test.ts`], { env }));
}
const total = sumOf(totals);
console.log(lineOf(total));
// All tests may be left out.
process.exitCode = total.failed > 0 ? 1 : 0;
