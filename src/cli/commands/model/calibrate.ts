import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { Command } from "commander";
import { compile } from "../../../compiler/compile.ts";
import { calibrate } from "../../../native/calibrate.ts";
import { calibrationText, MAX_THREADS, type Calibration } from "../../../native/calibration.ts";
import { boxFor, readGivenInputs } from "../../../native/givenInputs.ts";
import { readModel } from "../../../model/onnx/readModel.ts";
import { nativeSubject } from "../../../runs/native/nativeSubject.ts";
import { sha256OfFile } from "../../../runs/programs/cacheKey.ts";
import { prepareModel } from "../../../compiler/wraps/modelSpec.ts";
import { table } from "../../../base/text.ts";
import { NegativeVerdict, UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendEntry, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { as, text, webUrl, whole } from "../../parse.ts";
import { compileProgress } from "../../progress.ts";
import { parseRange } from "./ranges.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { requirePlace, writing } from "../../folders.ts";

/** More inputs than these take days. */
const MAX_INPUTS = 1_000_000;

type Options = ModelOptions & {
  out: string;
  inputs?: string;
  range?: Record<string, { low: number; high: number }>;
  random: number;
  search: number;
  draw: number;
  threads: number;
  nativeUrl?: string;
};

/** `refute model calibrate`: how far native and exact execution lie apart. */
export function calibrateCommand(output: Output): Command {
  const command = new Command("calibrate")
    .description("measure how far native execution of a model lies from the exact one, for --native")
    .argument("<model>", "ONNX file, all of whose outputs are decisions")
    .requiredOption("--out <file>", "where the calibration is written", as(text, "--out"))
    .option(
      "--inputs <folder>",
      "inputs like those of jobs: a folder of files, or of folders with NAME.npy, .pb or .json",
    )
    .option(
      "--range <name=low:high>",
      "values that an input may have (default: those of --inputs, or -1:1, or 0:15 of integers)",
      appendEntry(parseRange),
    )
    .option("--random <n>", "random inputs", as(whole(0, MAX_INPUTS), "--random"), 64)
    .option("--search <n>", "inputs searched for the largest error", as(whole(0, MAX_INPUTS), "--search"), 256)
    .option("--draw <n>", "seed of random inputs and of the search", as(whole(0, 2 ** 32 - 1), "--draw"), 1)
    .option(
      "--threads <n>",
      "threads of onnxruntime, also when jobs are served",
      as(whole(1, MAX_THREADS), "--threads"),
      1,
    )
    .option("--native-url <url>", "a runtime of your own over HTTP, instead of onnxruntime", as(webUrl, "--native-url"))
    .action(async (path: string, options: Options, command: Command) => {
      if (options.nativeUrl !== undefined && command.getOptionValueSource("threads") === "cli")
        throw new UsageError("--threads is of onnxruntime here: a runtime at --native-url has its own");
      requirePlace("--out", options.out);
      const spec = modelSpec(path, options);
      if (spec.drawn !== undefined)
        throw new UsageError("--drawn: a program that draws its inputs is not executed natively");
      if (spec.seedInput === true)
        throw new UsageError("--seed-input: a program that draws from a seed of the job is not executed natively");
      const own = readModel(path, { mib: spec.limits?.mib });
      const loaded = prepareModel(own, spec);
      const { model, run } = loaded;
      const compileOptions = { ...spec, run, progress: compileProgress(output.progress("compiling node")) };
      const compiled = compile(model, compileOptions);
      const subject = nativeSubject(spec, own, loaded, compiled);
      const { inputs } = subject;
      const asked = new Map(Object.entries(options.range ?? {}));
      for (const name of asked.keys())
        if (!inputs.some((input) => input.name === name))
          throw new UsageError(`--range ${name}: the model's inputs are ${inputs.map((each) => each.name).join(", ")}`);
      const given = options.inputs === undefined ? [] : readGivenInputs(options.inputs, inputs);
      const { random, search, draw, threads, nativeUrl, out } = options;
      // A calibration may take hours.
      writing("--out ", out, () => {
        const isNew = !existsSync(out);
        closeSync(openSync(out, "a"));
        if (isNew) rmSync(out);
      });
      if (given.length + random === 0) throw new UsageError("give --inputs, or --random above 0");
      const box = boxFor(inputs, given, asked, subject.max);
      const found = await calibrate({
        subject,
        modelSha256: await sha256OfFile(path),
        box,
        place: nativeUrl === undefined ? { threads } : { url: nativeUrl },
        given: given.map(({ bytes }) => bytes),
        random,
        search,
        seed: draw,
        progress: output.progress("input"),
      });
      if (found.differing.thick > 0)
        throw new NegativeVerdict(
          `${found.differing.thick} native results differ from the exact ones although their margins are thick: ` +
            "this model is not to be executed natively, and no calibration was written",
        );
      writing("--out ", out, () => writeWholeSync(out, calibrationText(found)));
      output.answer(found, page(found, out));
    });
  return addExamples(
    seedOption(modelOptions(command)),
    "model calibrate model.onnx --shape x=1,48,192,3 --uint8 x,mean=0.5,std=0.5 --out model.calibration.json",
    "model calibrate model.onnx --inputs pictures --search 2000 --out model.calibration.json",
  );
}

/** The calibration for people, line by line. */
function page(
  { runtime, inputs, tensors, outputs, differing, thick, factor, box }: Calibration,
  out: string,
): string[] {
  const all = inputs.given + inputs.random + inputs.searched;
  return [
    `${all} inputs executed natively and exactly: ` +
      `${inputs.given} given, ${inputs.random} random, ${inputs.searched} searched`,
    `runtime: ${runtime}`,
    ...outputs.map(({ name, decisions }) => `${name}: ${decisions.join("; ") || "no floats"}`),
    "",
    ...table([["input", "least", "largest"], ...box.map(({ name, low, high }) => [name, String(low), String(high)])]),
    "",
    ...table([
      ["tensor", "largest error", "of its largest value"],
      ...tensors.map(({ name, absolute, relative }) => [name, absolute.toExponential(2), relative.toExponential(2)]),
    ]),
    "",
    `${differing.native} native results differ; ${thick} have thick margins (${factor} times these errors), ` +
      "and none of those differs",
    `written to ${out}`,
  ];
}
