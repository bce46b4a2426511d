import type { Model, TensorData } from "../model/onnx/model.ts";
import { bindingsByName, longestName } from "../model/onnx/inputs/boundTensors.ts";
import { readInputFile } from "../model/onnx/inputs/readInputFile.ts";
import { UsageError } from "./errors.ts";
import type { ModelOptions } from "./modelOptions.ts";

/** @throws UsageError if the model has no input with the name */
export function requireName(names: readonly string[], name: string): void {
  if (!names.includes(name)) throw new UsageError(`the model has no input ${name}; its inputs are ${names.join(", ")}`);
}

/** Returns the inputs named by a model's flags. @param names Of the model's inputs. */
export const givenNames = (
  names: readonly string[],
  { shape = {}, bind = {}, uint8 = [], drawn = {} }: ModelOptions,
): string[] => [
  ...Object.keys(shape),
  ...bindingsByName(names, bind).map(([name]) => name),
  ...uint8.map(({ input }) => input),
  ...Object.keys(drawn),
];

/**
 * Splits `NAME=FILE`s by name, the longest name of an input that fits.
 * @throws UsageError if an entry has a wrong form, or names no input
 */
export function filesByName(model: Model, given: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const text of given) {
    const [name, path] = nameAndRest(model, text, "--input", "NAME=FILE");
    files.set(name, [...(files.get(name) ?? []), path]);
  }
  return files;
}

/**
 * Splits a flag's `NAME=...` behind the longest name of an input that fits.
 * @throws UsageError if the text has another form, or names no input
 */
export function nameAndRest(model: Model, text: string, flag: string, form: string): [name: string, rest: string] {
  const names = model.graph.inputs.map((input) => input.name);
  const name = longestName(names, text) ?? text.slice(0, Math.max(0, text.indexOf("=")));
  if (name === "") throw new UsageError(`${flag} ${text}: expected ${form}`);
  requireName(names, name);
  return [name, text.slice(name.length + 1)];
}

/** Returns the single file for each given input. @throws UsageError also if an input is given twice */
export function inputFiles(model: Model, given: readonly string[]): Map<string, string> {
  return new Map([...filesByName(model, given)].map(([name, paths]) => [name, onlyFile(name, paths)]));
}

/** @throws UsageError if several files are given */
export function onlyFile(name: string, [path, ...others]: readonly string[]): string {
  if (others.length > 0) throw new UsageError(`--input ${name}=${others[0]}: ${name} is given already`);
  return path!;
}

/** @param kinds Of files. */
export const missingInput = (name: string, kinds: string): UsageError =>
  new UsageError(`input ${name} is missing: give --input ${name}=FILE (${kinds})`);

/** All inputs of a model. @throws UsageError if one is missing; InputFileError */
export function readInputs(model: Model, given: readonly string[]): Map<string, TensorData> {
  const files = inputFiles(model, given);
  return new Map(
    model.graph.inputs.map((input) => {
      const path = files.get(input.name);
      if (path === undefined) throw missingInput(input.name, ".pb, .npy or .json");
      return [input.name, readInputFile(input, path)] as const;
    }),
  );
}
