import type { Body } from "../../../model/onnx/model.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";

/** A name's value during lowering: a tensor, or a list of tensors existing at compile time only. */
export type GraphValue = LazyTensor | readonly LazyTensor[];

/** An optional without an element: the only list that is no sequence. */
export const ABSENT: readonly LazyTensor[] = Object.freeze([]);

export const isSequence = (value: GraphValue | undefined): value is readonly LazyTensor[] => Array.isArray(value);

/** The lowering's view of a node on bodies or sequences. */
export type ControlContext = {
  context: NodeContext;
  operands: readonly (GraphValue | undefined)[];
  /** Lowers a body with the given inputs; its outputs. */
  run: (body: Body, inputs: readonly GraphValue[]) => GraphValue[];
};

/** Turns a node for control flow or sequences into the node's output values. */
export type LowerControl = (control: ControlContext) => GraphValue[];

/** An operand that must be a tensor. */
export function tensorOperand({ context, operands }: ControlContext, index: number): LazyTensor {
  const value = operands[index];
  if (value === undefined || isSequence(value)) return context.fail(`input ${index} is no tensor`);
  return plainTensor(context, value, `input ${index}`);
}

/** Returns a tensor without a narrow type: sequences and choices between branches do not keep narrow types. */
export function plainTensor(context: NodeContext, tensor: LazyTensor, what: string): LazyTensor {
  if (tensor.narrow !== undefined) context.refuse(what, `is of ${tensor.narrow}: cast it to another type first`);
  return tensor;
}

/** An operand that must be a sequence. */
export function sequenceOperand({ context, operands }: ControlContext, index: number): readonly LazyTensor[] {
  const value = operands[index];
  return isSequence(value) && value !== ABSENT ? value : context.fail(`input ${index} is no sequence`);
}
