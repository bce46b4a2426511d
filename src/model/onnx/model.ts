import type { DType } from "../../numerics/dtype.ts";
import type { NarrowType } from "../../numerics/narrow.ts";

/** A dense tensor: row-major, little-endian. `bytes.length` equals the product of `shape` x bytes per element. */
export type TensorData = {
  dtype: DType;
  shape: readonly number[];
  bytes: Uint8Array;
  /** The ONNX type, if narrow; `dtype` then gives the type of the bytes representing the elements. */
  narrow?: NarrowType;
  /** Whether `bytes` holds integers of four bits, two to a byte (`narrow.ts`). */
  fourBits?: true;
};

/** A dimension of a graph input or output: a number, a symbol that the caller binds, or nothing known. */
export type Dim = number | string | undefined;

/** A named graph input or output. `shape` is undefined if the model does not say even the rank. */
export type ValueInfo = {
  name: string;
  dtype: DType;
  narrow?: NarrowType;
  shape: readonly Dim[] | undefined;
  /** True for an output with a list of tensors; type and shape then describe the elements. */
  sequence?: true;
};

/** An output of a graph. Without `dtype` and `shape` if the file does not say them. */
export type OutputInfo = Omit<ValueInfo, "dtype"> & { dtype?: DType };

/** An attribute. `other` stands for kinds that no operator of the table takes (sparse tensors, types). */
export type Attribute =
  | { kind: "float"; value: number }
  | { kind: "int"; value: bigint }
  | { kind: "string"; value: string }
  | { kind: "tensor"; value: TensorData }
  | { kind: "floats"; value: readonly number[] }
  | { kind: "ints"; value: readonly bigint[] }
  | { kind: "strings"; value: readonly string[] }
  | { kind: "graph"; value: Body }
  /** In a function of the model: the name of an attribute of its call. */
  | { kind: "reference"; value: string }
  | { kind: "other"; value: string };

/** One node. `domain` is "" for ai.onnx; an input named "" is absent. */
export type Node = {
  name: string;
  operator: string;
  domain: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: ReadonlyMap<string, Attribute>;
  /** Selects between functions of the same name. */
  overload?: string;
  /** For a node inside a model function: the function's operator sets. */
  opsets?: ReadonlyMap<string, number>;
};

/** A graph inside a node, with inputs and outputs by name only. A body may read names from the surrounding graphs. */
export type Body = {
  inputs: readonly string[];
  outputs: readonly string[];
  nodes: readonly Node[];
  initializers: ReadonlyMap<string, TensorData>;
};

export type Graph = {
  name: string;
  /** Graph inputs that are not initializers. */
  inputs: readonly ValueInfo[];
  outputs: readonly OutputInfo[];
  /** In topological order. */
  nodes: readonly Node[];
  initializers: ReadonlyMap<string, TensorData>;
};

export type Model = {
  /** Where the model was read from, for messages. */
  source: string;
  irVersion: number;
  /** Domain to version; ai.onnx under "". */
  opsets: ReadonlyMap<string, number>;
  graph: Graph;
  /** The inputs that random operators draw from, if they do: a seed, and the item's number. int64, one element each. */
  seedInputs?: { seed: string; index?: string };
};

/** The maximum dimensions of a tensor; honest models have up to some eight. */
export const MAX_RANK = 64;

/** Product of a shape. */
export const elementCount = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);

/** Returns a node's name for messages: the node's own name, or without one, the first output's name. */
export const nodeLabel = (node: Node): string => node.name || `(producing ${node.outputs[0] ?? "nothing"})`;
