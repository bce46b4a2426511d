import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { TensorProtoSchema } from "onnx-buf";
import { dtypeName } from "../../numerics/dtype.ts";
import type { Model, TensorData, ValueInfo } from "../../onnx/model.ts";
import { readTensor } from "../../onnx/tensor.ts";
import { InputFileError, UsageError } from "../errors.ts";
import { jsonTensor } from "./jsonTensor.ts";
import { readNpy } from "./npy.ts";

/** Splits `NAME=FILE`s by name. @throws UsageError if one is malformed, or names no input of the model. */
export function inputFiles(model: Model, given: readonly string[]): Map<string, string> {
  const names = model.graph.inputs.map(({ name }) => name);
  const files = new Map<string, string>();
  for (const text of given) {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`--input ${text}: expected NAME=FILE`);
    const name = text.slice(0, at);
    if (!names.includes(name))
      throw new UsageError(`the model has no input ${name}; its inputs are ${names.join(", ")}`);
    files.set(name, text.slice(at + 1));
  }
  return files;
}

/**
 * Reads an input tensor. A .pb file is an ONNX TensorProto, .npy is NumPy's, .json nested arrays.
 * @throws InputFileError if the file is none of these, or of another element type than the input.
 */
export function readInputFile({ name, dtype }: ValueInfo, path: string): TensorData {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new InputFileError(path, `cannot be read: ${(cause as Error).message}`, { cause });
  }
  const tensor = parse(bytes, dtype, path);
  if (tensor.dtype !== dtype)
    throw new InputFileError(path, `is ${dtypeName(tensor.dtype)}, but the input ${name} takes ${dtypeName(dtype)}`);
  return tensor;
}

function parse(bytes: Uint8Array, dtype: ValueInfo["dtype"], path: string): TensorData {
  if (path.endsWith(".npy")) return readNpy(bytes, path);
  if (path.endsWith(".json")) {
    try {
      return jsonTensor(JSON.parse(Buffer.from(bytes).toString("utf8")), dtype, path);
    } catch (cause) {
      if (cause instanceof InputFileError) throw cause;
      throw new InputFileError(path, `is not JSON: ${(cause as Error).message}`, { cause });
    }
  }
  if (path.endsWith(".pb")) return readProto(bytes, path);
  throw new InputFileError(path, "is of no known kind: expected a name that ends in .pb, .npy or .json");
}

/** Reads an ONNX TensorProto. @throws InputFileError, and the errors of `readTensor` */
export function readProto(bytes: Uint8Array, path: string): TensorData {
  let proto;
  try {
    proto = fromBinary(TensorProtoSchema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new InputFileError(path, "is not an ONNX TensorProto", { cause });
  }
  return readTensor(proto, "tensor", { source: path, externalDataDir: undefined });
}

/** All inputs of a model. @throws UsageError if one is missing; InputFileError */
export function readInputs(model: Model, given: readonly string[]): Map<string, TensorData> {
  const files = inputFiles(model, given);
  return new Map(
    model.graph.inputs.map((input) => {
      const path = files.get(input.name);
      if (path === undefined)
        throw new UsageError(`input ${input.name} is missing: give --input ${input.name}=FILE (.pb, .npy or .json)`);
      return [input.name, readInputFile(input, path)] as const;
    }),
  );
}

/** The shapes of tensors, by name. */
export const shapesOf = (tensors: ReadonlyMap<string, TensorData>): Record<string, readonly number[]> =>
  Object.fromEntries([...tensors].map(([name, { shape }]) => [name, shape]));
