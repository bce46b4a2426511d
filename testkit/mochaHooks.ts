/** Loaded by mocha in each mocha process (.mocharc.json). */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";

/**
 * A slowly ending `mocha --parallel` process gets SIGTERM after a second. The handler makes the process exit normally,
 * and the child processes end too.
 */
process.once("SIGTERM", () => process.exit(143));

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
