import { Command } from "commander";
import { requirePackages } from "../../../base/optionalPackage.ts";
import { Trace } from "../../../program/trace/trace.ts";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { compile } from "../../../compiler/compile.ts";
import { createExecutorOn } from "../../../executor/gpu/chooseExecutor.ts";
import { ElementAuditor, type Verdict } from "../../../examine/audit/elementAuditor.ts";
import { startChainVerifier } from "../../../examine/audit/chainVerifier.ts";
import { drawSamples, strataOf } from "../../../examine/audit/draw.ts";
import { seededRandom } from "../../../examine/audit/random.ts";
import { randomInput } from "../../../examine/audit/randomInputs.ts";
import { summarise, type AuditSummary } from "../../../examine/audit/summary.ts";
import { NegativeVerdict } from "../../errors.ts";
import { readInputFile, shapesOf } from "../../../model/onnx/inputs/readInputFile.ts";
import { inputFiles } from "../../inputs.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, type ModelOptions } from "../../modelOptions.ts";
import { loadModel } from "../../../compiler/wraps/modelSpec.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";
import { compileProgress, executionProgress } from "../../progress.ts";

/** Each sample is drawn, proven three times on the chain in this process, and kept for the report. */
const MAX_SAMPLES = 100_000;

type Options = Omit<ModelOptions, "seed"> & { input?: string[]; samples: number; seed: number; device: string };

/** `refute model audit`: the deployed verifier against exact execution. */
export function auditCommand(output: Output): Command {
  const command = new Command("audit")
    .description("have the on-chain verifier, on a chain in this process, judge elements of an execution")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input tensor instead of a random one: .pb, .npy or .json", appendOption)
    .option(
      "--samples <n>",
      "elements to draw; at least one of every kind of step and operator",
      as(whole(0, MAX_SAMPLES), "--samples"),
      64,
    )
    .option("--seed <n>", "of random operators, of random inputs and of the draw", as(whole(0), "--seed"), 1)
    .option("--device <device>", "cpu, gpu, auto or a part of a GPU's name: what executes", "cpu")
    .action(async (path: string, options: Options) => {
      requirePackages(["hardhat", "onnxruntime-node"], "refute model audit");
      const { seed, device, ...others } = options;
      const spec = modelSpec(path, options.seedInput === true ? others : { ...others, seed: BigInt(seed) });
      const { model: source, run } = loadModel(spec);
      const files = inputFiles(source, options.input ?? []);
      const given = new Map(
        source.graph.inputs
          .filter(({ name }) => files.has(name))
          .map((input) => [input.name, readInputFile(input, files.get(input.name)!)] as const),
      );
      const model = compile(source, {
        ...spec,
        run,
        shapes: { ...shapesOf(given), ...spec.shapes },
        progress: compileProgress(output.progress("compiling node")),
      });
      const random = seededRandom(seed);
      const inputs = model.inputs.map((input) => given.get(input.name)?.bytes ?? randomInput(input, random));
      const executor = await createExecutorOn(device, model, (reason) => output.warn(reason));
      const executing = executionProgress(output.progress("step"), model.program.steps);
      const { tensors } = await executor.run(inputs, { progress: executing });
      await executor.close();

      const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
      const samples = drawSamples(model, options.samples, random);
      const verifier = await startChainVerifier();
      const auditor = new ElementAuditor(verifier, execution, random);
      const progress = output.progress("sample");
      const verdicts: Verdict[] = [];
      for (const sample of samples) {
        verdicts.push(await auditor.judge(sample));
        progress(verdicts.length, samples.length);
      }
      await verifier.close();
      const summary = summarise(verdicts);
      output.answer({ ...summary, verdicts }, report(summary, [...strataOf(model).keys()]));
      if (!summary.clean) throw new NegativeVerdict(`${path}: the verifier and the execution do not agree`);
    });
  return addExamples(modelOptions(command), "model audit model.onnx --samples 200 --seed 7");
}

/** The summary for people, line by line. */
function report(summary: AuditSummary, strata: readonly string[]): string[] {
  const { samples, agreements, disagreements, claims, openings, largest, underestimated } = summary;
  const place = ({ step, operator, node, element }: Verdict): string =>
    `step ${step} (${operator}, node ${node}), element ${element}`;
  return [
    `${samples} elements drawn; at least one of each of ${strata.length} kinds and operators: ${strata.join(", ")}`,
    `${agreements} agreements, ${disagreements.length} disagreements`,
    ...disagreements.map((v) => `  ${place(v)}: execution ${v.own}, verifier ${v.exact ?? "refuses the proof"}`),
    `tampered claims caught: ${claims.caught} of ${claims.tampered}`,
    `tampered openings refused: ${openings.caught} of ${openings.tampered}`,
    `largest gas: ${largest.gas} for the verifier's part, ` +
      `${largest.estimate} estimated for the whole proof: ${place(largest)}`,
    ...underestimated.map((v) => `  estimate too low: ${v.estimate} for ${v.gas}: ${place(v)}`),
  ];
}
