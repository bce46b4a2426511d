/**
 * Exact execution against plain onnxruntime (default optimisation), interleaved in one process, medians.
 * `npm run bench -- [--models a,b] [--threads 1,2] [--seconds S] [--json FILE]`
 * - `--checks`: what the spot checks of the engine's products take of exact execution, and nothing else.
 * - `--generation [--models gpt2_small]`: tokens of decoders, committed to, against a loop of plain onnxruntime.
 * - `--training`: steps of training, committed to, against plain onnxruntime on the same graph.
 * - `--batch`: items of a batch, committed to, against a loop of plain onnxruntime.
 * - `--native [--models ppocr2_cls]`: decisions by native execution against plain onnxruntime, on one thread.
 * - `--market [--jobs 1000] [--slice 250]`: a market of 8 workers and 2 watchers on one devnet, jobs a second and gas a
 *   job.
 * - `--float64`: operators of float64 by the definition, in the executor and in onnxruntime, nanoseconds an element.
 * - `--worst [--kinds sums,reads]`: the slowest executions against the work of their programs, and nothing else.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Checks, Memory, Timing } from "./measure.ts";
import { MODELS } from "./models.ts";
import { prepare } from "./prepare.ts";

const { values } = parseArgs({
  options: {
    models: { type: "string" },
    threads: { type: "string", default: "1,2" },
    seconds: { type: "string", default: "8" },
    json: { type: "string" },
    checks: { type: "boolean", default: false },
    generation: { type: "boolean", default: false },
    batch: { type: "boolean", default: false },
    training: { type: "boolean", default: false },
    native: { type: "boolean", default: false },
    worst: { type: "boolean", default: false },
    float64: { type: "boolean", default: false },
    kinds: { type: "string" },
    market: { type: "boolean", default: false },
    jobs: { type: "string", default: "1000" },
    slice: { type: "string", default: "250" },
  },
});
if (values.worst) {
  const { printWorst } = await import("./worst/printWorst.ts");
  process.exit((await printWorst(values.kinds, values.json)) ? 0 : 1);
}
if (values.market) {
  const { printMarket } = await import("./market/printMarket.ts");
  const market = await printMarket(Number(values.jobs), Number(values.slice));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ market }, null, 2)}\n`);
  process.exit(0);
}
if (values.float64) {
  const { printFloat64 } = await import("./float64/printFloat64.ts");
  const float64 = await printFloat64();
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ float64 }, null, 2)}\n`);
  process.exit(0);
}
if (values.native) {
  const { printNative } = await import("./native/printNative.ts");
  const native = await printNative(Number(values.seconds), values.models);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ native }, null, 2)}\n`);
  process.exit(0);
}
if (values.training) {
  const { printTraining } = await import("./training/printTraining.ts");
  const training = await printTraining();
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ training }, null, 2)}\n`);
  process.exit(0);
}
if (values.generation || values.batch) {
  const { printBatch, printGeneration } = await import("./runs/printRuns.ts");
  const generation = values.generation ? await printGeneration(values.models) : [];
  const batch = values.batch ? await printBatch() : [];
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ generation, batch }, null, 2)}\n`);
  process.exit(0);
}
const all = Object.keys(MODELS);
const models = values.models?.split(",") ?? all.filter((name) => !values.checks || MODELS[name]!.isLarge !== true);
const unknown = models.filter((name) => !(name in MODELS));
if (unknown.length > 0) throw new Error(`no model ${unknown.join(", ")}; there are ${all.join(", ")}`);

const MEASURE = fileURLToPath(new URL("measure.ts", import.meta.url));

/** @param seconds How long a measurement takes about; 0 for one run of each kind. */
function measured<Result>(mode: string, path: string, threads: number, seconds: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(MEASURE, [mode, path, String(threads), seconds]);
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
  for (const model of models) {
    const path = join(folder, model);
    try {
      const { load, isLarge } = MODELS[model]!;
      prepare(load(), path);
      const counts = values.threads.split(",").map(Number);
      const seconds = isLarge === true ? "0" : values.seconds;
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
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ cpus: cpus(), rows, checkRows, failed }, null, 2)}\n`);

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
