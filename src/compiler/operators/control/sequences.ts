import { DType } from "../../../numerics/dtype.ts";
import { int64Tensor } from "../../../model/onnx/tensorData.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import {
  ABSENT,
  isSequence,
  sequenceOperand,
  tensorOperand,
  type ControlContext,
  type LowerControl,
  type GraphValue,
} from "./types.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { partsAlong } from "../../lowering/slices.ts";

/** A position in a sequence, counted from the end if negative. */
function position(control: ControlContext, index: number, otherwise: number, size: number): number {
  const { context, operands } = control;
  if (operands[index] === undefined) return otherwise;
  const given = Number(context.constantWords(tensorOperand(control, index), "position")[0]);
  const at = given < 0 ? given + size : given;
  return at >= 0 && at <= size ? at : context.fail(`position ${given} of ${size} elements`);
}

export const sequenceEmpty: LowerControl = ({ context }) => {
  context.ignore("dtype");
  return [[]];
};

export const sequenceConstruct: LowerControl = (control) => [control.operands.map((_, k) => tensorOperand(control, k))];

export const sequenceInsert: LowerControl = (control) => {
  const list = [...sequenceOperand(control, 0)];
  list.splice(position(control, 2, list.length, list.length), 0, tensorOperand(control, 1));
  return [list];
};

export const sequenceErase: LowerControl = (control) => {
  const list = [...sequenceOperand(control, 0)];
  list.splice(position(control, 1, list.length - 1, list.length), 1);
  return [list];
};

export const sequenceAt: LowerControl = (control) => {
  const list = sequenceOperand(control, 0);
  return [list[position(control, 1, 0, list.length)] ?? control.context.fail("the position is outside the sequence")];
};

export const sequenceLength: LowerControl = (control) => [
  control.context.builder.constant(int64Tensor([sequenceOperand(control, 0).length], [])),
];

/** ConcatFromSequence along an axis, or along a new one. */
export const concatFromSequence: LowerControl = (control) => {
  const { context } = control;
  const list = sequenceOperand(control, 0);
  const first = list[0] ?? context.fail("the sequence is empty");
  const isNew = context.int("new_axis", 0) !== 0;
  const axis = context.axis(context.int("axis", 0), first.shape.length + (isNew ? 1 : 0));
  const parts = isNew
    ? list.map((one) => context.builder.reshape(one, [...one.shape.slice(0, axis), 1, ...one.shape.slice(axis)]))
    : list;
  const shapes = new Set(
    parts.map((one) => `${one.dtype}:${one.shape.map((dim, d) => (d === axis ? 0 : dim)).join()}`),
  );
  if (shapes.size > 1) return context.fail("the elements differ outside the axis");
  return [concatenate(context, parts, axis)];
};

/**
 * SplitToSequence: parts with the given size or sizes. Without sizes the parts are single elements, and `keepdims` = 0
 * removes the split axis.
 */
export const splitToSequence: LowerControl = (control) => {
  const { context, operands } = control;
  const x = tensorOperand(control, 0);
  const axis = context.axis(context.int("axis", 0), x.shape.length);
  const keep = context.int("keepdims", 1) !== 0;
  const size = x.shape[axis]!;
  const given = operands[1] === undefined ? undefined : tensorOperand(control, 1);
  const words = given && context.constantWords(given, "split").map(Number);
  const every = words?.[0] ?? 1;
  const sizes =
    words !== undefined && given?.shape.length === 1
      ? words
      : context.tabulate(Math.ceil(size / every), (k) => Math.min(every, size - k * every));
  if (sizes.reduce((a, b) => a + b, 0) !== size) return context.fail(`parts [${sizes.join()}] of ${size}`);
  const parts = partsAlong(context, x, axis, sizes).map((part): LazyTensor => {
    if (words !== undefined || keep) return part;
    return context.builder.reshape(
      part,
      x.shape.filter((_, d) => d !== axis),
    );
  });
  return [parts];
};

/** Optional: the given element, or an optional without an element. */
export const optional: LowerControl = ({ context, operands }) => {
  context.ignore("type");
  return [operands[0] ?? ABSENT];
};

/** OptionalGetElement of something that is there: itself. */
export const optionalGetElement: LowerControl = ({ context, operands }) => {
  const [value = ABSENT] = operands;
  return [value === ABSENT ? context.fail("input 0 is an optional without an element") : value];
};

export const optionalHasElement: LowerControl = ({ context, operands }) => {
  const [value = ABSENT] = operands;
  return [context.scalar(DType.bool, value === ABSENT ? 0n : 1n)];
};

/** SequenceMap: runs the body for each element; a tensor among the sequences is the same for all elements. */
export const sequenceMap: LowerControl = ({ context, operands, run }) => {
  const body = context.graph("body");
  const [first] = operands;
  if (!isSequence(first)) return context.fail("input 0 is no sequence");
  const results = first.map((_, i) =>
    run(
      body,
      operands.map((operand, k): GraphValue => {
        if (!isSequence(operand)) return operand ?? context.fail(`input ${k} is missing`);
        return operand[i] ?? context.fail(`input ${k} has ${operand.length} elements, not ${first.length}`);
      }),
    ),
  );
  return body.outputs.map((_, k) =>
    results.map((values): LazyTensor => {
      const value = values[k];
      return value === undefined || isSequence(value) ? context.fail(`output ${k} of its body is no tensor`) : value;
    }),
  );
};
