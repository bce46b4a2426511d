/** Loaded by mocha in each of its processes (.mocharc.json). */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";

/**
 * A process of `mocha --parallel` that is slow to end gets this signal after a second: it then ends as others do, so that
 * what it started ends too.
 */
process.once("SIGTERM", () => process.exit(143));

/** Where the runner wants to know how long each file took (tools/verify/suites.ts). */
const times = process.env.REFUTE_SUITE_TIMES;
let begin = performance.timeOrigin;

/** With `--parallel` once for each file; what came since the last one was spent on loading this one. */
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
