/**
 * Exact execution of ppocr2_cls against plain onnxruntime, side by side in one run: interleaved, medians.
 * `npm run bench -- [--json FILE] [--threads N] [--runs N]`
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as ort from "onnxruntime-node";
import { PICTURE, TEXT_DIRECTION_PATH, textDirectionProgram } from "../../src/cli/demo/model.ts";
import { drawText } from "../../src/cli/demo/picture.ts";
import { createExecutor } from "../../src/executor/onnx/createExecutor.ts";
import { Trace } from "../../src/trace/trace.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    threads: { type: "string", default: "2" },
    runs: { type: "string", default: "15" },
  },
});
const threads = Number(values.threads);
const runs = Number(values.runs);

const { pixels } = drawText("REFUTE", PICTURE.width, PICTURE.height, 4);
const { model } = textDirectionProgram();
const exact = await createExecutor(model, { threads });
const plain = await ort.InferenceSession.create(TEXT_DIRECTION_PATH, { intraOpNumThreads: threads });

/** Plain onnxruntime is fed floats, channels first. */
const area = PICTURE.width * PICTURE.height;
const floats = Float32Array.from({ length: 3 * area }, (_, k) => {
  const [channel, pixel] = [Math.floor(k / area), k % area];
  return (pixels[3 * pixel + channel]! / 255 - 0.5) / 0.5;
});
const feeds = { [plain.inputNames[0]!]: new ort.Tensor("float32", floats, [1, 3, PICTURE.height, PICTURE.width]) };

const work = {
  "plain onnxruntime": () => plain.run(feeds),
  "exact execution": () => exact.run([pixels]),
  "exact, with the trace root": async () => new Trace(model.program, (await exact.run([pixels])).tensors).root,
};
type Name = keyof typeof work;
const names = Object.keys(work) as Name[];
const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
for (let k = -2; k < runs; k++) {
  for (const name of names) {
    const start = performance.now();
    await work[name]();
    // The first rounds warm up.
    if (k >= 0) samples[name].push(performance.now() - start);
  }
}
const { stats } = await exact.run([pixels]);
await exact.close();

const median = (list: number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
const base = median(samples["plain onnxruntime"]);
const rows = names.map((name) => ({
  what: name,
  milliseconds: Number(median(samples[name]).toFixed(2)),
  "ratio to plain": Number((median(samples[name]) / base).toFixed(2)),
}));
console.log(`ppocr2_cls on one picture, ${threads} threads, medians of ${runs} interleaved runs`);
console.table(rows);
console.log(`sums and products: ${JSON.stringify(stats)}`);
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ threads, runs, rows, stats }, null, 2)}\n`);
