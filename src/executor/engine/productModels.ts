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
  type AttributeProto,
  type ValueInfoProto,
} from "onnx-buf";

function tensor(name: string, elemType: TensorProto_DataType, axes: readonly string[]): ValueInfoProto {
  const dim = axes.map((axis) =>
    create(TensorShapeProto_DimensionSchema, { value: { case: "dimParam", value: axis } }),
  );
  const shape = create(TensorShapeProtoSchema, { dim });
  const tensorType = create(TypeProto_TensorSchema, { elemType, shape });
  return create(ValueInfoProtoSchema, {
    name,
    type: create(TypeProtoSchema, { value: { case: "tensorType", value: tensorType } }),
  });
}

/** An ONNX model of one node. */
function singleNode(
  opType: string,
  inputs: readonly ValueInfoProto[],
  output: ValueInfoProto,
  attribute: AttributeProto[],
): Uint8Array {
  const node = create(NodeProtoSchema, {
    opType,
    input: inputs.map(({ name }) => name),
    output: [output.name],
    attribute,
  });
  const graph = create(GraphProtoSchema, { name: "product", node: [node], input: [...inputs], output: [output] });
  const opsetImport = [create(OperatorSetIdProtoSchema, { domain: "", version: 17n })];
  return toBinary(ModelProtoSchema, create(ModelProtoSchema, { irVersion: 8n, opsetImport, graph }));
}

/**
 * `product[m, n]` is the dot product of `left[m]` and `right[n]`, in float64, of any shape.
 * @param isByTerms Whether `right` has the dimensions [k, n]; otherwise [n, k].
 */
export function gemmModel(isByTerms: boolean): Uint8Array {
  const { DOUBLE } = TensorProto_DataType;
  const i = isByTerms ? 0n : 1n;
  const transposed = create(AttributeProtoSchema, { name: "transB", type: AttributeProto_AttributeType.INT, i });
  const inputs = [tensor("left", DOUBLE, ["m", "k"]), tensor("right", DOUBLE, isByTerms ? ["k", "n"] : ["n", "k"])];
  return singleNode("Gemm", inputs, tensor("product", DOUBLE, ["m", "n"]), [transposed]);
}

/** `product = (left - leftZero) (right - rightZero)` of a uint8 and a uint8 or int8 matrix of any shape, in int32. */
export function byteProductModel(isRightSigned: boolean): Uint8Array {
  const { UINT8, INT8, INT32 } = TensorProto_DataType;
  const rightType = isRightSigned ? INT8 : UINT8;
  const inputs = [
    tensor("left", UINT8, ["m", "k"]),
    tensor("right", rightType, ["k", "n"]),
    tensor("leftZero", UINT8, []),
    tensor("rightZero", rightType, []),
  ];
  return singleNode("MatMulInteger", inputs, tensor("product", INT32, ["m", "n"]), []);
}
