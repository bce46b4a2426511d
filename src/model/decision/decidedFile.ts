import { create } from "@bufbuild/protobuf";
import { ValueInfoProtoSchema } from "onnx-buf";
import type { Model } from "../onnx/model.ts";
import { nodeProto, tensorProto } from "../onnx/toProto.ts";
import { appendedNodes } from "./appendDecision.ts";
import type { DecideSpec } from "./decideSpec.ts";
import { appendToGraph } from "./withOutputs.ts";

/**
 * Returns an ONNX file with the nodes that `appendDecisions` appends to its model. The decided floats stay outputs
 * beside their decisions.
 * @param model The model read from the file.
 * @throws DecideError
 */
export function decidedFile(
  onnxBytes: Uint8Array,
  model: Model,
  decide: Readonly<Record<string, DecideSpec>>,
): Uint8Array {
  const all = Object.entries(decide).map(([name, spec]) => appendedNodes(model, name, spec));
  return appendToGraph(onnxBytes, {
    node: all.flatMap(({ nodes }) => nodes.map(nodeProto)),
    initializer: all.flatMap(({ initializers }) =>
      [...initializers].map(([name, tensor]) => tensorProto(name, tensor)),
    ),
    output: all.map(({ output: { name } }) => create(ValueInfoProtoSchema, { name })),
  });
}
