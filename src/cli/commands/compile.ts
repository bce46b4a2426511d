import { Command } from "commander";
import { largestProofs } from "../../program/largestProofs.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import { inputTexts, outputTexts } from "../../program/sourceText.ts";
import { programTerms } from "../../program/work.ts";
import { addExamples } from "../globalOptions.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { checkIfDecoder, loadProgram } from "../models.ts";
import type { Output } from "../output.ts";
import { table } from "../../text.ts";

/** `refute compile`: what a model's program is and costs. */
export function compileCommand(output: Output): Command {
  const command = new Command("compile")
    .description("compile an ONNX model and show its program: root, steps, checkpoints, largest step proof")
    .argument("<model>", "ONNX file")
    .action(async (path: string, options: ModelOptions) => {
      const { model, loaded } = loadProgram(modelSpec(path, options), output);
      await checkIfDecoder(path, model, loaded, output);
      const { steps, checkpoints, maxStepGas, maxStepBytes } = model.program;
      const proofs = largestProofs(model.program);
      const where = (step: number): string =>
        `step ${step}, ${model.origins[step]!.operator} (${model.origins[step]!.node})`;
      const facts = {
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
      const rows = Object.entries(facts).map(([key, value]) => [
        LABELS[key as keyof typeof facts],
        Array.isArray(value) ? value.join("; ") : String(value),
      ]);
      output.answer(facts, table(rows));
    });
  return addExamples(
    seedOption(modelOptions(command)),
    "compile model.onnx --shape x=1,48,192,3",
    "compile model.onnx --decoder --slots 512 --end-token 2",
  );
}

const shapeText = ({ name, shape }: TensorInfo): string => `${name} [${shape.join(", ")}]`;

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
