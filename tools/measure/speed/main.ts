/**
 * Measures exact execution against plain onnxruntime (default optimisation), interleaved in one process, medians. With
 * `--checks`, only the share of exact execution taken by spot checks of the engine's products.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chosen, decimal, file, flag, list, readOptions } from "../../options.ts";
import { keepFigures } from "../keepFigures.ts";
import type { Checks, Memory, Timing } from "./measure.ts";
import { MODELS } from "./models.ts";
import { prepare } from "./prepare.ts";

const values = readOptions({
  models: list("models to measure; all by default, without the large ones for --checks"),
  threads: list("numbers of threads", ["1", "2"]),
  seconds: decimal("about how long a measurement takes; 0 for one run of each kind", 8),
  checks: flag("only what the spot checks take"),
  json: file("a file for the figures"),
});
const names = values.models ?? Object.keys(MODELS).filter((name) => !values.checks || MODELS[name]!.isLarge !== true);
const models = chosen(names, MODELS, "model");

const MEASURE = fileURLToPath(new URL("measure.ts", import.meta.url));

function measured<Result>(mode: string, path: string, threads: number, seconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(MEASURE, [mode, path, String(threads), String(seconds)]);
    let result: Result | undefined;
    child.on("message", (message) => (result = message as Result));
    child.on("exit", (code) =>
      result === undefined ? reject(new Error(`the measurement ended with ${code}`)) : resolve(result),
    );
  });
}

type Row = { model: string; threads: number } & Timing & { plainPeak: number; exactPeak: number };

const folder = mkdtempSync(join(tmpdir(), "refute-bench-"));
const rows: Row[] = [];
const checkRows: ({ model: string; threads: number } & Checks)[] = [];
const failed: { model: string; reason: string }[] = [];
try {
  for (const [model, { load, isLarge }] of models) {
    const path = join(folder, model);
    try {
      prepare(load(), path);
      const counts = values.threads.map(Number);
      const seconds = isLarge === true ? 0 : values.seconds;
      for (const threads of isLarge === true ? [Math.max(...counts)] : counts) {
        if (values.checks) {
          checkRows.push({ model, threads, ...(await measured<Checks>("checks", path, threads, values.seconds)) });
          continue;
        }
        const timing = await measured<Timing>("time", path, threads, seconds);
        const [plain, exact] = [
          await measured<Memory>("plain", path, threads, seconds),
          await measured<Memory>("exact", path, threads, seconds),
        ];
        rows.push({ model, threads, ...timing, plainPeak: plain.peakBytes, exactPeak: exact.peakBytes });
        console.error(`${model}, ${threads} threads: ${(timing.exact / timing.plain).toFixed(2)}`);
      }
    } catch (error) {
      failed.push({ model, reason: (error as Error).message });
      console.error(`${model}: ${(error as Error).message}`);
    }
    rmSync(path, { force: true });
  }
} finally {
  rmSync(folder, { recursive: true });
}

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));
console.log(`${cpus()[0]?.model ?? "unknown processor"}, ${cpus().length} processors, Node ${process.version}`);
if (values.checks)
  console.table(
    checkRows.map(({ model, threads, runs, milliseconds, checks }) => ({
      ...{ model, threads, runs },
      "exact ms": cell(milliseconds / runs),
      "checks us": cell((1_000 * checks) / runs),
      "checks %": cell((100 * checks) / milliseconds, 3),
    })),
  );
else printTables();
for (const { model, reason } of failed) console.log(`${model} was not measured: ${reason}`);
keepFigures(values.json, { cpus: cpus(), rows, checkRows, failed });

function printTables(): void {
  console.table(
    rows.map((row) => ({
      model: row.model,
      threads: row.threads,
      "plain ms": cell(row.plain),
      "exact ms": cell(row.exact),
      exact: cell(row.exact / row.plain),
      committed: cell(row.committed / row.plain),
      check: cell(row.checked / row.plain),
      "exact, cpu": cell(row.processorRatio),
      memory: cell(row.exactPeak / row.plainPeak),
      runs: row.runs,
    })),
  );
  console.table(
    rows.map(({ model, threads, plain, exact, committed, stages, doubtful }) => {
      const total = Object.values(stages).reduce((sum, value) => sum + value, 0);
      const shares = Object.entries(stages).map(
        ([stage, value]) => [`${stage} %`, cell((100 * value) / total, 0)] as const,
      );
      return {
        model,
        threads,
        ...Object.fromEntries(shares),
        "hash ms": cell(committed - exact, 1),
        "all flagged ms": doubtful === undefined ? "" : cell(doubtful, 0),
        "all flagged": doubtful === undefined ? "" : cell(doubtful / plain, 1),
      };
    }),
  );
  console.table(
    rows.map(({ model, threads, stats, steps, hashedBytes }) => ({
      model,
      threads,
      steps,
      sums: stats.elements,
      flagged: stats.flagged,
      ties: stats.ties,
      compensated: stats.compensated,
      exact: stats.exact,
      patched: stats.patched,
      "hashed bytes": hashedBytes,
    })),
  );
}
