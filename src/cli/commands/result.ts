import { Command } from "commander";
import type { Hex } from "viem";
import { describeProgram } from "../../parties/requester/describeProgram.ts";
import { parseDescription, type ProgramDescription } from "../../parties/requester/description.ts";
import { itemOutputs, type ItemOutputs } from "../../parties/requester/itemOutputs.ts";
import { jobState, type JobState } from "../../parties/requester/result.ts";
import { timeText } from "../amount.ts";
import { chainSettings, readerFrom } from "../chainSettings.ts";
import {
  outputFlagOf,
  outputLines,
  outputOptions,
  outputsJson,
  presentationOf,
  writeOutputs,
  type OutputOptions,
  type Presentation,
} from "../decoded.ts";
import { UsageError } from "../errors.ts";
import { textLines, textOfJobs } from "../generatedText.ts";
import { tokenizerOption } from "../generationOptions.ts";
import { addExamples } from "../globalOptions.ts";
import { modelFlags, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { loadProgram } from "../models.ts";
import type { Output } from "../output.ts";
import { as, bytes32, jobId, list, webUrl, whole, type Parse } from "../parse.ts";
import { addSettings, optional, readJson, readSettings, toggle } from "../settings.ts";
import { absenceLines, resultLines, waitOnTerminal } from "../waiting.ts";

const hashes: Parse<Hex[]> = (text, name) => list(text, name).map((one) => bytes32(one, name));

const settings = {
  ...chainSettings,
  wait: toggle("wait until the result is final and delivered, also while no node answers"),
  proofKeys: optional<Hex[]>(
    "hashes",
    "of keys whose proofs you take for final, comma-separated; with --wait",
    hashes,
    "none",
  ),
};

type Options = ModelOptions &
  OutputOptions & {
    item?: number;
    from?: string;
    model?: string;
    program?: string;
    tokenizer?: string;
  };

/** `refute result`: shows a job's state on chain and the job's outputs. Reads only: no key is needed. */
export function resultCommand(output: Output): Command {
  const command = new Command("result")
    .description("show a job's state, claims and delivered outputs: values if the model is given, else bytes")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .option("--model <file>", "the job's model, which has names, types and shapes; compiled as for refute submit")
    .option("--program <file>", "the same from a program's description (JSON) in place of the model")
    .option("--item <n>", "of a run: the outputs of this item, from 0; needs --from", as(whole(0), "--item"))
    .option("--from <url>", "the server of a worker that publishes its claims, for --item", as(webUrl, "--from"))
    .action(async (job: Hex, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const program = programOf(options, output);
      const { shown, files } =
        program === undefined ? { shown: {}, files: new Map<string, string>() } : presentationOf(program, options);
      const textOf = textOfJobs(options.tokenizer, program);
      const { item, from } = options;
      if (item !== undefined || from !== undefined) {
        const found = await itemOutputs(await readerFrom(values), job, requireItem(options));
        requireProgram(program, found.programRoot, job);
        if (program !== undefined) writeOutputs(found.outputs, program, files, true);
        const { programRoot, root, finalised, provenBy } = found;
        const text = textOf?.({ items: item! + 1, inputs: undefined, outputs: found.outputs });
        const value = { job, item, programRoot, root, finalised, provenBy, outputs: outputsJson(found.outputs, shown) };
        return output.answer({ ...value, text }, [...itemLines(job, item!, found, shown), ...textLines(text)]);
      }
      if (values.wait) {
        const open = () => readerFrom(values);
        const result = await waitOnTerminal(output, job, false, open, flagsOf(options), values.proofKeys);
        requireProgram(program, result.programRoot, job);
        if (program !== undefined) writeOutputs(result.outputs, program, files, true);
        const { programRoot, worker, root, provenBy, outputs } = result;
        const text = textOf?.(result);
        const value = { job, programRoot, worker, root, provenBy, outputs: outputsJson(outputs, shown), text };
        return output.answer(value, [...resultLines(result, shown), ...textLines(text)]);
      }
      const state = await jobState(await readerFrom(values), job);
      requireProgram(program, state.programRoot, job);
      const isDue = state.status === "complete" || state.status === "closed";
      if (program !== undefined) writeOutputs(state.outputs, program, files, isDue);
      const { programRoot, form, status, claims, outputs } = state;
      const text = textOf?.(state);
      const value = { job, programRoot, form, status, claims, outputs: outputsJson(outputs, shown), text };
      output.answer(value, [...stateLines(job, state, shown), ...textLines(text)]);
    });
  return addExamples(
    addSettings(tokenizerOption(seedOption(modelOptions(outputOptions(command)))), settings),
    "result JOB",
    "result JOB --wait --model model.onnx --top 5 --labels classes.txt",
    "result JOB --program program.json --output scores=scores.npy",
    "result JOB --item 617 --from http://worker.example:8080 --program program.json",
  );
}

/** The flags that name the program again. */
const flagsOf = ({ model, program, ...options }: Options): string[] =>
  model !== undefined
    ? ["--model", model, ...modelFlags(modelSpec(model, options))]
    : program === undefined
      ? []
      : ["--program", program];

/** @throws UsageError if only one flag is given */
function requireItem({ item, from, wait }: Options & { wait?: boolean }): { item: number; url: string } {
  if (wait === true) throw new UsageError("--item asks the worker now: leave out --wait");
  if (item === undefined) throw new UsageError("--from says where the outputs of an item are: give --item N too");
  if (from === undefined)
    throw new UsageError(
      "--item: the outputs of items are not on the chain: give --from, the URL of the worker's server",
    );
  return { item, url: from };
}

const itemLines = (job: Hex, item: number, found: ItemOutputs, shown: Presentation): string[] => [
  `job ${job}, item ${item}`,
  `part of the claim with the root ${found.root}, which ${fateOf(found)}`,
  ...outputLines(found.outputs, shown),
];

const fateOf = ({ finalised, provenBy }: ItemOutputs): string =>
  finalised ? "is final" : provenBy === undefined ? "may still be disputed" : `was proven under the key ${provenBy}`;

function programOf(options: Options, output: Output): ProgramDescription | undefined {
  const { model, program } = options;
  if (model !== undefined && program !== undefined)
    throw new UsageError("--model and --program both name the program: give one of them");
  if (model !== undefined) return describeProgram(loadProgram(modelSpec(model, options), output));
  if (program !== undefined) return parseDescription(readJson(program, "program's description"), program);
  const flag = outputFlagOf(options);
  if (flag === undefined) return undefined;
  throw new UsageError(`${flag} needs the program, which has the types: give --model FILE or --program FILE too`);
}

/** Another program's names and types would mean nothing. @throws UsageError */
function requireProgram(program: ProgramDescription | undefined, asked: Hex, job: Hex): void {
  if (program === undefined || program.programRoot === asked) return;
  throw new UsageError(
    `job ${job} is of the program ${asked}, the one given is ${program.programRoot}: give the job's model, and the ` +
      "flags with which it was submitted (--shape, --dim, --bind, --uint8, --decide, --drawn, --seed, --seed-input, " +
      "--step-bytes, of a run, of a decoder)",
  );
}

const stateLines = (
  job: Hex,
  { programRoot, items, form, status, claims, outputs, callbacks }: JobState,
  shown: Presentation,
): string[] => [
  `job ${job}`,
  `program ${programRoot}`,
  `status ${status}`,
  ...claims.map(({ worker, root, windowEnd, gamesOpen, refuted, finalised, provenBy }) => {
    const open = gamesOpen === 0 ? "" : `, games open ${gamesOpen}`;
    const ended = refuted ? "refuted" : finalised ? "final" : provenBy && `proven under the key ${provenBy}`;
    const fate = ended ?? `may be disputed until ${timeText(windowEnd)}${open}`;
    return `claim by ${worker}, ${form} with root ${root}: ${fate}`;
  }),
  ...outputLines(outputs, shown),
  ...(status === "complete" || status === "finalised" ? absenceLines({ items, outputs, callbacks }) : []),
];
