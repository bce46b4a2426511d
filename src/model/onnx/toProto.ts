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

/** Returns an ai.onnx node in file form. All attributes are integers: nodes made by this code have no others. */
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

/** Returns a tensor in the form of a file's initializer. */
export const tensorProto = (name: string, { dtype, shape, bytes }: TensorData): TensorProto =>
  create(TensorProtoSchema, { name, dataType: dtype, dims: shape.map(BigInt), rawData: Uint8Array.from(bytes) });
