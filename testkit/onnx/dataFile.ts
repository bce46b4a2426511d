/** Models in two files, as export tools write large ones: the graph, and beside it the data of its tensors. */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation as Location,
  type StringStringEntryProto,
} from "onnx-buf";

/** Where a tensor may begin, so that it can be mapped into memory. */
const ALIGNMENT = 4096;
/** Tensors of fewer bytes stay in the graph. */
const MIN = 1024;

/** Where the data of a tensor lies, as the model says it. */
export const dataEntries = (place: { location: string; offset: number; length: number }): StringStringEntryProto[] =>
  Object.entries(place).map(([key, value]) => create(StringStringEntryProtoSchema, { key, value: String(value) }));

/**
 * Writes a model to `path`, and the data of its large tensors to `path` with `.data` behind it.
 * @param model The bytes of a model in one file.
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
