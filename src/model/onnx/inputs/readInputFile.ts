import { fromBinary } from "@bufbuild/protobuf";
import { TensorProtoSchema } from "onnx-buf";
import { dtypeName } from "../../../numerics/dtype.ts";
import { FileError, readRegularFile } from "../../../base/regularFile.ts";
import type { TensorData, ValueInfo } from "../model.ts";
import { readTensor } from "../tensor.ts";
import { TensorMemory } from "../tensorMemory.ts";
import { InputFileError } from "./errors.ts";
import { jsonTensor } from "./jsonTensor.ts";
import { readNpy } from "./npy.ts";

/** The maximum bytes of an input file: a tensor has at most 512 MiB, and no JavaScript text is longer. */
const MAX_INPUT_BYTES = 2 ** 29 + 2 ** 16;

/** Whether a file holds a tensor with its type and shape, by its name. */
export const isTensorFile = (path: string): boolean => /\.(npy|pb|json)$/.test(path);

/** The input properties that a file must match. */
type Expected = Pick<ValueInfo, "name" | "dtype">;

/**
 * Reads an input tensor. A .pb file contains an ONNX TensorProto, .npy a NumPy array, .json nested arrays.
 * @throws InputFileError if the file has another format, or another element type than the input.
 */
export function readInputFile(input: Expected, path: string): TensorData {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(path, MAX_INPUT_BYTES);
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new InputFileError(path, `cannot be read: it ${cause.message}`, { cause });
  }
  return inputTensor(input, bytes, path);
}

/**
 * The same of a file that was read.
 * @param path Its name, which tells its kind.
 * @throws InputFileError
 */
export function inputTensor({ name, dtype }: Expected, bytes: Uint8Array, path: string): TensorData {
  const tensor = parse(bytes, dtype, path);
  if (tensor.dtype !== dtype)
    throw new InputFileError(path, `is ${dtypeName(tensor.dtype)}, but the input ${name} takes ${dtypeName(dtype)}`);
  return tensor;
}

function parse(bytes: Uint8Array, dtype: ValueInfo["dtype"], path: string): TensorData {
  if (path.endsWith(".npy")) return readNpy(bytes, path);
  if (path.endsWith(".json")) {
    try {
      return jsonTensor(JSON.parse(new TextDecoder().decode(bytes)), dtype, path);
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
  return readTensor(proto, "tensor", { source: path, externalDataDir: undefined, memory: new TensorMemory() });
}

/** The shapes of tensors, by name. */
export const shapesOf = (tensors: ReadonlyMap<string, TensorData>): Record<string, readonly number[]> =>
  Object.fromEntries([...tensors].map(([name, { shape }]) => [name, shape]));
