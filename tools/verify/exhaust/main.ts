/**
 * `npm run exhaust [-- --function NAMES] [--stride N] [--jobs N] [--write]`: every elementary function of one float32,
 * on all of them (or one of each N), in both builds of the kernels. Every result must be the definition's; the errors
 * of the estimates are measured and must be below the bounds that the kernels rely on; what is found must be what
 * table.json has. `--write` puts it there. A run that was stopped goes on where it was, as long as nothing changed.
 */
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { OpName } from "../../../src/program/operations.ts";
import { BUILDS, FUNCTIONS } from "./chunks.ts";
import { beyondBound, exhaust } from "./exhaust.ts";
import { differences, readTable, rowOf, writeRows, type Row } from "./table.ts";

const MAX_STRIDE = 2 ** 16;

const { values } = parseArgs({
  options: {
    function: { type: "string", default: FUNCTIONS.join(",") },
    stride: { type: "string", default: "1" },
    jobs: { type: "string", default: String(availableParallelism()) },
    write: { type: "boolean", default: false },
  },
});
const names = values.function.split(",") as OpName[];
for (const name of names)
  if (!FUNCTIONS.includes(name))
    throw new RangeError(`"${name}" is no function of one float32: choose of ${FUNCTIONS.join(", ")}`);
const stride = Number(values.stride);
if (!Number.isInteger(Math.log2(stride)) || stride < 1 || stride > MAX_STRIDE)
  throw new RangeError(`a stride of ${values.stride} does not divide the inputs: choose a power of two up to 65536`);

const folder = join(resolve(import.meta.dirname, "../../.."), "cache/exhaust");
const committed = readTable()[stride] ?? {};
const rows = new Map<OpName, Row>();
const wrong: string[] = [];
const began = performance.now();
await exhaust({
  ...{ names, stride, jobs: Number(values.jobs), folder },
  onFunction: (name, report) => {
    const row = rowOf(report);
    rows.set(name, row);
    wrong.push(...beyondBound(name, report));
    const different = differences(name, row, committed[name]);
    if (!values.write) wrong.push(...(different ?? []));
    const found = BUILDS.map(
      (build) => `${build} 2^${row[build].log2} at ${row[build].at}, ${row[build].doubts} in doubt`,
    );
    const seconds = Math.round((performance.now() - began) / 1000);
    const known =
      different === undefined ? "not in the table" : different.length === 0 ? "as in the table" : "DIFFERENT";
    console.log(`${name}, after ${seconds} s: ${found.join("; ")}; ${row.hash.slice(0, 16)}, ${known}`);
  },
});
if (values.write) writeRows(stride, rows);
for (const what of wrong) console.error(what);
process.exitCode = wrong.length === 0 ? 0 : 1;
