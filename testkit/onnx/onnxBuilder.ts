/** Builds small ONNX models in memory, for tests. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  FunctionProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  TensorProtoSchema,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type FunctionProto,
  type GraphProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from "onnx-buf";
import { DType } from "../../src/numerics/dtype.ts";
import { narrowLayout } from "../../src/numerics/narrow.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";

const utf8 = new TextEncoder();

/**
 * An attribute's value: integral numbers become ints, `float` marks floats; `reference` names an attribute of the
 * enclosing function.
 */
export type AttributeValue =
  | number
  | bigint
  | string
  | readonly number[]
  | readonly bigint[]
  | { float: number }
  | { floats: readonly number[] }
  | { strings: readonly string[] }
  | { tensor: TensorData }
  | { reference: string; type: AttributeType }
  | { graph: Pick<ModelSpec, "inputs" | "outputs" | "nodes" | "initializers"> };

export type NodeSpec = {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: Readonly<Record<string, AttributeValue>>;
  name?: string;
  domain?: string;
};

export type IoSpec = { name: string; dtype: DType; shape?: readonly (number | string)[] };

/** A function of the model. `attributes` without a default must be given by the call. */
export type FunctionSpec = {
  name: string;
  domain: string;
  opset?: number;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: readonly string[];
  defaults?: Readonly<Record<string, AttributeValue>>;
  nodes: readonly NodeSpec[];
};

export type ModelSpec = {
  opset?: number;
  /** Versions for domains other than ai.onnx, 1 by default. */
  imports?: Readonly<Record<string, number>>;
  irVersion?: number;
  functions?: readonly FunctionSpec[];
  inputs: readonly IoSpec[];
  outputs: readonly IoSpec[];
  nodes: readonly NodeSpec[];
  initializers?: Readonly<Record<string, TensorData>>;
};

/** A tensor as protobuf, its data raw. */
export function tensorProto(name: string, { dtype, shape, bytes, fourBits, narrow }: TensorData): TensorProto {
  if (fourBits) {
    const packed = new Uint8Array(Math.ceil(bytes.length / 2));
    bytes.forEach((value, i) => (packed[i >> 1]! |= (value & 15) << (4 * (i & 1))));
    const dataType = dtype === DType.uint8 ? 21 : 22;
    return create(TensorProtoSchema, { name, dataType, dims: shape.map(BigInt), rawData: packed });
  }
  const dataType = narrow === undefined ? dtype : narrowLayout(narrow).code;
  return create(TensorProtoSchema, { name, dataType, dims: shape.map(BigInt), rawData: Uint8Array.from(bytes) });
}

function attributeProto(name: string, value: AttributeValue): AttributeProto {
  const make = (type: AttributeType, fields: Partial<AttributeProto>): AttributeProto =>
    create(AttributeProtoSchema, { name, type, ...fields } as AttributeProto);
  if (typeof value === "string") return make(AttributeType.STRING, { s: utf8.encode(value) });
  if (typeof value === "number" || typeof value === "bigint") return make(AttributeType.INT, { i: BigInt(value) });
  if ("reference" in value) return make(value.type, { refAttrName: value.reference });
  if ("float" in value) return make(AttributeType.FLOAT, { f: value.float });
  if ("strings" in value) return make(AttributeType.STRINGS, { strings: value.strings.map((s) => utf8.encode(s)) });
  if ("floats" in value) return make(AttributeType.FLOATS, { floats: [...value.floats] });
  if ("graph" in value) return make(AttributeType.GRAPH, { g: graphProto(value.graph) });
  if ("tensor" in value) return make(AttributeType.TENSOR, { t: tensorProto("", value.tensor) });
  return make(AttributeType.INTS, { ints: value.map(BigInt) });
}

/** A node as protobuf. */
function nodeProto(spec: NodeSpec): NodeProto {
  return create(NodeProtoSchema, {
    name: spec.name ?? "",
    opType: spec.op,
    domain: spec.domain ?? "",
    input: [...spec.inputs],
    output: [...spec.outputs],
    attribute: Object.entries(spec.attributes ?? {}).map(([name, value]) => attributeProto(name, value)),
  });
}

function valueInfo({ name, dtype, shape }: IoSpec): ValueInfoProto {
  const dims = shape?.map((dim) =>
    create(TensorShapeProto_DimensionSchema, {
      value: typeof dim === "number" ? { case: "dimValue", value: BigInt(dim) } : { case: "dimParam", value: dim },
    }),
  );
  const tensor = create(TypeProto_TensorSchema, {
    elemType: dtype,
    ...(dims ? { shape: create(TensorShapeProtoSchema, { dim: dims }) } : {}),
  });
  return create(ValueInfoProtoSchema, {
    name,
    type: create(TypeProtoSchema, { value: { case: "tensorType", value: tensor } }),
  });
}

const graphProto = (spec: Pick<ModelSpec, "inputs" | "outputs" | "nodes" | "initializers">): GraphProto =>
  create(GraphProtoSchema, {
    name: "test",
    node: spec.nodes.map(nodeProto),
    input: spec.inputs.map(valueInfo),
    output: spec.outputs.map(valueInfo),
    initializer: Object.entries(spec.initializers ?? {}).map(([name, data]) => tensorProto(name, data)),
  });

/** Returns the domains that nodes use, including nodes in bodies. */
function domainsOf(nodes: readonly NodeSpec[]): string[] {
  return nodes.flatMap((node) => [
    node.domain ?? "",
    ...Object.values(node.attributes ?? {}).flatMap((value) =>
      typeof value === "object" && "graph" in value ? domainsOf(value.graph.nodes) : [],
    ),
  ]);
}

function functionProto({ opset, attributes, defaults, ...spec }: FunctionSpec): FunctionProto {
  const domains = new Set(["", ...domainsOf(spec.nodes)]);
  return create(FunctionProtoSchema, {
    name: spec.name,
    domain: spec.domain,
    input: [...spec.inputs],
    output: [...spec.outputs],
    attribute: [...(attributes ?? [])],
    attributeProto: Object.entries(defaults ?? {}).map(([name, value]) => attributeProto(name, value)),
    node: spec.nodes.map(nodeProto),
    opsetImport: [...domains].map((domain) =>
      create(OperatorSetIdProtoSchema, { domain, version: BigInt(domain === "" ? (opset ?? 17) : 1) }),
    ),
  });
}

/** The bytes of an ONNX file. Default operator set 17, IR version 8. */
export function buildModel(spec: ModelSpec): Uint8Array {
  const graph = graphProto(spec);
  // A domain may have the same name as a property present in every object.
  const imports = new Map(Object.entries(spec.imports ?? {}));
  const functions = spec.functions ?? [];
  const domains = new Set(["", ...functions.map(({ domain }) => domain), ...domainsOf(spec.nodes)]);
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: BigInt(spec.irVersion ?? 8),
      opsetImport: [...domains].map((domain) =>
        create(OperatorSetIdProtoSchema, {
          domain,
          version: BigInt(domain === "" ? (spec.opset ?? 17) : (imports.get(domain) ?? 1)),
        }),
      ),
      graph,
      functions: functions.map(functionProto),
    }),
  );
}
