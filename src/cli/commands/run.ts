import { Command } from "commander";
import { compile } from "../../compiler/compile.ts";
import { createExecutor } from "../../executor/createExecutor.ts";
import { compare, outputTensors, type Comparison } from "../../examine/compare/compare.ts";
import { UsageError } from "../errors.ts";
import { shapesOf } from "../../onnx/inputs/readInputFile.ts";
import { readInputs } from "../inputs.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { loadModel } from "../../player/programs/modelSpec.ts";
import { print, printJson } from "../output.ts";
import { executionProgress, stepProgress } from "../progress.ts";
import { tensorJson, tensorText } from "../tensorText.ts";
import { table } from "../../text.ts";

type Options = ModelOptions & { input: string[]; compare?: boolean; json?: boolean };

/** `refute run`: exact execution of a model on files. */
export function runCommand(): Command {
  return seedOption(modelOptions(new Command("run")))
    .description("execute a model exactly, and compare with plain onnxruntime if asked")
    .argument("<model>", "ONNX file")
    .option(
      "--input <name=file>",
      "an input tensor: .pb (TensorProto), .npy or .json; repeat for more",
      appendOption,
      [],
    )
    .option("--compare", "show how far plain onnxruntime is off, and the first tensor that differs")
    .option("--json", "print JSON")
    .action(async (path: string, options: Options) => {
      if (options.compare === true && options.uint8.length > 0)
        throw new UsageError("--compare takes the model's own inputs: give floats, without --uint8");
      const spec = modelSpec(path, options);
      const { model, bound } = loadModel(spec);
      const inputs = readInputs(model, options.input);
      const compiled = compile(model, {
        ...spec,
        shapes: { ...shapesOf(inputs), ...spec.shapes },
        progress: stepProgress("compiling node"),
      });
      const executor = await createExecutor(compiled);
      const start = performance.now();
      const bytes = compiled.inputs.map(({ name }) => inputs.get(name)!.bytes);
      const { tensors, stats } = await executor.run(bytes, { progress: executionProgress(compiled.program.steps) });
      const milliseconds = Math.round(performance.now() - start);
      await executor.close();
      const outputs = outputTensors(compiled, tensors);
      const comparison =
        options.compare === true ? await compare(path, compiled, new Map([...inputs, ...bound]), tensors) : undefined;
      if (options.json === true) {
        const report = { programRoot: compiled.programRoot, milliseconds, stats, outputs: outputs.map(tensorJson) };
        return printJson({ ...report, ...(comparison && { comparison }) }, Number);
      }
      for (const output of outputs) print(tensorText(output));
      print(`${compiled.program.steps.length} steps in ${milliseconds} ms`);
      if (comparison !== undefined) print(comparisonText(comparison));
    });
}

/** A comparison for people, line by line. */
function comparisonText({ outputs, compared, firstDifferent }: Comparison): string[] {
  const rows = outputs.map((output) =>
    "shape" in output
      ? [output.name, "", "", `onnxruntime gives ${output.shape}`]
      : [
          output.name,
          output.absolute.toExponential(2),
          String(output.ulps ?? ""),
          output.first === undefined ? "" : `element ${output.first} is the first out of tolerance`,
        ],
  );
  const lines = ["", ...table([["output", "largest difference", "ulps", ""], ...rows])];
  if (firstDifferent === undefined)
    return [...lines, `no tensor differs by more than float32 tolerance (${compared} compared)`];
  const { name, step, operator, difference } = firstDifferent;
  const where = `${name} (step ${step}, ${operator}), element ${difference.first}`;
  return [...lines, `first tensor that differs: ${where}, up to ${difference.absolute.toExponential(2)}`];
}
