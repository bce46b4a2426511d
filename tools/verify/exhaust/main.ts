/**
 * Checks every elementary function with a single float32 operand, on all float32 (or one in each N), in both builds of
 * the kernels. Every result must equal the definition's result. The estimates' measured errors must stay below the
 * kernels' bounds, and the findings must match table.json. A stopped run goes on, if nothing changed. With `--powers`:
 * searches the powers closest to a midpoint between two float32; no power may come close enough for the definition to
 * take it for the midpoint.
 */
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { OpName } from "../../../src/program/operations.ts";
import { flag, list, readOptions, UsageError, whole } from "../../options.ts";
import { buildC } from "./build.ts";
import { BUILDS, FUNCTIONS } from "./chunks.ts";
import { beyondBound, exhaust, type FunctionReport } from "./exhaust.ts";
import { SEARCHES, searchPowers } from "./powers.ts";
import { differences, readTable, rowOf, writeRows, type Row } from "./table.ts";

const MAX_STRIDE = 2 ** 16;

const values = readOptions({
  function: list("functions by name", FUNCTIONS),
  powers: flag("search for the powers that come closest to a midpoint"),
  stride: whole("one of so many inputs: a power of two, an odd number for --powers", 1),
  jobs: whole("processes at a time", availableParallelism()),
  write: flag("put what is found into table.json and docs/numerics.md"),
});
const { stride, jobs } = values;
if (jobs < 1) throw new UsageError("--jobs 0: choose 1 or more");
const folder = join(resolve(import.meta.dirname, "../../.."), "cache/exhaust");
const right = values.powers ? await lookAtPowers() : await lookAtFunctions();
process.exitCode = right ? 0 : 1;

/** @returns Whether no power but a midpoint was taken for one. */
async function lookAtPowers(): Promise<boolean> {
  if (stride % 2 !== 1) throw new UsageError(`--stride ${stride} leaves out last bits: choose an odd number`);
  const program = buildC("powers");
  if ("missing" in program) throw new Error(program.missing);
  try {
    let taken = 0;
    for (const search of SEARCHES) {
      const found = await searchPowers(program, search, stride, jobs);
      taken += found.taken;
      console.log(
        `${search}: ${found.tried} pairs, ${found.midpoints} of them midpoints; of the others the closest is ` +
          `2^${Math.log2(found.closest).toFixed(2)} off, x = ${hex(found.x)}, y = ${hex(found.y)}; ` +
          `${found.taken} would be taken for midpoints`,
      );
    }
    return taken === 0;
  } finally {
    program.remove();
  }
}

function hex(word: number): string {
  return `0x${word.toString(16).padStart(8, "0")}`;
}

/** @returns The functions to try. @throws UsageError for unknown functions, and for a stride that leaves a rest */
function namedFunctions(): OpName[] {
  const names = values.function as OpName[];
  for (const name of names)
    if (!FUNCTIONS.includes(name))
      throw new UsageError(`--function ${name} is no function of one float32: choose of ${FUNCTIONS.join(", ")}`);
  if (!Number.isInteger(Math.log2(stride)) || stride < 1 || stride > MAX_STRIDE)
    throw new UsageError(`--stride ${stride} does not divide the inputs: choose a power of two up to 65536`);
  return names;
}

/** @returns Whether all is as it must be. */
async function lookAtFunctions(): Promise<boolean> {
  const names = namedFunctions();
  const committed = readTable()[stride] ?? {};
  const rows = new Map<OpName, Row>();
  const wrong: string[] = [];
  const began = performance.now();
  const onFunction = (name: OpName, report: FunctionReport): void => {
    const row = rowOf(report);
    rows.set(name, row);
    const different = differences(name, row, committed[name]);
    wrong.push(...beyondBound(name, report), ...(values.write ? [] : (different ?? [])));
    const found = BUILDS.map((build) => {
      const { log2, at, doubts } = row[build];
      return `${build} 2^${log2} at ${at}, ${doubts} in doubt`;
    });
    const seconds = Math.round((performance.now() - began) / 1000);
    const known = different === undefined ? "not in" : different.length === 0 ? "as in" : "other than in";
    console.log(`${name}, after ${seconds} s: ${found.join("; ")}; ${row.hash.slice(0, 16)}, ${known} the table`);
  };
  await exhaust({ names, stride, jobs, folder, onFunction });
  for (const what of wrong) console.error(what);
  if (values.write && wrong.length === 0) writeRows(stride, rows);
  return wrong.length === 0;
}
