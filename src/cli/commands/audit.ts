import { Command } from "commander";
import { z } from "zod";
import { Trace } from "../../trace/trace.ts";
import { knownProgram } from "../../player/execution.ts";
import { compile } from "../../compiler/compile.ts";
import { createExecutor } from "../../executor/createExecutor.ts";
import { ElementAuditor, type Verdict } from "../../examine/audit/elementAuditor.ts";
import { startChainVerifier } from "../../examine/audit/chainVerifier.ts";
import { drawSamples, strataOf } from "../../examine/audit/draw.ts";
import { seededRandom } from "../../examine/audit/random.ts";
import { randomInput } from "../../examine/audit/randomInputs.ts";
import { summarise, type AuditSummary } from "../../examine/audit/summary.ts";
import { NegativeVerdict, UsageError } from "../errors.ts";
import { readInputFile, shapesOf } from "../../onnx/inputs/readInputFile.ts";
import { inputFiles } from "../inputs.ts";
import { appendOption, modelOptions, modelSpec, type ModelOptions } from "../modelOptions.ts";
import { loadModel } from "../../player/programs/modelSpec.ts";
import { print, printJson } from "../output.ts";
import { executionProgress, stepProgress } from "../progress.ts";

type Options = Omit<ModelOptions, "seed"> & { input: string[]; samples: number; seed: number; json?: boolean };

/** `refute audit`: the deployed verifier against exact execution. */
export function auditCommand(): Command {
  return modelOptions(new Command("audit"))
    .description("have the on-chain verifier, on a chain in this process, judge elements of an execution")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input tensor instead of a random one: .pb, .npy or .json", appendOption, [])
    .option(
      "--samples <n>",
      "elements to draw; at least one of every kind of step and operator",
      whole("--samples"),
      64,
    )
    .option("--seed <n>", "of random operators, of random inputs and of the draw", whole("--seed"), 1)
    .option("--json", "print JSON")
    .action(async (path: string, options: Options) => {
      const spec = modelSpec(path, { ...options, seed: BigInt(options.seed) });
      const { model: source } = loadModel(spec);
      const files = inputFiles(source, options.input);
      const given = new Map(
        source.graph.inputs
          .filter(({ name }) => files.has(name))
          .map((input) => [input.name, readInputFile(input, files.get(input.name)!)] as const),
      );
      const model = compile(source, {
        ...spec,
        shapes: { ...shapesOf(given), ...spec.shapes },
        progress: stepProgress("compiling node"),
      });
      const random = seededRandom(options.seed);
      const inputs = model.inputs.map((input) => given.get(input.name)?.bytes ?? randomInput(input, random));
      const executor = await createExecutor(model);
      const { tensors } = await executor.run(inputs, { progress: executionProgress(model.program.steps) });
      await executor.close();

      const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
      const samples = drawSamples(model, options.samples, random);
      const verifier = await startChainVerifier();
      const auditor = new ElementAuditor(verifier, execution, random);
      const progress = stepProgress("sample");
      const verdicts: Verdict[] = [];
      for (const sample of samples) {
        verdicts.push(await auditor.judge(sample));
        progress(verdicts.length, samples.length);
      }
      await verifier.close();
      const summary = summarise(verdicts);
      if (options.json === true) printJson({ ...summary, verdicts });
      else print(report(summary, [...strataOf(model).keys()]));
      if (!summary.clean) throw new NegativeVerdict(`${path}: the verifier and the execution do not agree`);
    });
}

/** A whole number, not negative. */
const whole =
  (flag: string) =>
  (text: string): number => {
    const result = z.coerce.number().int().nonnegative().safeParse(text);
    if (!result.success) throw new UsageError(`${flag} ${text}: expected a whole number`);
    return result.data;
  };

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
