import { create, toBinary } from "@bufbuild/protobuf";
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  TensorProto_DataType,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  ValueInfoProtoSchema,
  type ValueInfoProto,
} from "onnx-buf";

function tensor(name: string, axes: readonly string[]): ValueInfoProto {
  const dim = axes.map((axis) =>
    create(TensorShapeProto_DimensionSchema, { value: { case: "dimParam", value: axis } }),
  );
  const shape = create(TensorShapeProtoSchema, { dim });
  const tensorType = create(TypeProto_TensorSchema, { elemType: TensorProto_DataType.DOUBLE, shape });
  return create(ValueInfoProtoSchema, {
    name,
    type: create(TypeProtoSchema, { value: { case: "tensorType", value: tensorType } }),
  });
}

/** An ONNX model of one node on float64 of any shape: `product[m, n]` is the dot product of `left[m]` and `right[n]`. */
export function gemmModel(): Uint8Array {
  const transposed = create(AttributeProtoSchema, { name: "transB", type: AttributeProto_AttributeType.INT, i: 1n });
  const node = create(NodeProtoSchema, {
    opType: "Gemm",
    input: ["left", "right"],
    output: ["product"],
    attribute: [transposed],
  });
  const graph = create(GraphProtoSchema, {
    name: "product",
    node: [node],
    input: [tensor("left", ["m", "k"]), tensor("right", ["n", "k"])],
    output: [tensor("product", ["m", "n"])],
  });
  const opsetImport = [create(OperatorSetIdProtoSchema, { domain: "", version: 17n })];
  return toBinary(ModelProtoSchema, create(ModelProtoSchema, { irVersion: 8n, opsetImport, graph }));
}
