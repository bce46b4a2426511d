import { hexToBytes } from "viem";
import { Command } from "commander";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { readHeader } from "../../../program/header.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { packInputs } from "../../../parties/requester/postJob.ts";
import { RunInputs } from "../../../program/trace/runInputs.ts";
import { generationOptions, type GenerationOptions } from "../../generationOptions.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";
import { prepareJob } from "../../prepareJob.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { requirePlace, writing } from "../../folders.ts";

type Options = ModelOptions & GenerationOptions & { input?: string[]; items?: number; firstItem?: number; out: string };

/** `refute job pack`: the inputs of a job as one file. */
export function packCommand(output: Output): Command {
  const command = new Command("pack")
    .description("write the inputs of a job as one file, for where refute submit --reference says that they lie")
    .argument("<model>", "ONNX file")
    .requiredOption("--out <file>", "where it is written")
    .option("--input <name=file>", "an input, as refute submit takes it; repeat for more", appendOption)
    .option("--items <n>", "items of a run", as(whole(1, MAX_ITEMS), "--items"))
    .option("--first-item <n>", "where the index begins", as(whole(0, 2 ** 32 - 1), "--first-item"))
    .action(async (path: string, options: Options) => {
      requirePlace("--out", options.out);
      const { compiled, inputs, items } = await prepareJob(modelSpec(path, options), options, output);
      const program = describeProgram(knownProgram(compiled));
      const file = packInputs(program, inputs, items);
      const { firstItem = 0, out } = options;
      const run = new RunInputs(readHeader(hexToBytes(program.header)).inputs, { items, firstItem }, inputs);
      writing("--out ", out, () => writeWholeSync(out, file));
      const value = {
        file: out,
        bytes: file.length,
        items,
        inputsRoot: run.list.root,
        programRoot: program.programRoot,
      };
      output.answer(value, [`${out}: ${file.length} bytes, inputs root ${run.list.root}`]);
    });
  return addExamples(
    generationOptions(seedOption(modelOptions(command))),
    "job pack model.onnx --input x=x.npy --out inputs.bin",
    "submit model.onnx --input x=x.npy --fee 0.05 --reference https://files.example/inputs.bin",
  );
}
