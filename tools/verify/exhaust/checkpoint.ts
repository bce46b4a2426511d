import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { OpName } from "../../../src/program/operations.ts";
import type { ChunkReport } from "./chunks.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
/** What reports on chunks depend on: sources below the root, and a machine by name if results may differ by it. */
type Origin = { sources: readonly string[]; machine?: string };

/** Everything that a report on the kernels depends on. */
const SOURCES = [
  "{src/numerics,src/executor/loops}/**/*.ts",
  "tools/verify/exhaust/{definition.c,definition.h,wide.h,judge.c}",
  "tools/verify/exhaust/{chunks,estimateLoop,group,kernel}.ts",
];

/** Returns the SHA-256 of sources and of what else decides, to separate the reports on different ones. */
function hashOf({ sources, machine = "" }: Origin): string {
  const hash = createHash("sha256").update(machine);
  const files = globSync([...sources], { cwd: ROOT });
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** A function's chunk reports, on disk: a stopped run goes on. */
export class Checkpoint<Report extends { chunk: number } = ChunkReport> {
  readonly #file: string;

  /** @param folder Where reports of all sources are kept. */
  constructor(folder: string, name: OpName, stride: number, origin: Origin = { sources: SOURCES }) {
    this.#file = join(folder, hashOf(origin).slice(0, 16), `${name}-${stride}.jsonl`);
    mkdirSync(dirname(this.#file), { recursive: true });
    const lines = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    // An incomplete last line is dropped, to keep the next line separate.
    writeFileSync(this.#file, lines.slice(0, lines.lastIndexOf("\n") + 1));
  }

  /** Returns the stored reports, by chunk. */
  read(): Map<number, Report> {
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return new Map(lines.map((line) => JSON.parse(line) as Report).map((report) => [report.chunk, report]));
  }

  add(reports: readonly Report[]): void {
    appendFileSync(this.#file, reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
  }
}
