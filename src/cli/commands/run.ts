import { Command } from "commander";
import { compile } from "../../compiler/compile.ts";
import { executionBytes } from "../../executor/createExecutor.ts";
import { createExecutorOn } from "../../executor/gpu/chooseExecutor.ts";
import { compare, emptyTensor, outputTensors, type Comparison, type Distances } from "../../examine/compare/compare.ts";
import { elementCount } from "../../model/onnx/model.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import { PlainRefusalError } from "../../native/plain/plainRun.ts";
import { outputFiles, outputOption, writeOutput, type OutputOptions } from "../decoded.ts";
import { generateText } from "../generateText.ts";
import { generationOptions, requireNoGeneration, type GenerationOptions } from "../generationOptions.ts";
import { UsageError } from "../errors.ts";
import { shapesOf } from "../../model/onnx/inputs/readInputFile.ts";
import { readInputs } from "../inputs.ts";
import { addExamples } from "../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { MAX_ITEMS } from "../../program/run.ts";
import { as, whole } from "../parse.ts";
import { runItems } from "../runItems.ts";
import { loadModel } from "../../compiler/wraps/modelSpec.ts";
import type { Output } from "../output.ts";
import { compileProgress, executionProgress } from "../progress.ts";
import { tensorJson, tensorText } from "../tensorText.ts";
import { table } from "../../base/text.ts";

type Options = ModelOptions &
  GenerationOptions &
  Pick<OutputOptions, "output"> & { input?: string[]; items?: number; compare?: boolean; device?: string };

/** `refute run`: exact execution of a model on files. */
export function runCommand(output: Output): Command {
  const command = new Command("run")
    .description("execute a model exactly, and compare with plain onnxruntime if asked")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input tensor: .pb (TensorProto), .npy or .json; repeat for more", appendOption)
    .option("--items <n>", "of a run (default: as many as files are given, or 1)", as(whole(1, MAX_ITEMS), "--items"))
    .option("--compare", "show how far plain onnxruntime is off, and the first tensor that differs")
    .option("--device <device>", "cpu (the default), gpu, auto or a part of a GPU's name; the bits are the same")
    .action(async (path: string, options: Options) => {
      if (options.compare === true && options.uint8 !== undefined)
        throw new UsageError("--compare takes the model's own inputs: give floats, without --uint8");
      if (options.compare === true && options.decide !== undefined)
        throw new UsageError("--compare takes the model's own outputs: compare floats, without --decide");
      if (options.loss !== undefined)
        throw new UsageError("--loss: a run that trains has many items: refute model train executes it");
      if (options.compare === true && options.noise !== undefined)
        throw new UsageError("--compare takes the model's own inputs: compare without --noise");
      if (options.compare === true && options.drawn !== undefined)
        throw new UsageError("--compare takes the model's own inputs: give them, without --drawn");
      if (options.compare === true && options.seedInput === true)
        throw new UsageError("--compare: onnxruntime draws other random numbers: compare without --seed-input");
      const spec = modelSpec(path, options);
      if (spec.decoder !== undefined) {
        const other = options.input !== undefined ? "--input" : options.compare === true ? "--compare" : undefined;
        if (other !== undefined) throw new UsageError(`${other}: a decoder takes its inputs from --prompt`);
        if (options.output !== undefined) throw new UsageError("--output: a decoder's tokens are printed");
        if (options.device !== undefined) throw new UsageError("--device: a decoder is executed on the CPU");
        return generateText(spec, options, output);
      }
      requireNoGeneration(options);
      if (spec.run !== undefined) {
        const other = options.compare === true ? "--compare" : options.device !== undefined && "--device";
        if (other) throw new UsageError(`${other}: a run of items is executed on the CPU: leave it out`);
        return runItems(spec, options, output);
      }
      if (options.items !== undefined)
        throw new UsageError("--items: a run also needs what connects its items, for example --batch");
      const { model, run, bound } = loadModel(spec);
      const inputs = readInputs(model, options.input ?? []);
      const compiled = compile(model, {
        ...spec,
        run,
        shapes: { ...shapesOf(inputs), ...spec.shapes },
        progress: compileProgress(output.progress("compiling node")),
      });
      const all = [...compiled.outputs, ...(compiled.emptyOutputs ?? [])].map(({ name }) => name);
      const files = outputFiles(all, options.output ?? []);
      if (output.mode.json) {
        // Without enough memory, the command refuses the model with or without --json.
        executionBytes(compiled);
        requirePrintable(compiled.outputs.filter(({ name }) => !files.has(name)));
      }
      const executor = await createExecutorOn(options.device ?? "cpu", compiled, (reason) => output.warn(reason));
      const start = performance.now();
      const bytes = compiled.inputs.map(({ name }) => inputs.get(name)!.bytes);
      const progress = executionProgress(output.progress("step"), compiled.program.steps);
      const { tensors, stats } = await executor.run(bytes, { progress });
      const milliseconds = Math.round(performance.now() - start);
      const { device } = executor;
      await executor.close();
      const outputs = [...outputTensors(compiled, tensors), ...(compiled.emptyOutputs ?? []).map(emptyTensor)];
      for (const tensor of outputs) {
        const { name } = tensor;
        if (files.has(name)) writeOutput(name, files.get(name)!, tensor);
      }
      const comparison =
        options.compare === true
          ? await compare(path, compiled, new Map([...inputs, ...bound]), tensors).catch(refusal)
          : undefined;
      const report = { programRoot: compiled.programRoot, milliseconds, stats, device };
      output.answer(
        {
          ...report,
          outputs: output.mode.json ? outputs.map((tensor) => tensorJson(tensor, files.get(tensor.name))) : [],
          ...(comparison && { comparison }),
        },
        [
          ...outputs.map(tensorText),
          `${compiled.program.steps.length} steps in ${milliseconds} ms${device === "cpu" ? "" : ` on ${device}`}`,
          ...(comparison === undefined ? [] : comparisonText(comparison)),
        ],
      );
    });
  return addExamples(
    generationOptions(seedOption(modelOptions(outputOption(command)))),
    "run model.onnx --input x=x.npy",
    "run model.onnx --input x=x.npy --output y=y.npy",
    "run model.onnx --batch --input x=pictures/",
    "run model.onnx --decoder --prompt 1,2,3 --tokens 20 --temperature 0.8 --seed 7",
    'run model.onnx --decoder --tokenizer tokenizer.json --prompt "Once upon" --tokens 20',
    "run model.onnx --input x=x.json --compare",
    "run model.onnx --input x=x.npy --device gpu",
  );
}

/** The most elements that JSON is printed of: a line each, and JavaScript's texts end at 2^29 characters. */
const MAX_PRINTED = 10_000_000;

/** @throws UsageError before the work, if the outputs that no file takes are too long for one text of JSON */
function requirePrintable(outputs: readonly TensorInfo[]): void {
  const elements = outputs.reduce((sum, { shape }) => sum + elementCount(shape), 0);
  if (elements > MAX_PRINTED)
    throw new UsageError(
      `--json: the outputs have ${elements} elements, and at most ${MAX_PRINTED} are printed: write the long ones to ` +
        `files, --output ${outputs[0]!.name}=FILE.npy, or leave --json out`,
    );
}

/** Returns the reason for having no comparison: onnxruntime refuses the model, through no fault of the result. */
function refusal(error: unknown): { refused: string } {
  if (error instanceof PlainRefusalError) return { refused: error.message };
  throw error;
}

/** A comparison for people, line by line. */
function comparisonText(comparison: Comparison | { refused: string }): string[] {
  if ("refused" in comparison) return ["", `not compared: ${comparison.refused}`];
  const { outputs, compared, firstDifferent } = comparison;
  const nearer = outputs.flatMap((output) =>
    "shape" in output || output.float64 === undefined ? [] : [`${output.name}: ${nearerText(output.float64)}`],
  );
  const rows = outputs.map((output) =>
    "shape" in output
      ? [output.name, "", "", `onnxruntime gives ${output.shape}`]
      : [
          output.name,
          output.absolute.toExponential(2),
          String(output.ulps ?? ""),
          [
            ...(output.first === undefined ? [] : [`element ${output.first} is the first out of tolerance`]),
            ...(output.constant ? ["a constant: no input reaches it, and it was computed with the program"] : []),
          ].join("; "),
        ],
  );
  const lines = ["", ...table([["output", "largest difference", "ulps", ""], ...rows]), ...nearer];
  if (firstDifferent === undefined)
    return [
      ...lines,
      compared === 0
        ? "no tensor inside the graph could be compared"
        : `no tensor differs by more than float32 tolerance (${compared} compared)`,
    ];
  const { name, step, operator, difference, float64 } = firstDifferent;
  const where = `${name} (step ${step}, ${operator}), element ${difference.first}`;
  return [
    ...lines,
    `first tensor that differs: ${where}, up to ${difference.absolute.toExponential(2)}`,
    ...(float64 === undefined ? [] : [nearerText(float64)]),
  ];
}

/** The minimum distance ratio to call one result nearer. */
const CLEARLY = 2;

/** Who is nearer to the same chain in float64. */
function nearerText({ exact, plain }: Distances): string {
  const [own, other] = [exact, plain].map((distance) => distance.toExponential(2));
  const off = `from the program's own steps in float64 the exact result is off by ${own}, onnxruntime by ${other}`;
  if (plain > CLEARLY * exact) return `${off}: the exact result is nearer`;
  if (exact > CLEARLY * plain) return `${off}: onnxruntime is nearer`;
  return `${off}: neither is clearly nearer, as where sums cancel and float32 has no more digits`;
}
