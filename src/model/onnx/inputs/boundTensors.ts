import { elementCount, type Model, type TensorData, type ValueInfo } from "../model.ts";
import { InputBindingError } from "../bindInputs.ts";
import { jsonTensor } from "./jsonTensor.ts";
import { readInputFile } from "./readInputFile.ts";

/** Returns the longest name that a text `NAME=...` may begin with: names may have an equals sign too. */
export const longestName = (names: readonly string[], text: string): string | undefined =>
  names.filter((name) => text.startsWith(`${name}=`)).sort((a, b) => b.length - a.length)[0];

/**
 * Returns bindings by the names of a model's inputs. A flag `NAME=FILE` is split before a model is known; the name that
 * counts is the longest that fits.
 */
export function bindingsByName(
  names: readonly string[],
  bind: Readonly<Record<string, unknown>>,
): [name: string, value: unknown][] {
  return Object.entries(bind).map(([given, value]) => {
    if (names.includes(given) || typeof value !== "string") return [given, value];
    const text = `${given}=${value}`;
    const name = longestName(names, text) ?? given;
    return [name, text.slice(name.length + 1)];
  });
}

/**
 * Returns the tensors for inputs bound at compile time.
 * @param bind By input: the name of a .pb, .npy or .json file, or a JSON value in the format of such a file.
 * @throws InputBindingError if the model has no such input; InputFileError
 */
export function boundTensors(model: Model, bind: Readonly<Record<string, unknown>>): Map<string, TensorData> {
  const { inputs } = model.graph;
  const names = inputs.map((candidate) => candidate.name);
  return new Map(
    bindingsByName(names, bind).map(([name, value]) => {
      const input = inputs.find((candidate) => candidate.name === name);
      if (input === undefined)
        throw new InputBindingError(`the model has no input ${name}; its inputs are ${names.join(", ")}`);
      return [name, typeof value === "string" ? readInputFile(input, value) : literal(input, value)] as const;
    }),
  );
}

/** A single number also fills an input with a single element, at any rank. */
function literal({ name, dtype, shape }: ValueInfo, value: unknown): TensorData {
  const tensor = jsonTensor(value, dtype, `the value bound to ${name}`);
  const ones = shape?.map((dim) => (typeof dim === "number" ? dim : 1));
  if (tensor.shape.length > 0 || ones === undefined || elementCount(ones) !== 1) return tensor;
  return { ...tensor, shape: ones };
}
