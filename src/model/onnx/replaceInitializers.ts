import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema } from "onnx-buf";
import { ModelGraphError } from "./errors.ts";
import type { TensorData } from "./model.ts";
import { tensorProto } from "./toProto.ts";

/** The same ONNX file with other tensors in the place of some initializers. @throws ModelGraphError by a name */
export function replaceInitializers(onnxBytes: Uint8Array, tensors: ReadonlyMap<string, TensorData>): Uint8Array {
  const model = fromBinary(ModelProtoSchema, onnxBytes);
  const initializers = model.graph?.initializer ?? [];
  for (const [name, tensor] of tensors) {
    const at = initializers.findIndex((each) => each.name === name);
    if (at < 0) throw new ModelGraphError("the model", `initializer "${name}"`, "is not in the file");
    initializers[at] = tensorProto(name, tensor);
  }
  return toBinary(ModelProtoSchema, model);
}
