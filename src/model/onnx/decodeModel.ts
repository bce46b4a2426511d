import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, type ModelProto } from "onnx-buf";
import { ModelFormatError } from "./errors.ts";

/** The protocol buffer of a model. @throws ModelFormatError */
export function decodeModel(bytes: Uint8Array, source: string): ModelProto {
  try {
    return fromBinary(ModelProtoSchema, bytes, { readUnknownFields: false });
  } catch (cause) {
    const nested = (cause as Error).message.includes("recursion");
    const what = nested ? "is nested too deeply" : "do not decode (truncated, or another format)";
    throw new ModelFormatError(source, `its bytes ${what}`, { cause });
  }
}
