/**
 * Plants realistic bugs in a copy of the protocol's contracts, runs on each the tests that reach what it is in, and
 * reports which are found: `npm run planted [-- --by solidity|mocha] [--only WORDS;WORDS] [--in FOLDER] [--runs N]
 * [--tests FILES] [--log FILE]`. All bugs are in one build, without optimisation.
 * - `--by`: `solidity` tries bugs that random sequences of calls must find, on `test/contracts/solidity`; `mocha` those
 *   in what takes signatures of P-256 keys, on the tests in TypeScript, which have such keys. Both by default.
 * - `--tests`: the files of `test/contracts/solidity`.
 * - `--log`: what was found and missed is added there; a bug that stands there, of the same contracts and tests, is not
 *   tried again.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Bug } from "./bug.ts";
import { BUGS, SIGNED_BUGS } from "./bugs.ts";
import { tryOnHandlers } from "./handlers.ts";
import { tryOnMocha } from "./onMocha.ts";

const { values } = parseArgs({
  options: {
    by: { type: "string", default: "solidity,mocha" },
    only: { type: "string", default: "" },
    in: { type: "string" },
    runs: { type: "string", default: "64" },
    tests: {
      type: "string",
      default: "League.t.sol,Protocol.t.sol,Runs.t.sol,Tickets.t.sol,ExamClaims.t.sol,Panel.t.sol",
    },
    log: { type: "string" },
  },
});

const { runs, log } = values;
const by = values.by.split(",");
const isWanted = ({ name }: Bug): boolean => values.only.split(";").some((words) => name.includes(words));
const folder = (name: string): string | undefined => (values.in === undefined ? undefined : join(values.in, name));

const findings = [];
if (by.includes("solidity") && BUGS.some(isWanted))
  findings.push(tryOnHandlers(isWanted, { folder: folder("solidity"), tests: values.tests.split(","), runs, log }));
if (by.includes("mocha") && SIGNED_BUGS.some(isWanted))
  findings.push(await tryOnMocha(isWanted, { folder: folder("mocha"), log }));
const [found, missed] = [findings.map((f) => f.found), findings.map((f) => f.missed)].map((counts) =>
  counts.reduce((sum, count) => sum + count, 0),
) as [number, number];
console.log(`${found} of ${found + missed} found`);
if (missed > 0) process.exitCode = 1;
