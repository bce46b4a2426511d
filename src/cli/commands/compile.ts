import { Command } from "commander";
import { estimateStepProof } from "../../program/gas.ts";
import { programWork } from "../../program/types.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { loadProgram } from "../models.ts";
import { print, printJson } from "../output.ts";

/** `refute compile`: what a model's program is and costs. */
export function compileCommand(): Command {
  return seedOption(modelOptions(new Command("compile")))
    .description("compile an ONNX model and show its program: root, steps, checkpoints, largest step proof")
    .argument("<model>", "ONNX file")
    .option("--json", "print JSON")
    .action((path: string, options: ModelOptions & { json?: boolean }) => {
      const { model } = loadProgram(modelSpec(path, options));
      const { steps, checkpoints, maxStepGas, maxStepBytes } = model.program;
      const proofs = steps.map(estimateStepProof);
      const where = (step: number): string =>
        `step ${step}, ${model.origins[step]!.operator} (${model.origins[step]!.node})`;
      const facts = {
        programRoot: model.programRoot,
        steps: steps.length,
        checkpoints: checkpoints.length,
        terms: programWork(steps).toString(),
        largestStepProofGas: maxStepGas,
        largestStep: where(proofs.findIndex(({ gas }) => gas === maxStepGas)),
        longestStepProofBytes: maxStepBytes,
        longestStep: where(proofs.findIndex(({ bytes }) => bytes === maxStepBytes)),
        inputs: model.inputs.map(({ name, shape: dims }) => `${name} [${dims.join(", ")}]`),
        outputs: model.outputs.map(({ name, shape: dims }) => `${name} [${dims.join(", ")}]`),
      };
      if (options.json === true) return printJson(facts);
      for (const [key, value] of Object.entries(facts)) {
        print(`${LABELS[key as keyof typeof facts].padEnd(24)}${Array.isArray(value) ? value.join("; ") : value}`);
      }
    });
}

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
