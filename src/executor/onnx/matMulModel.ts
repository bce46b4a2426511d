import { create, toBinary } from "@bufbuild/protobuf";
import {
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

/** An ONNX model of one node: `product = MatMul(left, right)` on float64, batched, of any shape. */
export function matMulModel(): Uint8Array {
  const node = create(NodeProtoSchema, { opType: "MatMul", input: ["left", "right"], output: ["product"] });
  const graph = create(GraphProtoSchema, {
    name: "product",
    node: [node],
    input: [tensor("left", ["g", "m", "k"]), tensor("right", ["g", "k", "n"])],
    output: [tensor("product", ["g", "m", "n"])],
  });
  const opsetImport = [create(OperatorSetIdProtoSchema, { domain: "", version: 17n })];
  return toBinary(ModelProtoSchema, create(ModelProtoSchema, { irVersion: 8n, opsetImport, graph }));
}
