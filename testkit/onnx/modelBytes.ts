import { DType } from "../../src/numerics/dtype.ts";
import type { Attribute, Dim, Model, OutputInfo } from "../../src/model/onnx/model.ts";
import { buildModel, type AttributeValue, type IoSpec } from "./onnxBuilder.ts";

/** Returns an ONNX file for a model that was read or made. @throws RangeError for graphs in attributes */
export const modelBytes = ({ irVersion, opsets, graph }: Model): Uint8Array =>
  buildModel({
    ...{ irVersion, opset: opsets.get("")!, imports: Object.fromEntries(opsets) },
    inputs: graph.inputs.map(ioSpec),
    outputs: graph.outputs.map(ioSpec),
    nodes: graph.nodes.map(({ name, operator, domain, inputs, outputs, attributes }) => ({
      ...{ name, op: operator, domain, inputs, outputs },
      attributes: Object.fromEntries([...attributes].map(([key, value]) => [key, attributeValue(value)])),
    })),
    initializers: Object.fromEntries(graph.initializers),
  });

const ioSpec = ({ name, dtype = DType.float32, shape }: OutputInfo): IoSpec => ({
  ...{ name, dtype },
  ...(shape !== undefined && { shape: shape.map((dim: Dim, d) => dim ?? `dim${d}`) }),
});

function attributeValue(attribute: Attribute): AttributeValue {
  switch (attribute.kind) {
    case "float":
      return { float: attribute.value };
    case "floats":
      return { floats: attribute.value };
    case "strings":
      return { strings: attribute.value };
    case "tensor":
      return { tensor: attribute.value };
    case "ints":
      return attribute.value;
    case "int":
    case "string":
      return attribute.value;
    default:
      throw new RangeError(`an attribute of the kind ${attribute.kind} is not written`);
  }
}
