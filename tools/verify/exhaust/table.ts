import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KERNEL_HASHES } from "../../../src/numerics/kernels/kernelHashes.ts";
import type { OpName } from "../../../src/program/operations.ts";
import { BUILDS, FUNCTIONS, type BuildName } from "./chunks.ts";
import type { FunctionReport } from "./exhaust.ts";

const FILE = join(import.meta.dirname, "table.json");
const PAGE = join(import.meta.dirname, "../../../docs/numerics.md");
const HASHES = join(import.meta.dirname, "../../../src/executor/gpu/functionHashes.ts");
const [BEGIN, END] = ["<!-- exhaust -->\n", "<!-- /exhaust -->"];

/** A row of the table: what was found for one function. */
export type Row = {
  /** SHA-256 of the results: see docs/numerics.md. */
  hash: string;
  /** The kernels' hash at the time: {@link kernelsNow}. */
  kernels: string;
} & Readonly<Record<BuildName, { log2: string; at: string; doubts: number }>>;

/** Rows by stride and function. */
type Table = Record<string, Partial<Record<OpName, Row>>>;

/** Returns one SHA-256 over the elementary functions' kernels, for present engines. */
export function kernelsNow(): string {
  const hash = createHash("sha256");
  for (const part of ["elementary functions", "constants", "tables"] as const)
    hash.update(KERNEL_HASHES[part]["madd twoMemories"], "hex");
  return hash.digest("hex");
}

export const readTable = (): Table => JSON.parse(readFileSync(FILE, "utf8")) as Table;

/** Puts rows in the place of those of the same functions and stride, in the file and on the page. */
export function writeRows(stride: number, rows: ReadonlyMap<OpName, Row>): void {
  const table = readTable();
  const all = { ...table[stride], ...Object.fromEntries(rows) };
  const sorted = Object.fromEntries(FUNCTIONS.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
  writeFileSync(FILE, `${JSON.stringify({ ...table, [stride]: sorted }, null, 2)}\n`);
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, "utf8")));
  writeFileSync(HASHES, hashesText());
}

/** The strides at which GPUs are compared: all inputs, and few of them for a short look. */
const GPU_STRIDES = [1, 65_536];

/** Returns the module of the hashes that GPUs are compared with; functions with the most inputs in doubt come first. */
export function hashesText(): string {
  const table = readTable();
  const doubtsOf = (name: OpName): number => table[1]?.[name]?.fused.doubts ?? 0;
  const names = [...FUNCTIONS].sort((a, b) => doubtsOf(b) - doubtsOf(a));
  const rows = GPU_STRIDES.map((stride) => {
    const lines = names.map((name) => `    ${name}: "${table[stride]![name]!.hash}",\n`);
    return `  ${stride}: {\n${lines.join("")}  },\n`;
  });
  return [
    "/*",
    " * SHA-256 of all results of each function of one float32, by stride: `npm run write -- exhaust` copies them from",
    " * tools/verify/exhaust/table.json. Functions with the most inputs in doubt come first.",
    " */",
    "export const FUNCTION_HASHES: Readonly<Record<number, Readonly<Record<string, string>>>> = {",
    `${rows.join("")}};`,
    "",
  ].join("\n");
}

const hex = (word: number): string => `0x${word.toString(16).padStart(8, "0")}`;

export function rowOf({ hash, builds }: FunctionReport): Row {
  const found = BUILDS.map((build) => {
    const { error, at, doubts } = builds[build];
    return [build, { log2: Math.log2(error).toFixed(2), at: hex(at), doubts }] as const;
  });
  return { hash, kernels: kernelsNow(), ...(Object.fromEntries(found) as Omit<Row, "hash" | "kernels">) };
}

/** Returns a row's differences from the committed row with the same kernels, in words; undefined without such a row. */
export function differences(name: OpName, row: Row, committed: Row | undefined): string[] | undefined {
  if (committed?.kernels !== row.kernels) return undefined;
  const words =
    committed.hash === row.hash ? [] : [`${name}: the results have the hash ${row.hash}, not ${committed.hash}`];
  for (const build of BUILDS)
    for (const key of ["log2", "at", "doubts"] as const)
      if (row[build][key] !== committed[build][key])
        words.push(`${name}, ${build}: ${key} is ${row[build][key]}, not ${committed[build][key]}`);
  return words;
}

const HEADING = ["function", "stride", ...BUILDS.flatMap((build) => [`${build}: error`, "at", "in doubt"]), "SHA-256"];

/** Cells in columns, as prettier writes them. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, n) => Math.max(...rows.map((row) => row[n]!.length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, n) => cell.padEnd(widths[n]!)).join(" | ")} |`;
  const [heading, ...others] = rows;
  return [line(heading!), line(widths.map((width) => "-".repeat(width))), ...others.map(line)];
}

/** Returns the page with the present table: for each function, the row with the smallest stride. */
export function pageWith(page: string): string {
  const table = readTable();
  const strides = Object.keys(table).sort((a, b) => Number(a) - Number(b));
  const rows = FUNCTIONS.flatMap((name) => {
    const stride = strides.find((each) => table[each]![name] !== undefined);
    if (stride === undefined) return [];
    const row = table[stride]![name]!;
    const found = BUILDS.flatMap((build) => {
      const { log2, at, doubts } = row[build];
      return [`2^${log2}`, at, doubts.toLocaleString("en")];
    });
    return [[name, stride, ...found, row.hash.slice(0, 8)]];
  });
  const text = columns([HEADING, ...rows]).map((line) => `${line}\n`);
  return page.slice(0, page.indexOf(BEGIN) + BEGIN.length) + `\n${text.join("")}\n` + page.slice(page.indexOf(END));
}
