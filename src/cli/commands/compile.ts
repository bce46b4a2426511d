import { Command } from "commander";
import { estimateStepProofGas } from "../../program/gas.ts";
import { programWork } from "../../program/types.ts";
import type { ImagePreprocessing } from "../../onnx/preprocess.ts";
import { loadProgram, parseShape, parseUint8 } from "../models.ts";

type Options = { shape: Record<string, number[]>; uint8: ImagePreprocessing[]; json?: boolean };

/** `refute compile`: what a model's program is and costs. */
export function compileCommand(): Command {
  return modelOptions(new Command("compile"))
    .description("compile an ONNX model and show its program: root, steps, checkpoints, largest step proof")
    .argument("<model>", "ONNX file")
    .option("--json", "print JSON")
    .action((path: string, { shape, uint8, json }: Options) => {
      const { model } = loadProgram({ path, shapes: shape, uint8 });
      const { steps, checkpoints, maxStepGas } = model.program;
      const largest = steps.map(estimateStepProofGas).reduce((best, gas, s, all) => (gas > all[best]! ? s : best), 0);
      const facts = {
        programRoot: model.programRoot,
        steps: steps.length,
        checkpoints: checkpoints.length,
        terms: programWork(steps).toString(),
        largestStepProofGas: maxStepGas,
        largestStep: `step ${largest}, ${model.origins[largest]!.operator} (${model.origins[largest]!.node})`,
        inputs: model.inputs.map(({ name, shape: dims }) => `${name} [${dims.join(", ")}]`),
        outputs: model.outputs.map(({ name, shape: dims }) => `${name} [${dims.join(", ")}]`),
      };
      if (json === true) return console.log(JSON.stringify(facts, null, 2));
      for (const [key, value] of Object.entries(facts)) {
        console.log(
          `${LABELS[key as keyof typeof facts].padEnd(24)}${Array.isArray(value) ? value.join("; ") : value}`,
        );
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
  inputs: "inputs",
  outputs: "outputs",
};

/** The flags that say how a model is compiled. */
export function modelOptions(command: Command): Command {
  return command
    .option("--shape <name=dims>", "shape of an input, e.g. x=1,48,192,3; repeat for more", collectShape, {})
    .option(
      "--uint8 <spec>",
      "a picture input given as bytes, e.g. x,mean=0.5,std=0.5; repeat for more",
      collectUint8,
      [],
    );
}

/** Collects an option that may be given more than once. */
export const appendOption = (text: string, all: readonly string[]): string[] => [...all, text];

const collectShape = (text: string, shapes: Record<string, number[]>): Record<string, number[]> => {
  const [name, shape] = parseShape(text);
  return { ...shapes, [name]: shape };
};

const collectUint8 = (text: string, all: readonly ImagePreprocessing[]): ImagePreprocessing[] => [
  ...all,
  parseUint8(text),
];
