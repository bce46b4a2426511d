import type { RefuteError } from "../../base/errors.ts";
import { readDraft } from "../../model/onnx/readModel.ts";
import { bindingsByName } from "../../model/onnx/inputs/boundTensors.ts";
import { Command } from "commander";
import { surveyDraft } from "../../compiler/survey.ts";
import { NegativeVerdict } from "../errors.ts";
import { executionMemory } from "../../examine/check/executionMemory.ts";
import { checkReport, type CheckReport } from "../../examine/check/report.ts";
import { givenNames, requireName } from "../inputs.ts";
import { addExamples } from "../globalOptions.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { checkIfDecoder, warnIfPlainDiffers } from "../models.ts";
import { decisionText, marginText } from "../../model/decision/decisionText.ts";
import { decisionsOf } from "../../runs/programs/decisionsOf.ts";
import { prepareModel } from "../../compiler/wraps/modelSpec.ts";
import { WORK_PER_SECOND } from "../../program/work.ts";
import { checkCommandOf, runCommandOf } from "../nextCommand.ts";
import type { Line, Output } from "../output.ts";
import { compileProgress } from "../progress.ts";
import { byteText, table } from "../../base/text.ts";

/** `refute check`: reports on one page if a model can be served. */
export function checkCommand(output: Output): Command {
  const command = new Command("check")
    .description(
      "say whether a model can be served: operators, size, proof gas, worst dispute; exit status 0 if it can",
    )
    .argument("<model>", "ONNX file")
    .action(async (path: string, options: ModelOptions) => {
      const spec = modelSpec(path, options);
      const refused: RefuteError[] = [];
      const lost: string[] = [];
      const note = (error: RefuteError, names: readonly string[]): void => {
        refused.push(error);
        for (const name of names) lost.push(name);
      };
      const draft = readDraft(path, note, { mib: spec.limits?.mib, lengths: spec.lengths });
      const known = [...draft.graph.inputs.map(({ name }) => name), ...lost];
      for (const name of givenNames(known, options)) requireName(known, name);
      // A refused input is not checked further.
      const there = draft.graph.inputs.map(({ name }) => name);
      const gone = (name: string): boolean => lost.includes(name) && !there.includes(name);
      const loaded = prepareModel(draft, {
        ...spec,
        bind: Object.fromEntries(bindingsByName(known, spec.bind).filter(([name]) => !gone(name))),
        uint8: spec.uint8.filter(({ input }) => !gone(input)),
      });
      const progress = compileProgress(output.progress("compiling node"));
      const survey = surveyDraft(loaded.model, { ...spec, run: loaded.run, progress }, refused, lost);
      if (survey.model !== undefined) {
        await checkIfDecoder(path, survey.model, loaded, output);
        await warnIfPlainDiffers(spec, survey.model, loaded, output);
      }
      const report = checkReport(loaded.model, survey, () => decisionsOf(loaded), executionMemory);
      const next = report.served
        ? runCommandOf(spec, survey.model!)
        : needsShapes(report)
          ? checkCommandOf(spec, loaded.model)
          : undefined;
      output.answer({ ...report, ...(next !== undefined && { next }) }, [
        ...page(report),
        ...(next === undefined ? [] : ["", `next: ${next}`]),
      ]);
      if (report.served) return;
      const why = needsShapes(report) ? "cannot be judged without the right shapes" : "cannot be served";
      throw new NegativeVerdict(`${path} ${why}`);
    });
  return addExamples(
    seedOption(modelOptions(command)),
    "check model.onnx",
    "check model.onnx --shape x=1,3,224,224 --bind sr=16000",
  );
}

/** Returns true if the only refusals are missing shapes of inputs. */
const needsShapes = ({ refusals }: CheckReport): boolean =>
  refusals.length > 0 && refusals.every(({ code }) => code === "COMPILE_INPUT_SHAPE");

/** The report for people, line by line. */
function page(report: CheckReport): Line[] {
  const { operators, refusals, unreached, program } = report;
  const verdict: Line = report.served
    ? { text: `can be served: ${report.source}`, colour: "green" }
    : needsShapes(report)
      ? { text: `shapes are missing or do not fit: ${report.source}`, colour: "yellow" }
      : { text: `CANNOT be served: ${report.source}`, colour: "red" };
  const lines: Line[] = [verdict, ""];
  lines.push(`operators  ${operators.map(operatorText).join(", ")}`);
  if (refusals.length > 0) {
    lines.push("", `refused (${refusals.length})`);
    const ofNodes = refusals.filter(({ node }) => node !== "");
    lines.push(...refusals.filter(({ node }) => node === "").map(({ reason }) => `  ${reason}`));
    lines.push(...table(ofNodes.map(({ operator, node, reason }) => [`  ${operator}`, node, reason])));
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
      ["work", `${workText(program.work)} of one core, in the slowest execution`],
      ["largest step proof", `${program.largestStepProof.gas} gas (${program.largestStepProof.step})`],
      ["longest step proof", `${program.longestStepProof.bytes} bytes (${program.longestStepProof.step})`],
      ["worst dispute", `${dispute.transactions} transactions, ${dispute.gas} gas (${dispute.step})`],
      ["", dispute.moves],
      ["all tensors", `${byteText(memory.total)}: inputs, constants and what the steps compute`],
      ...(memory.execution === undefined ? [] : [["memory", `${byteText(memory.execution)} at once, in an execution`]]),
    ]),
  );
  const decisions = report.decisions ?? [];
  lines.push("", ...decisions.flatMap(decisionLines));
  if (decisions.some((each) => "undecided" in each))
    lines.push("exact execution is what workers do; what could go without it: docs/decisions.md");
  return lines;
}

/** Work in milliseconds or seconds. */
function workText(work: string): string {
  const seconds = Number(work) / WORK_PER_SECOND;
  const [value, unit] = seconds < 1 ? [seconds * 1_000, "ms"] : [seconds, "s"];
  return `${value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} ${unit}`;
}

/** Describes the decisions behind an output. */
function decisionLines(output: NonNullable<CheckReport["decisions"]>[number]): Line[] {
  if ("undecided" in output) return [`${output.output}: needs exact execution: ${output.undecided}`];
  if (output.decisions.length === 0)
    return [`${output.output}: the same on all machines, also without exact execution`];
  return [
    `${output.output}: decided by`,
    ...output.decisions.map((decision) => `  ${decisionText(decision)}; margin: ${marginText(decision)}`),
  ];
}

const operatorText = ({ operator, count, refused }: CheckReport["operators"][number]): string =>
  `${operator} ${count}${refused > 0 ? ` (${refused} refused)` : ""}`;
