/**
 * A visit to a GPU: facts, self test, rates, products, models and exams beside the CPU, and the functions on all inputs
 * until the time is over. The file of figures is written after each part; a second visit goes on with the functions.
 * With `--pack` it makes an archive for a machine without Node: docs/performance.md, "A GPU".
 */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { RefuteError } from "../../../src/base/errors.ts";
import { identificationOf } from "../../../src/attestation/machine/identification.ts";
import { look, THIS_MACHINE } from "../../../src/attestation/machine/sources.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { listGpus, openGpu, type Gpu } from "../../../src/executor/gpu/device.ts";
import { STRIDES } from "../../../src/executor/gpu/exhaust.ts";
import { GpuReports } from "../../../src/runs/gpuReports.ts";
import { testGpu } from "../../../src/runs/testGpu.ts";
import { file, list, readOptions, text, UsageError, whole } from "../../options.ts";
import { keepFigures } from "../keepFigures.ts";
import { examFigures, modelFigures, productFigures } from "./benches.ts";
import { pack } from "./pack.ts";

const values = readOptions({
  device: text("a GPU, by a part of its name; gpu for the fastest", "gpu"),
  minutes: whole("for the whole visit", 10),
  out: text("the file of figures", "visit.json"),
  reports: text("the folder of reports, from which a second visit goes on", "visit-reports"),
  stride: whole("functions on one of so many inputs: 1 or 65536", 1),
  products: list("rows and columns of square products", ["256", "1024", "2048", "4096", "8192"]),
  layers: whole("of MiniLM, 128 tokens", 6),
  exam: whole("rows and columns of the exams' matrices", 8_192),
  fill: whole("MiB of memory to fill at most", 16_384),
  pack: file("make an archive with Node, Dawn and the loader, and end"),
});
if (!STRIDES.includes(values.stride)) throw new UsageError(`--stride ${values.stride}: choose ${STRIDES.join(" or ")}`);
const sizes = values.products.map(Number);
if (!sizes.every((size) => Number.isInteger(size) && size > 0))
  throw new UsageError(`--products ${values.products.join(",")}: name whole numbers`);
if (values.pack === undefined) await visit();
else pack(values.pack);
// Dawn's threads keep the process.
process.exit();

async function visit(): Promise<void> {
  const began = performance.now();
  const end = began + values.minutes * 60_000;
  const figures: Record<string, unknown> = { date: new Date().toISOString() };
  const part = async (name: string, work: () => unknown): Promise<void> => {
    const start = performance.now();
    if (start > end) return void console.log(`${name}: left out, the time is over`);
    try {
      figures[name] = { ...((await work()) as object), seconds: (performance.now() - start) / 1_000 };
    } catch (error) {
      if (!(error instanceof RefuteError)) throw error;
      figures[name] = { failed: error.message };
    }
    keepFigures(values.out, figures);
    console.log(`${name}: ${JSON.stringify(figures[name])}`);
  };
  await part("machine", machineFacts);
  await part("gpus", async () => ({ gpus: await listGpus() }));
  const gpu = await openGpu(values.device === "gpu" ? undefined : values.device);
  const test = { selfTest: false, measure: false, exhaust: false, stride: values.stride };
  const reports = new GpuReports(values.reports, "visit");
  const tested = (what: object, milliseconds?: number) =>
    testGpu(gpu, reports, {
      ...{ ...test, ...what, milliseconds, fillBytes: values.fill * 2 ** 20 },
      onFinding: (finding) => console.log(finding),
    });
  await part("selfTest", async () => (await tested({ selfTest: true })).selfTest);
  await part("rates", async () => (await tested({ measure: true })).rates);
  await part("products", () => productFigures(gpu, sizes));
  await part("model", () => modelFigures(gpu, values.layers));
  await part("exams", () => examFigures(gpu, values.exam));
  await part("plain", () => plainFigures(gpu));
  await part("functions", async () => {
    const { functions } = await tested({ exhaust: true }, end - performance.now());
    return { functions: functions.map(({ chunks, ...finding }) => ({ ...finding, chunks: chunks.length })) };
  });
}

/** What the machine says of itself, by all layers. */
async function machineFacts(): Promise<object> {
  const seen = await look(THIS_MACHINE);
  const { parts, warnings } = identificationOf(seen, ZERO_HASH);
  return {
    ...{ node: process.version, system: `${process.platform} ${process.arch} ${release()}` },
    ...{ processor: cpus()[0]?.model, processors: availableParallelism(), memoryBytes: totalmem() },
    ...{ accelerators: parts.filter(({ kind }) => kind === "accelerator"), warnings },
  };
}

/** The products of float32 by PyTorch on the same GPU, with TF32 and without, if Python has PyTorch and finds a GPU. */
function plainFigures({ facts }: Gpu): object {
  const program = `
import json, time, torch
assert torch.cuda.is_available()
found = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}
for n in ${JSON.stringify(sizes)}:
    for kind in ("float32", "tf32", "bfloat16"):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16 if kind == "bfloat16" else torch.float32)
        a @ a
        torch.cuda.synchronize()
        begin, rounds = time.time(), 0
        while time.time() - begin < 0.3:
            a @ a
            torch.cuda.synchronize()
            rounds += 1
        found[f"{kind} {n}"] = 1e3 * (time.time() - begin) / rounds
print(json.dumps(found))`;
  const { status, stdout } = spawnSync("python3", ["-c", program], { encoding: "utf8", timeout: 120_000 });
  if (status === 0) return JSON.parse(stdout) as object;
  return { absent: `python3 has no PyTorch that sees ${facts.name}` };
}
