import { Command } from "commander";
import { byteText, table } from "../../../base/text.ts";
import { CircuitRefusalError } from "../../../circuits/errors.ts";
import { circuitReport, domainOf, type CircuitReport } from "../../../circuits/report.ts";
import { NegativeVerdict } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { requireName } from "../../inputs.ts";
import { appendEntry, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import { loadProgram } from "../../models.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";
import { parseRange } from "../model/ranges.ts";

type Options = ModelOptions & { range?: Record<string, { low: number; high: number }>; binades: number };

/** Powers of two between an input's largest magnitude and the smallest. */
const BINADES = 21;
const MAX_BINADES = 100;

/** `refute zk check`: the price of a program's proof, or the first step without a circuit. */
export function checkCommand(output: Output): Command {
  const command = new Command("check")
    .description(
      "say what a proof of a program's result takes: constraints, time, key, gas; exit status 0 if one exists",
    )
    .argument("<model>", "ONNX file")
    .option(
      "--range <input=least:largest>",
      "numbers of a float32 input (default: -1:1); repeat for more",
      appendEntry(parseRange),
    )
    .option(
      "--binades <n>",
      "powers of two between the largest magnitude of an input and the smallest, 0 apart",
      as(whole(1, MAX_BINADES), "--binades"),
      BINADES,
    )
    .action((path: string, options: Options) => {
      const { model } = loadProgram(modelSpec(path, options), output);
      const names = model.inputs.map(({ name }) => name);
      const { range = {}, binades } = options;
      for (const name of Object.keys(range)) requireName(names, name);
      const report = judged(path, () =>
        circuitReport(
          model,
          names.map((name) => domainOf(range[name] ?? { low: -1, high: 1 }, binades)),
        ),
      );
      output.answer(report, page(report));
    });
  return addExamples(seedOption(modelOptions(command)), "zk check model.onnx", "zk check model.onnx --range x=0:255");
}

/** @throws NegativeVerdict in the place of a refusal */
function judged<T>(path: string, judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof CircuitRefusalError)) throw error;
    throw new NegativeVerdict(`${path}: ${error.message}`, { cause: error });
  }
}

const page = ({
  programRoot,
  constraints,
  publicValues,
  rows,
  seconds,
  keyBytes,
  gas,
  inputs,
  unit,
}: CircuitReport): string[] =>
  table([
    ["program root", programRoot],
    ["constraints", `${constraints}, in ${rows} rows`],
    ["public values", `${publicValues}: context, inputs and outputs`],
    ["proving", `about ${seconds} s of one core`],
    ["proving key", byteText(keyBytes)],
    ["verifying", `about ${gas} gas`],
    ["inputs with a proof", inputs.join("; ")],
    ...(unit === undefined ? [] : [["but", unit]]),
  ]);
