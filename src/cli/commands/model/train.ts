import { Command } from "commander";
import { TRAINING, weightsByName } from "../../../compiler/wraps/wrapTraining.ts";
import { floatsOf, itemOutputs } from "../../../examine/train/itemOutputs.ts";
import { replaceInitializers } from "../../../model/onnx/replaceInitializers.ts";
import { readRegularFile } from "../../../base/regularFile.ts";
import { RunInputs } from "../../../program/trace/runInputs.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";
import { alwaysShow } from "../../words/helpGroups.ts";
import { prepareJob } from "../../prepareJob.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { requirePlace, writing } from "../../folders.ts";

type Options = ModelOptions & { input?: string[]; labels?: string[]; items?: number; out?: string };

/** `refute model train`: the run that trains a model, executed exactly. */
export function trainCommand(output: Output): Command {
  const command = new Command("train")
    .description("train a model exactly: a run whose items each take a batch and update the weights")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input, as for submit: a file or a folder of batches; repeat", appendOption)
    .option("--labels <file>", "labels of a batch: a file for each item, or a folder of them; repeat", appendOption)
    .option("--items <n>", "updates (default: as many as there are batches)", as(whole(1), "--items"))
    .option("--out <file>", "where the trained model is written")
    .action(async (path: string, options: Options) => {
      const spec = modelSpec(path, options);
      if (spec.train === undefined) throw new UsageError("training makes a loss small: give --loss crossEntropy");
      if (spec.train.share !== undefined)
        throw new UsageError("--share: a share of a step alone trains nothing; leave the flag out to train here");
      const { out } = options;
      if (out !== undefined) requirePlace("--out", out);
      const labels = (options.labels ?? []).map((file) => `${TRAINING.labels}=${file}`);
      const input = [...(options.input ?? []), ...labels];
      const { compiled, inputs, items, training } = await prepareJob(spec, { input, items: options.items }, output);
      const { program, programRoot } = compiled;
      const start = performance.now();
      const losses: number[] = [];
      let weights: Uint8Array | undefined;
      const taken = new RunInputs(program.inputs, { items, firstItem: 0 }, inputs);
      for await (const outputOf of itemOutputs(compiled, taken)) {
        losses.push(floatsOf(outputOf(compiled.outputs[0]!.name))[0]!);
        output.part(`${losses.length} ${losses.at(-1)!.toPrecision(6)}`);
        weights = outputOf(TRAINING.next(TRAINING.weights));
      }
      const milliseconds = Math.round(performance.now() - start);
      if (out !== undefined) writeModel(out, path, weightsByName(weights!, training!.parts));
      output.answer(
        { programRoot, milliseconds, losses, ...(out !== undefined && { file: out }) },
        `${items} updates, ${program.steps.length} steps, in ${milliseconds} ms, loss ${losses.at(-1)!.toPrecision(6)}`,
      );
    });
  return addExamples(
    alwaysShow(seedOption(modelOptions(command)), "training"),
    "model train model.onnx --loss crossEntropy --optimiser adam --input x=batches/ --labels labels/ " +
      "--input rates=r.json",
  );
}

/**
 * Writes a model with other weights.
 * @param path The model's file.
 * @throws UsageError if the file cannot be written
 */
export function writeModel(out: string, path: string, weights: ReturnType<typeof weightsByName>): void {
  const model = replaceInitializers(readRegularFile(path), weights);
  writing("--out ", out, () => writeWholeSync(out, model));
}
