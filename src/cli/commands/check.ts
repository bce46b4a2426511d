import type { RefuteError } from "../../errors.ts";
import { readDraft } from "../../onnx/readModel.ts";
import { Command } from "commander";
import { surveyDraft } from "../../compiler/survey.ts";
import { NegativeVerdict } from "../errors.ts";
import { checkReport, type CheckReport } from "../../examine/check/report.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { prepareModel } from "../../player/programs/modelSpec.ts";
import { print, printJson } from "../output.ts";
import { stepProgress } from "../progress.ts";
import { byteText, table } from "../../text.ts";

/** `refute check`: one page that says whether a model can be served. */
export function checkCommand(): Command {
  return seedOption(modelOptions(new Command("check")))
    .description(
      "say whether a model can be served: operators, size, proof gas, worst dispute; exit status 0 if it can",
    )
    .argument("<model>", "ONNX file")
    .option("--json", "print JSON")
    .action((path: string, options: ModelOptions & { json?: boolean }) => {
      const spec = modelSpec(path, options);
      const refused: RefuteError[] = [];
      const lost: string[] = [];
      const note = (error: RefuteError, names: readonly string[]): void => {
        refused.push(error);
        for (const name of names) lost.push(name);
      };
      const draft = readDraft(path, note, { mib: spec.limits?.mib });
      // Of inputs that are refused themselves, nothing more can be asked.
      const there = draft.graph.inputs.map(({ name }) => name);
      const gone = (name: string): boolean => lost.includes(name) && !there.includes(name);
      const { model } = prepareModel(draft, {
        bind: Object.fromEntries(Object.entries(spec.bind).filter(([name]) => !gone(name))),
        uint8: spec.uint8.filter(({ input }) => !gone(input)),
      });
      const report = checkReport(
        model,
        surveyDraft(model, { ...spec, progress: stepProgress("compiling node") }, refused, lost),
      );
      if (options.json === true) printJson(report);
      else print(page(report));
      if (!report.served) throw new NegativeVerdict(`${path} cannot be served`);
    });
}

/** The report for people, line by line. */
function page(report: CheckReport): string[] {
  const { operators, refusals, unreached, program } = report;
  const lines = [`${report.served ? "can be served" : "CANNOT be served"}: ${report.source}`, ""];
  lines.push(`operators  ${operators.map(operatorText).join(", ")}`);
  if (refusals.length > 0) {
    lines.push("", `refused (${refusals.length})`);
    lines.push(...table(refusals.map(({ operator, node, reason }) => [operator, node, reason])));
    if (unreached > 0) lines.push(`${unreached} nodes that read from these could not be judged`);
  }
  if (program === undefined) return lines;
  const { dispute, memory } = program;
  lines.push("");
  lines.push(
    ...table([
      ["program root", program.programRoot],
      ["inputs", program.inputs.join("; ")],
      ["outputs", program.outputs.join("; ")],
      ["steps", String(program.steps)],
      ["checkpoints", String(program.checkpoints)],
      ["parameters", `${program.parameters} (${byteText(memory.constants)})`],
      ["work, terms", program.work],
      ["largest step proof", `${program.largestStepProof.gas} gas (${program.largestStepProof.step})`],
      ["longest step proof", `${program.longestStepProof.bytes} bytes (${program.longestStepProof.step})`],
      ["worst dispute", `${dispute.transactions} transactions, ${dispute.gas} gas (${dispute.step})`],
      ["", dispute.moves],
      ["memory", `${byteText(memory.total)}: inputs, constants and all tensors of an execution`],
    ]),
  );
  return lines;
}

const operatorText = ({ operator, count, refused }: CheckReport["operators"][number]): string =>
  `${operator} ${count}${refused > 0 ? ` (${refused} refused)` : ""}`;
