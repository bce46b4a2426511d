/** Models in two files, like large models from export tools: the graph, and separately the tensors' data. */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation as Location,
  type StringStringEntryProto,
} from "onnx-buf";

/** The alignment of a tensor's first byte. The alignment allows mapping the tensor into memory. */
const ALIGNMENT = 4096;
/** Tensors of fewer bytes stay in the graph. */
const MIN = 1024;

/** Returns the position of a tensor's data, in the model's format. */
export const dataEntries = (place: { location: string; offset: number; length: number }): StringStringEntryProto[] =>
  Object.entries(place).map(([key, value]) => create(StringStringEntryProtoSchema, { key, value: String(value) }));

/**
 * Writes a model to `path`, and the data of large tensors to `path` plus `.data`.
 * @param model The bytes of a single-file model.
 */
export function writeInTwoFiles(path: string, model: Uint8Array): void {
  const proto = fromBinary(ModelProtoSchema, model);
  const data = openSync(`${path}.data`, "w");
  let end = 0;
  for (const tensor of proto.graph!.initializer) {
    const { length } = tensor.rawData;
    if (length < MIN) continue;
    const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    writeSync(data, tensor.rawData, 0, length, offset);
    end = offset + length;
    tensor.externalData = dataEntries({ location: `${basename(path)}.data`, offset, length });
    tensor.dataLocation = Location.EXTERNAL;
    tensor.rawData = new Uint8Array(0);
  }
  closeSync(data);
  writeFileSync(path, toBinary(ModelProtoSchema, proto));
}
