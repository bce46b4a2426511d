import type { TypeProto, TypeProto_Tensor } from "onnx-buf";
import type { DType } from "../../numerics/dtype.ts";
import { narrowLayout, narrowTypeOf } from "../../numerics/narrow.ts";
import { ModelGraphError } from "./errors.ts";
import type { Dim, Node, OutputInfo, ValueInfo } from "./model.ts";
import type { ReadContext } from "./readContext.ts";
import { checkDType } from "./tensor.ts";

/** The maximum number of elements in an input sequence: each element becomes a program input. */
const MAX_LENGTH = 1024;

/** The replacement for a model input: tensors, and the node making a sequence or optional from the tensors. */
type Expanded = { inputs: readonly ValueInfo[]; nodes: readonly Node[] };

/** Returns the name for element k of an input or output sequence. */
export const elementName = (name: string, k: number): string => `${name}.${k}`;

type Container = { tensor: TypeProto_Tensor; sequence: boolean; optional: boolean };

/**
 * Returns a type's content; undefined except for tensors, sequences of tensors, and optional types with either content.
 */
function containerOf(type: TypeProto | undefined): Container | undefined {
  const value = type?.value;
  if (value?.case === "tensorType") return { tensor: value.value, sequence: false, optional: false };
  if (value?.case === "sequenceType") {
    const inner = containerOf(value.value.elemType);
    return inner === undefined || inner.sequence || inner.optional ? undefined : { ...inner, sequence: true };
  }
  if (value?.case !== "optionalType") return undefined;
  const inner = containerOf(value.value.elemType);
  return inner === undefined || inner.optional ? undefined : { ...inner, optional: true };
}

/** @throws ModelGraphError, DTypeError */
function tensorInfo(name: string, { elemType, shape }: TypeProto_Tensor, where: string, source: string): ValueInfo {
  const dims = shape?.dim.map((dim): Dim => {
    if (dim.value.case === "dimValue") return Number(dim.value.value);
    return dim.value.case === "dimParam" ? dim.value.value : undefined;
  });
  const narrow = narrowTypeOf(elemType);
  if (narrow !== undefined) return { name, dtype: narrowLayout(narrow).storage, narrow, shape: dims };
  const dtype: DType = checkDType(elemType, where, source);
  return { name, dtype, shape: dims };
}

/** Whether the file says nothing about a value's type. */
const isMissing = (type: TypeProto | undefined): boolean =>
  type?.value.case === undefined || (type.value.case === "tensorType" && type.value.value.elemType === 0);

/**
 * An output of the graph: a tensor, or a sequence of tensors. The nodes say type and shape where the file does not.
 * @throws ModelGraphError, DTypeError
 */
export function readOutput(name: string, type: TypeProto | undefined, { source }: ReadContext): OutputInfo {
  const where = `output "${name}"`;
  if (isMissing(type)) return { name, shape: undefined };
  const container = containerOf(type);
  if (container === undefined) throw new ModelGraphError(source, where, "is neither a tensor nor a list of tensors");
  const info = tensorInfo(name, container.tensor, where, source);
  return container.sequence || container.optional ? { ...info, sequence: true } : info;
}

/**
 * Reads an input of the graph. A sequence becomes one input for each element, with separate shapes. An optional input
 * becomes no input if not given.
 * @param length The number of elements in a sequence; for an optional tensor, 1 if given and 0 if not.
 * @throws ModelGraphError, DTypeError
 */
export function readInput(
  name: string,
  type: TypeProto | undefined,
  length: number | undefined,
  { source }: ReadContext,
): Expanded {
  const where = `input "${name}"`;
  const refuse = (what: string): never => {
    throw new ModelGraphError(source, where, what);
  };
  if (isMissing(type)) refuse("has no type: write its element type and shape into the model");
  const container = containerOf(type) ?? refuse("is neither a tensor nor a list of tensors");
  const { tensor, sequence, optional } = container;
  if (!sequence && !optional) {
    if (length !== undefined) refuse("is a tensor: it takes no length");
    return { inputs: [tensorInfo(name, tensor, where, source)], nodes: [] };
  }
  const asked = `--length ${name}=N`;
  if (length === undefined)
    return refuse(
      sequence
        ? `is a sequence: say how many tensors it has, ${asked}`
        : `is optional: say whether it is given, 1 or 0, ${asked}`,
    );
  if (length > (sequence ? MAX_LENGTH : 1)) refuse(`has at most ${sequence ? MAX_LENGTH : 1} elements, not ${length}`);
  if (!sequence && length === 1) return { inputs: [tensorInfo(name, tensor, where, source)], nodes: [] };
  const inputs = Array.from({ length }, (_, k) => {
    const info = tensorInfo(elementName(name, k), tensor, where, source);
    // Elements have separate shapes: a symbol may differ between elements.
    return { ...info, shape: info.shape?.map((dim) => (typeof dim === "number" ? dim : undefined)) };
  });
  const operator = length > 0 ? "SequenceConstruct" : optional ? "Optional" : "SequenceEmpty";
  const node = { name: "", operator, domain: "", inputs: inputs.map((info) => info.name), outputs: [name] };
  return { inputs, nodes: [{ ...node, attributes: new Map() }] };
}
