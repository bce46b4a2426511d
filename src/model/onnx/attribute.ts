import { AttributeProto_AttributeType as Type, type AttributeProto, type GraphProto } from "onnx-buf";
import type { Attribute, Body } from "./model.ts";
import type { ReadContext } from "./readContext.ts";
import { readTensor } from "./tensor.ts";

const text = new TextDecoder();

/** IR versions before 3 may leave the type out; the only field set then reveals the type. */
function attributeType(attribute: AttributeProto): Type {
  if (attribute.type !== Type.UNDEFINED) return attribute.type;
  if (attribute.ints.length > 0) return Type.INTS;
  if (attribute.floats.length > 0) return Type.FLOATS;
  if (attribute.strings.length > 0) return Type.STRINGS;
  if (attribute.t !== undefined) return Type.TENSOR;
  if (attribute.s.length > 0) return Type.STRING;
  return attribute.f !== 0 ? Type.FLOAT : Type.INT;
}

/** Reads one attribute. `where` names the node; `readBody` reads a graph in it. @throws the errors of `readTensor` */
export function readAttribute(
  attribute: AttributeProto,
  where: string,
  context: ReadContext,
  readBody: (graph: GraphProto) => Body,
): Attribute {
  if (attribute.refAttrName !== "") return { kind: "reference", value: attribute.refAttrName };
  const type = attributeType(attribute);
  switch (type) {
    case Type.FLOAT:
      return { kind: "float", value: attribute.f };
    case Type.INT:
      return { kind: "int", value: attribute.i };
    case Type.STRING:
      return { kind: "string", value: text.decode(attribute.s) };
    case Type.FLOATS:
      return { kind: "floats", value: attribute.floats };
    case Type.INTS:
      return { kind: "ints", value: attribute.ints };
    case Type.STRINGS:
      return { kind: "strings", value: attribute.strings.map((s) => text.decode(s)) };
    case Type.TENSOR:
      if (attribute.t === undefined) return { kind: "other", value: "empty tensor" };
      return {
        kind: "tensor",
        value: readTensor(attribute.t, `attribute "${attribute.name}" of ${where}`, context),
      };
    case Type.GRAPH:
      return attribute.g === undefined
        ? { kind: "other", value: "empty graph" }
        : { kind: "graph", value: readBody(attribute.g) };
    default:
      return { kind: "other", value: Type[type].toLowerCase() };
  }
}
