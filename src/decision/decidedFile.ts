import { create } from "@bufbuild/protobuf";
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  NodeProtoSchema,
  TensorProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
} from "onnx-buf";
import type { Attribute, Model } from "../onnx/model.ts";
import { appendedNodes } from "./appendDecision.ts";
import type { DecideSpec } from "./decideSpec.ts";
import { appendToGraph } from "./withOutputs.ts";

/**
 * An ONNX file with what `appendDecisions` appends to its model. The floats that are decided stay outputs beside their
 * decisions.
 * @param model What was read of the file.
 * @throws DecideError
 */
export function decidedFile(
  onnxBytes: Uint8Array,
  model: Model,
  decide: Readonly<Record<string, DecideSpec>>,
): Uint8Array {
  const all = Object.entries(decide).map(([name, spec]) => appendedNodes(model, name, spec));
  return appendToGraph(onnxBytes, {
    node: all.flatMap(({ nodes }) =>
      nodes.map(({ name, operator, inputs, outputs, attributes }) =>
        create(NodeProtoSchema, {
          name,
          opType: operator,
          input: [...inputs],
          output: [...outputs],
          attribute: [...attributes].flatMap(attributeProto),
        }),
      ),
    ),
    initializer: all.flatMap(({ initializers }) =>
      [...initializers].map(([name, { dtype, shape, bytes }]) =>
        create(TensorProtoSchema, { name, dataType: dtype, dims: shape.map(BigInt), rawData: Uint8Array.from(bytes) }),
      ),
    ),
    output: all.map(({ output: { name } }) => create(ValueInfoProtoSchema, { name })),
  });
}

/** Appended nodes have attributes that are integers. */
const attributeProto = ([name, attribute]: [string, Attribute]): AttributeProto[] =>
  attribute.kind === "int"
    ? [create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INT, i: attribute.value })]
    : [];
