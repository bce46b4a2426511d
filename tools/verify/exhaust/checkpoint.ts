import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { OpName } from "../../../src/program/operations.ts";
import type { ChunkReport } from "./chunks.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
/** Everything that a report on the kernels depends on. */
const SOURCES = [
  "{src/numerics,src/executor/loops}/**/*.ts",
  "src/executor/gpu/allInputs.ts",
  "tools/verify/exhaust/{definition.c,definition.h,wide.h,judge.c}",
  "tools/verify/exhaust/{chunks,estimateLoop,group,kernel}.ts",
];

/** Returns the SHA-256 of the sources, to separate the reports on different ones. */
function hashOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync([...SOURCES], { cwd: ROOT });
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** A function's chunk reports, on disk: a stopped run goes on. */
export class Checkpoint {
  readonly #file: string;

  /** @param folder Where reports of all sources are kept. */
  constructor(folder: string, name: OpName, stride: number) {
    this.#file = join(folder, hashOfSources().slice(0, 16), `${name}-${stride}.jsonl`);
    mkdirSync(dirname(this.#file), { recursive: true });
    const lines = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    // An incomplete last line is dropped, to keep the next line separate.
    writeFileSync(this.#file, lines.slice(0, lines.lastIndexOf("\n") + 1));
  }

  /** Returns the stored reports, by chunk. */
  read(): Map<number, ChunkReport> {
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return new Map(lines.map((line) => JSON.parse(line) as ChunkReport).map((report) => [report.chunk, report]));
  }

  add(reports: readonly ChunkReport[]): void {
    appendFileSync(this.#file, reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
  }
}
