import { Command } from "commander";
import { byteText, table } from "../../../base/text.ts";
import { circuitReport, type CircuitReport } from "../../../circuits/report.ts";
import { circuitOptions, judged, loadDomains, type CircuitOptions } from "../../circuits.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";

/** `refute zk check`: the price of a program's proof, or the first step without a circuit. */
export function checkCommand(output: Output): Command {
  const command = new Command("check")
    .description(
      "say what a proof of a program's result takes: constraints, time, key, gas; exit status 0 if one exists",
    )
    .argument("<model>", "ONNX file")
    .action((path: string, options: CircuitOptions) => {
      const { model, domains } = loadDomains(path, options, output);
      const report = judged(path, () => circuitReport(model, domains));
      output.answer(report, page(report));
    });
  return addExamples(circuitOptions(command), "zk check model.onnx", "zk check model.onnx --range x=0:255");
}

const page = (report: CircuitReport): string[] => {
  const { programRoot, constraints, publicValues, rows, seconds, keyBytes, gas, inputs, unit } = report;
  return table([
    ["program root", programRoot],
    ["constraints", `${constraints}, in ${rows} rows`],
    ["public values", `${publicValues}: context, inputs and outputs`],
    ["proving", `about ${seconds} s of one core`],
    ["proving key", byteText(keyBytes)],
    ["verifying", `about ${gas} gas`],
    ["inputs with a proof", inputs.join("; ")],
    ...(unit === undefined ? [] : [["but", unit]]),
  ]);
};
