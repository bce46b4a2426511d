import type { Command } from "commander";
import { longestName } from "../model/onnx/inputs/boundTensors.ts";
import { resolve } from "node:path";
import { writeNpy } from "../model/onnx/inputs/npy.ts";
import { DType } from "../numerics/dtype.ts";
import { toHex } from "../program/merkle/hash.ts";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import { decodeOutputs, topScores, type DecodedOutput, type Score } from "../parties/requester/decodeOutputs.ts";
import type { OutputDescription, ProgramDescription } from "../parties/requester/description.ts";
import { JobStateError, NotReadyError, UsageError } from "./errors.ts";
import { tensorJson, tensorText } from "./tensorText.ts";
import { writeWholeSync } from "../base/writeWhole.ts";
import type { TensorData } from "../model/onnx/model.ts";
import { appendOption } from "./modelOptions.ts";
import { as, whole } from "./parse.ts";
import { GROUPS } from "./words/helpGroups.ts";
import { requirePlace, writing } from "./folders.ts";

/** How outputs are shown. */
export type Presentation = {
  /** The program that they are of; without it they are bytes. */
  program?: ProgramDescription | undefined;
  /** The number of highest scores shown per row; none if left out. */
  top?: number | undefined;
};

type Outputs = ReadonlyMap<number, Uint8Array>;

/** Outputs for people: names, types, shapes and values if the program is known, else bytes. */
export function outputLines(outputs: Outputs, { program, top }: Presentation): string[] {
  if (program === undefined) return [...outputs].map(([output, bytes]) => `output ${output} ${toHex(bytes)}`);
  return [...decodeOutputs(program, outputs).values()].flatMap((output) => [
    tensorText(tensorOf(output)),
    ...scoresOf(output, top).map((row) => `  ${row.map(scoreText).join(", ")}`),
  ]);
}

/** The same for JSON. */
export function outputsJson(outputs: Outputs, { program, top }: Presentation): unknown[] {
  if (program === undefined) return [...outputs].map(([output, bytes]) => ({ output, bytes: toHex(bytes) }));
  return [...decodeOutputs(program, outputs).values()].map((output) => ({
    ...tensorJson(tensorOf(output)),
    ...(top === undefined ? {} : { top: scoresOf(output, top) }),
  }));
}

const tensorOf = ({ name, dtype, shape, bytes }: DecodedOutput) => ({ name, dtype: DType[dtype], shape, bytes });
const scoresOf = (output: DecodedOutput, top: number | undefined): Score[][] =>
  top === undefined ? [] : topScores(output, top);
const scoreText = ({ index, score, label }: Score): string => `${label ?? index}: ${score}`;

/** The values from the flags of `outputOptions`. */
export type OutputOptions = { output?: string[]; labels?: string; top?: number };

/** Adds the flag of files for outputs. */
export const outputOption = (command: Command): Command =>
  command
    .optionsGroup(GROUPS.outputs)
    .option(
      "--output <name=file>",
      "write an output as a NumPy file, e.g. scores=scores.npy; repeat for more",
      appendOption,
    )
    .optionsGroup("");

/** Adds the flags of how outputs are shown, and of files for outputs. */
export const outputOptions = (command: Command): Command =>
  outputOption(command)
    .optionsGroup(GROUPS.outputs)
    .option("--labels <file>", "names of the scores' classes: a text a line, or a JSON array")
    .option("--top <n>", "show the highest scores along the last dimension", as(whole(1), "--top"))
    .optionsGroup("");

/** The first of these flags that is given. */
export const outputFlagOf = ({ output, labels, top }: OutputOptions): string | undefined =>
  output !== undefined ? "--output" : labels !== undefined ? "--labels" : top === undefined ? undefined : "--top";

/** Returns what flags ask for: how the outputs of a known program are shown, and where they go. @throws UsageError */
export function presentationOf(
  program: ProgramDescription,
  { output = [], labels, top }: OutputOptions,
): { shown: Presentation & { program: ProgramDescription }; files: Map<string, string> } {
  const labelled = labels === undefined ? program : withLabels(program, labels);
  const names = program.outputs.map(({ name }) => name);
  return { shown: { program: labelled, top }, files: outputFiles(names, output) };
}

/** Files that outputs go to, by the outputs' names. @param names Of all outputs. @throws UsageError */
export function outputFiles(names: readonly string[], given: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const text of given) {
    const at = longestName(names, text)?.length ?? text.indexOf("=");
    const [name, path] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || !path.endsWith(".npy")) throw new UsageError(`--output ${text}: expected NAME=FILE.npy`);
    if (!names.includes(name))
      throw new UsageError(`--output ${text}: the program has no output ${name}; its outputs are ${names.join(", ")}`);
    if (files.has(name)) throw new UsageError(`--output ${text}: ${name} is given already`);
    if ([...files.values()].some((other) => resolve(other) === resolve(path)))
      throw new UsageError(`--output ${text}: another output goes to this file: name another one`);
    requirePlace("--output", path);
    files.set(name, path);
  }
  return files;
}

/**
 * Writes outputs as NumPy files.
 * @param isDue True if everything to deliver has arrived.
 * @throws NotReadyError or JobStateError if an output was not delivered, UsageError if the output's file cannot be
 *   written
 */
export function writeOutputs(
  outputs: Outputs,
  program: ProgramDescription,
  files: ReadonlyMap<string, string>,
  isDue: boolean,
): void {
  const decoded = decodeOutputs(program, outputs);
  for (const [name, path] of files) {
    const output = decoded.get(name);
    if (output === undefined) {
      const what = `--output ${name}=${path}: the output`;
      if (!isDue) throw new NotReadyError(`${what} is not delivered yet: --wait waits for it`);
      throw new JobStateError(
        `${what} was not delivered on chain, and will not be: it is too large or each item of a run has it ` +
          "(refute result JOB --item N --from URL fetches those), or the job closed",
      );
    }
    writeOutput(name, path, tensorOf(output));
  }
}

/** Writes an output as a NumPy file. @throws UsageError if the file cannot be written */
export function writeOutput(name: string, path: string, tensor: TensorData): void {
  writing(`--output ${name}=`, path, () => writeWholeSync(path, writeNpy(tensor)));
}

/** More than labels of a classifier need. */
const MAX_LABEL_BYTES = 2 ** 22;

/**
 * Returns the program with labels on outputs. The labels come from a file, a text per line or a JSON array; each output
 * with an equal number of positions in the last dimension gets labels.
 * @throws UsageError if the labels fit no output
 */
function withLabels(program: ProgramDescription, path: string): ProgramDescription {
  const labels = readLabels(path);
  const fits = ({ shape }: OutputDescription): boolean => (shape.at(-1) ?? 1) === labels.length;
  if (program.outputs.some(fits))
    return { ...program, outputs: program.outputs.map((output) => (fits(output) ? { ...output, labels } : output)) };
  const shapes = program.outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join("; ");
  throw new UsageError(`--labels ${path} has ${labels.length} texts, as many as no output's last dimension: ${shapes}`);
}

function readLabels(path: string): string[] {
  let text: string;
  try {
    text = new TextDecoder().decode(readRegularFile(path, MAX_LABEL_BYTES));
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new UsageError(`--labels ${path} ${cause.message}`, { cause });
  }
  if (!text.trimStart().startsWith("[")) return text.replace(/\r?\n$/, "").split(/\r?\n/);
  try {
    const parsed = JSON.parse(text) as unknown;
    if (Array.isArray(parsed) && parsed.every((label) => typeof label === "string")) return parsed;
  } catch {
    // A text that begins like a list without being a list gets refused below.
  }
  throw new UsageError(`--labels ${path}: expected a text a line, or a JSON array of texts`);
}
