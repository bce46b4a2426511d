import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { OpName } from "../../../src/program/operations.ts";
import type { ChunkReport } from "./chunks.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
/** Everything that a report on a chunk depends on. */
const SOURCES = [
  "{src/numerics,src/executor/loops}/**/*.ts",
  "tools/verify/exhaust/{definition.c,definition.h,wide.h,judge.c}",
  "tools/verify/exhaust/{chunks,estimateLoop,group,kernel}.ts",
];

/** The SHA-256 of those sources, so that reports of others are not taken for theirs. */
function hashOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(SOURCES, { cwd: ROOT });
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** The reports on a function's chunks, on disk, so that a run that was stopped goes on. */
export class Checkpoint {
  readonly #file: string;

  /** @param folder Where reports of all sources are kept. */
  constructor(folder: string, name: OpName, stride: number) {
    this.#file = join(folder, hashOfSources().slice(0, 16), `${name}-${stride}.jsonl`);
    mkdirSync(dirname(this.#file), { recursive: true });
    const lines = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    // A line that was not written to its end is dropped, so that the next one is not a part of it.
    writeFileSync(this.#file, lines.slice(0, lines.lastIndexOf("\n") + 1));
  }

  /** What is there, by the chunk. */
  read(): Map<number, ChunkReport> {
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return new Map(lines.map((line) => JSON.parse(line) as ChunkReport).map((report) => [report.chunk, report]));
  }

  add(reports: readonly ChunkReport[]): void {
    appendFileSync(this.#file, reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
  }
}
