import { elementCount, type Model, type TensorData, type ValueInfo } from "../model.ts";
import { InputBindingError } from "../bindInputs.ts";
import { jsonTensor } from "./jsonTensor.ts";
import { readInputFile } from "./readInputFile.ts";

/**
 * Returns the tensors for inputs bound at compile time.
 * @param bind By input: the name of a .pb, .npy or .json file, or a JSON value in the format of such a file.
 * @throws InputBindingError if the model has no such input; InputFileError
 */
export function boundTensors(model: Model, bind: Readonly<Record<string, unknown>>): Map<string, TensorData> {
  const { inputs } = model.graph;
  return new Map(
    Object.entries(bind).map(([name, value]) => {
      const input = inputs.find((candidate) => candidate.name === name);
      if (input === undefined)
        throw new InputBindingError(
          `the model has no input ${name}; its inputs are ${inputs.map((i) => i.name).join(", ")}`,
        );
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
