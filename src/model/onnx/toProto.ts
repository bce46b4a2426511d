import { create } from "@bufbuild/protobuf";
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  NodeProtoSchema,
  TensorProtoSchema,
  type AttributeProto,
  type NodeProto,
  type TensorProto,
} from "onnx-buf";
import type { Attribute, Node, TensorData } from "./model.ts";

/** A node of ai.onnx as a file has it. Its attributes are integers: nodes that are made here have no others. */
export const nodeProto = ({ name, operator, inputs, outputs, attributes }: Node): NodeProto =>
  create(NodeProtoSchema, {
    name,
    opType: operator,
    input: [...inputs],
    output: [...outputs],
    attribute: [...attributes].map(([key, value]) => attributeProto(key, value)),
  });

function attributeProto(name: string, attribute: Attribute): AttributeProto {
  if (attribute.kind === "int")
    return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: attribute.value });
  if (attribute.kind === "ints")
    return create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: [...attribute.value] });
  throw new RangeError(`attribute ${name}: one of the kind ${attribute.kind} is not written to files`);
}

/** A tensor as a file has it among its initializers. */
export const tensorProto = (name: string, { dtype, shape, bytes }: TensorData): TensorProto =>
  create(TensorProtoSchema, { name, dataType: dtype, dims: shape.map(BigInt), rawData: Uint8Array.from(bytes) });
