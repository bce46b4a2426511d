import { Command } from "commander";
import { largestProofs } from "../../../program/largestProofs.ts";
import type { TensorInfo } from "../../../program/compiled.ts";
import { inputTexts, outputTexts } from "../../../program/sourceText.ts";
import { programTerms } from "../../../program/work.ts";
import { RefuteError } from "../../../base/errors.ts";
import { NegativeVerdict, UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import { checkIfDecoder, loadProgram, warnIfPlainDiffers } from "../../models.ts";
import type { Output } from "../../output.ts";
import { table } from "../../../base/text.ts";

/** `refute model compile`: shows a model's program and costs; for several sizes of a dimension, a program per size. */
export function compileCommand(output: Output): Command {
  const command = new Command("compile")
    .description("compile an ONNX model and show its program: root, steps, checkpoints, largest step proof")
    .argument("<model>", "ONNX file")
    .action(async (path: string, options: ModelOptions) => {
      const several = severalSizes(options);
      if (several !== undefined) return compileSizes(path, options, several, output);
      const facts = await factsOf(path, options, output);
      const rows = Object.entries(facts).map(([key, value]) => [
        LABELS[key as keyof Facts],
        Array.isArray(value) ? value.join("; ") : String(value),
      ]);
      output.answer(facts, table(rows));
    });
  return addExamples(
    seedOption(modelOptions(command)),
    "model compile model.onnx --shape x=1,48,192,3",
    "model compile model.onnx --dim batch=1 --dim sequence=32,64,128",
    "model compile model.onnx --decoder --slots 512 --end-token 2",
  );
}

type Facts = Awaited<ReturnType<typeof factsOf>>;

/** Compiles a model, and returns the program's facts. */
async function factsOf(path: string, options: ModelOptions, output: Output) {
  const spec = modelSpec(path, options);
  const { model, loaded } = loadProgram(spec, output);
  await checkIfDecoder(path, model, loaded, output);
  await warnIfPlainDiffers(spec, model, loaded, output);
  const { steps, checkpoints, maxStepGas, maxStepBytes } = model.program;
  const proofs = largestProofs(model.program);
  const where = (step: number): string =>
    `step ${step}, ${model.origins[step]!.operator} (${model.origins[step]!.node})`;
  return {
    programRoot: model.programRoot,
    steps: steps.length,
    checkpoints: checkpoints.length,
    terms: programTerms(steps).toString(),
    largestStepProofGas: maxStepGas,
    largestStep: where(proofs.gas),
    longestStepProofBytes: maxStepBytes,
    longestStep: where(proofs.bytes),
    inputs: inputTexts(model.program, model.inputs.map(shapeText)),
    outputs: [
      ...outputTexts(model.program, model.outputs.map(shapeText)),
      ...(model.emptyOutputs ?? []).map(shapeText),
    ],
  };
}

/** A dimension that the flags give several sizes. */
type Sizes = { dimension: string; sizes: readonly number[] };

/** @throws UsageError if several dimensions have several sizes */
function severalSizes({ dim = {} }: ModelOptions): Sizes | undefined {
  const [first, second] = Object.entries(dim).filter(([, sizes]) => sizes.length > 1);
  if (second !== undefined)
    throw new UsageError(`--dim ${second[0]}: "${first![0]}" has several sizes already: give one dimension several`);
  return first && { dimension: first[0], sizes: first[1] };
}

/** Compiles one program for each size. A refusal for one size does not end the others. @throws NegativeVerdict */
async function compileSizes(
  path: string,
  options: ModelOptions,
  { dimension, sizes }: Sizes,
  output: Output,
): Promise<void> {
  const programs: ({ size: number } & (Facts | { refused: string; code: string }))[] = [];
  for (const size of sizes) {
    output.note(`${dimension} = ${size}`);
    try {
      const facts = await factsOf(path, { ...options, dim: { ...options.dim, [dimension]: [size] } }, output);
      programs.push({ size, ...facts });
    } catch (error) {
      if (!(error instanceof RefuteError) || error instanceof UsageError) throw error;
      programs.push({ size, refused: error.message, code: error.code });
    }
  }
  const rows = programs.flatMap((program) => {
    if ("refused" in program) return [];
    const { size, programRoot, steps, terms, largestStepProofGas, longestStepProofBytes } = program;
    return [[String(size), programRoot, ...[steps, terms, largestStepProofGas, longestStepProofBytes].map(String)]];
  });
  const refusals = programs.flatMap((program) =>
    "refused" in program ? [`${dimension} = ${program.size} is refused: ${program.refused} [${program.code}]`] : [],
  );
  output.answer({ dimension, programs }, [
    ...table([[dimension, "program root", "steps", "terms", "largest proof, gas", "longest, bytes"], ...rows]),
    ...refusals,
  ]);
  if (refusals.length > 0)
    throw new NegativeVerdict(`${path}: ${refusals.length} of ${sizes.length} sizes of ${dimension} are refused`);
}

const shapeText = ({ name, shape, bounded }: TensorInfo): string =>
  `${name} [${shape.map((dim, d) => (bounded?.axis === d ? `up to ${dim}` : dim)).join(", ")}]`;

const LABELS = {
  programRoot: "program root",
  steps: "steps",
  checkpoints: "checkpoints",
  terms: "terms",
  largestStepProofGas: "largest step proof, gas",
  largestStep: "",
  longestStepProofBytes: "longest proof, bytes",
  longestStep: "",
  inputs: "inputs",
  outputs: "outputs",
};
