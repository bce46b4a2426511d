/** Loaded by mocha in each mocha process (.mocharc.json). */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";

/**
 * A process of `mocha --parallel` that ends slowly gets this signal after a second. The handler makes the process exit
 * normally, so that its child processes end too. A command that runs in the process handles the signal itself.
 */
process.on("SIGTERM", () => {
  if (process.listenerCount("SIGTERM") === 1) process.exit(143);
});

/**
 * A process of `mocha --parallel` sends the results of a test file as JSON, which has no bigints. A failed comparison
 * of bigints is sent as text: else all results of the file would be lost, with the names of the tests that failed.
 */
const send = process.send?.bind(process);
const bigintAsText = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);
if (send !== undefined) process.send = (message: unknown) => send(JSON.parse(JSON.stringify(message, bigintAsText)));

/** The file for the time of each test file, if the runner wants these times (tools/verify/suites.ts). */
const times = process.env.REFUTE_SUITE_TIMES;
let begin = performance.timeOrigin;

/** With `--parallel` called once for each test file. The time since the last call includes loading the file. */
export const mochaHooks: Mocha.RootHookObject = {
  afterAll(this: Mocha.Context) {
    const file = this.test?.parent?.suites[0]?.file;
    const now = Date.now();
    if (times !== undefined && file !== undefined)
      appendFileSync(
        times,
        `${JSON.stringify({ name: relative(".", file), milliseconds: Math.round(now - begin) })}\n`,
      );
    begin = now;
  },
};
