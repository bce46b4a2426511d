import type { TypeProto, TypeProto_Tensor } from "onnx-buf";
import type { DType } from "../../numerics/dtype.ts";
import { narrowLayout, narrowTypeOf } from "../../numerics/narrow.ts";
import { ModelGraphError } from "./errors.ts";
import type { Dim, Node, ValueInfo } from "./model.ts";
import type { ReadContext } from "./readContext.ts";
import { checkDType } from "./tensor.ts";

/** The most elements of a sequence that is an input: each is an input of the program. */
const MAX_LENGTH = 1024;

/** What stands for an input of the model: tensors, and the node that makes the sequence or optional of them. */
type Expanded = { inputs: readonly ValueInfo[]; nodes: readonly Node[] };

/** The name of element k of a sequence that is an input or output. */
export const elementName = (name: string, k: number): string => `${name}.${k}`;

type Container = { tensor: TypeProto_Tensor; sequence: boolean; optional: boolean };

/** What a type holds; undefined if that is no tensor, no sequence of tensors, and no optional of these. */
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

/** An output of the graph: a tensor, or a sequence of tensors. @throws ModelGraphError, DTypeError */
export function readOutput(name: string, type: TypeProto | undefined, { source }: ReadContext): ValueInfo {
  const where = `output "${name}"`;
  const container = containerOf(type);
  if (container === undefined) throw new ModelGraphError(source, where, "is neither a tensor nor a list of tensors");
  const info = tensorInfo(name, container.tensor, where, source);
  return container.sequence || container.optional ? { ...info, sequence: true } : info;
}

/**
 * An input of the graph. A sequence becomes as many inputs as it has elements, each of a shape of its own; an optional
 * one that is not given becomes none.
 * @param length How many elements a sequence has, and whether (1 or 0) an optional tensor is given.
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
    // Elements have shapes of their own: a symbol is not the same in all of them.
    return { ...info, shape: info.shape?.map((dim) => (typeof dim === "number" ? dim : undefined)) };
  });
  const operator = length > 0 ? "SequenceConstruct" : optional ? "Optional" : "SequenceEmpty";
  const node = { name: "", operator, domain: "", inputs: inputs.map((info) => info.name), outputs: [name] };
  return { inputs, nodes: [{ ...node, attributes: new Map() }] };
}
