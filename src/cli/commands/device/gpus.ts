import { Command } from "commander";
import { table } from "../../../base/text.ts";
import { listGpus, openGpu, type Gpu } from "../../../executor/gpu/device.ts";
import { FUNCTIONS, STRIDES } from "../../../executor/gpu/exhaust.ts";
import type { OpName } from "../../../program/operations.ts";
import { failureOf, type GpuReport } from "../../../runs/gpuReports.ts";
import { testGpu } from "../../../runs/testGpu.ts";
import { reportsOfGpus } from "../../deviceSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { list, oneOf, seconds, text, whole, type Parse } from "../../parse.ts";
import { addSettings, defaulted, optional, readSettings, toggle } from "../../settings.ts";

const functionNames: Parse<OpName[]> = (given, name) =>
  list(given, name).map((each) => oneOf(...FUNCTIONS)(each, name));
const stride: Parse<number> = (given, name) => Number(oneOf(...STRIDES.map(String))(given, name));

const settings = {
  selfTest: toggle("compare a small model, products and all functions with the definition"),
  measure: toggle("measure rates, and memory by filling it"),
  exhaust: toggle("compare functions on all 2^32 inputs, by hash; a stopped run goes on"),
  device: defaulted("gpu", "which one to test: gpu for the fastest, or a part of its name", text, "gpu"),
  function: optional<OpName[]>("names", "functions to exhaust", functionNames, "all, the most doubtful first"),
  stride: defaulted("n", "one of so many inputs: 1 or 65536", stride, 1),
  seconds: optional<number>("time", "after which exhausting stops", seconds(1), "no limit"),
  fillMib: defaulted("MiB", "of memory to fill at most", whole(1, 2 ** 20), 1_024),
};

/** `refute device gpus`: the GPUs that `--device` can name, and reports on one. */
export function gpusCommand(output: Output): Command {
  const command = new Command("gpus")
    .description("list the GPUs of this machine that --device can name, or test one and keep a report")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const gpus = await listGpus();
      const tests = values.selfTest || values.measure || values.exhaust;
      const report = tests ? await tested(values, output) : undefined;
      const rows = gpus.map(({ name, vendor, maxBytes }) => [name, vendor, `${(maxBytes / 2 ** 30).toFixed(1)} GiB`]);
      output.answer({ gpus, ...(report && { report }) }, [
        ...(gpus.length === 0
          ? ["no GPU is found here"]
          : table([["name", "vendor", "a program takes at most"], ...rows])),
        ...(report === undefined ? [] : linesOf(report)),
      ]);
      if (report !== undefined && failureOf(report) !== undefined) process.exitCode = 1;
    });
  return addExamples(
    addSettings(command, settings),
    "device gpus",
    "device gpus --self-test --measure --fill-mib 8192",
    "device gpus --exhaust --seconds 10m",
  );
}

async function tested(
  { device, function: names, fillMib, seconds: most, ...values }: ReturnType<typeof readSettings<typeof settings>>,
  output: Output,
): Promise<GpuReport> {
  const gpu: Gpu = await openGpu(device === "gpu" ? undefined : device);
  try {
    return await testGpu(gpu, reportsOfGpus(), {
      ...values,
      functions: names,
      fillBytes: fillMib * 2 ** 20,
      milliseconds: most && most * 1_000,
      onFinding: (finding) => output.note(finding),
    });
  } finally {
    gpu.close();
  }
}

/** A report, for people. */
function linesOf({ name, isSoftware, selfTest, rates, functions }: GpuReport): string[] {
  const giga = (rate: number): string => (rate / 1e9).toFixed(2);
  return [
    `${name}${isSoftware ? ": software, no GPU" : ""}`,
    ...(selfTest === undefined ? [] : [`self test: ${selfTest.passed ? "passed" : selfTest.finding}`]),
    ...(rates === undefined
      ? []
      : [
          `products a second: int8 ${rates.int8 === undefined ? "none" : `${giga(rates.int8)} G`}, ` +
            `float32 ${giga(rates.float32)} G`,
          `memory: ${(rates.filledBytes / 2 ** 30).toFixed(2)} GiB filled, ${rates.wrongWords} wrong words, ` +
            `read at ${giga(rates.memory)} GB/s, the slowest part at ${giga(rates.slowestMemory)} GB/s`,
        ]),
    ...functions.map(({ name, stride, chunks, isRight }) => {
      const inputs = `${name}, ${2 ** 32 / stride} inputs`;
      return `${inputs}: ${isRight === undefined ? `${chunks.length} of 256 parts done` : isRight ? "right" : "WRONG"}`;
    }),
  ];
}
