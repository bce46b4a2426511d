/** Proves every harness in test/contracts/smt. Fails if anything is violated, undecided or vacuous. */
import { readdirSync } from "node:fs";
import { readOptions } from "../../options.ts";
import { prove } from "./prove.ts";

readOptions({});
const names = readdirSync("test/contracts/smt").filter((file) => file.endsWith(".sol"));
let failed = false;
for (const file of names) {
  const name = file.replace(/\.sol$/, "");
  const { proved, problems } = prove(name);
  console.log(`${name}: ${proved} targets proved${problems.length > 0 ? `, ${problems.length} not` : ""}`);
  for (const problem of problems) console.error(problem);
  failed ||= problems.length > 0;
}
process.exitCode = failed ? 1 : 0;
