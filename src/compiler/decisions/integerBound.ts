import { DType, dtypeBytes, isFloat, isSigned, readWord } from "../../numerics/dtype.ts";
import type { Dim, Node, TensorData } from "../../model/onnx/model.ts";
import type { OperatorClass } from "../../model/decision/operatorClass.ts";
import { castTarget } from "../../model/decision/readDecision.ts";
import { MAX_COUNT } from "../../program/limits.ts";

/** An integer or bool value: its type, the greatest magnitude of an element, and the most elements that it may have. */
export type IntegerBound = { dtype: DType; magnitude: number; count: number };

/** A larger constant is only known by its type. */
const MAX_READ = 2 ** 12;

/** Runtimes add integers of any type in float64, among others: a larger integer may be rounded there. */
const MAX_EXACT = 2 ** 53;

const SAME_ELEMENTS: readonly string[] = ["Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"];
const CHOICES: readonly string[] = ["Abs", "Clip", "Max", "Min", "Relu"];
const COMPARISONS: readonly string[] = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"];
const LOGIC: readonly string[] = ["And", "Not", "Or", "Xor"];

/** The greatest magnitude in a type of integers or bools. */
function typeMagnitude(dtype: DType): number {
  if (dtype === DType.bool) return 1;
  const bits = 8 * dtypeBytes(dtype);
  return isSigned(dtype) ? 2 ** (bits - 1) : 2 ** bits - 1;
}

/** Returns a bound with no more than the type and the number of elements allow. Magnitudes may be infinite, or NaN. */
function within(dtype: DType, magnitude = Infinity, count = Infinity): IntegerBound {
  const least = (a: number, b: number): number => (a <= b ? a : b);
  return { dtype, magnitude: least(magnitude, typeMagnitude(dtype)), count: least(count, MAX_COUNT) };
}

/** The bound of an input: a shape counts if every dimension is known. Undefined for floats. */
export function inputBound(dtype: DType, shape?: readonly Dim[]): IntegerBound | undefined {
  if (isFloat(dtype)) return undefined;
  return within(
    dtype,
    undefined,
    product(shape?.map((dim) => (typeof dim === "number" ? dim : Infinity)) ?? [Infinity]),
  );
}

/** The bound of fewer than 2^31 elements that are 0 or 1. Undefined for floats. */
export const maskBound = (dtype: DType): IntegerBound | undefined =>
  isFloat(dtype) ? undefined : within(dtype, 1, 2 ** 31 - 1);

/** The bound of a constant. Undefined for floats. */
export function constantBound({ dtype, shape, bytes }: TensorData): IntegerBound | undefined {
  const size = dtypeBytes(dtype);
  const count = bytes.length / size;
  if (isFloat(dtype) || count > MAX_READ) return inputBound(dtype, shape);
  let magnitude = 0;
  for (let i = 0; i < count; i++) magnitude = Math.max(magnitude, Math.abs(Number(readWord(bytes, i, dtype))));
  return within(dtype, magnitude, count);
}

/** The bound of a value chosen between two values. */
export const eitherBound = (a?: IntegerBound, b?: IntegerBound): IntegerBound | undefined =>
  a === undefined || b?.dtype !== a.dtype
    ? undefined
    : within(a.dtype, Math.max(a.magnitude, b.magnitude), Math.max(a.count, b.count));

export const isSameBound = (a?: IntegerBound, b?: IntegerBound): boolean =>
  a?.dtype === b?.dtype && a?.magnitude === b?.magnitude && a?.count === b?.count;

/**
 * Returns the bound of output k of a node that gives integers or bools; undefined if no rule gives one. SAFETY: a bound
 * that an element passes would call a saturated sum the same on every machine.
 * @param bounds The bounds of the node's inputs.
 */
export function resultBound(
  node: Node,
  of: OperatorClass,
  bounds: readonly (IntegerBound | undefined)[],
  k: number,
): IntegerBound | undefined {
  const { operator, domain } = node;
  // Of a left-out input nothing is taken.
  const given = bounds.filter((_, i) => (node.inputs[i] ?? "") !== "");
  const [first] = bounds;
  // Broadcasting gives at most every pair.
  const pairs = product(given.map((bound) => bound?.count ?? Infinity));
  if (of.kind === "shape") return filled(node);
  if (of.kind === "movement") {
    const data = bounds.filter((_, i) => (of.data?.includes(i) ?? true) && (node.inputs[i] ?? "") !== "");
    const all = data.every((bound) => bound !== undefined) ? data : [];
    const magnitude = Math.max(0, ...all.map((bound) => bound.magnitude));
    return all[0] && within(all[0].dtype, magnitude, SAME_ELEMENTS.includes(operator) ? all[0].count : undefined);
  }
  if (domain !== "") return undefined;
  if (of.kind === "cast") return castBound(operator === "CastLike" ? bounds[1]?.dtype : castTarget(node), first);
  if (COMPARISONS.includes(operator) || LOGIC.includes(operator)) return within(DType.bool, 1, pairs);
  if (operator === "ArgMax" || operator === "ArgMin") return within(DType.int64, first?.count ?? MAX_COUNT);
  if (operator === "Sign") return first && within(first.dtype, 1, first.count);
  const all = given.every((bound) => bound !== undefined) && k === 0 ? given : [];
  const sum = all.reduce((total, { magnitude }) => total + magnitude, 0);
  const dtype = all[0]?.dtype;
  if (dtype === undefined) return undefined;
  if (operator === "Add" || operator === "Sum") return within(dtype, sum, pairs);
  // A difference of integers without sign wraps around.
  if (operator === "Sub" || operator === "Neg") return within(dtype, isSigned(dtype) ? sum : undefined, pairs);
  if (operator === "Mul") return within(dtype, product(all.map(({ magnitude }) => magnitude)), pairs);
  if (CHOICES.includes(operator)) {
    const ends = operator === "Clip" && all.length === 3 ? all.slice(1) : all;
    return within(dtype, Math.max(...ends.map(({ magnitude }) => magnitude)), pairs);
  }
  return of.kind === "whole" && of.saturates ? within(dtype, sumBound(operator, all)) : undefined;
}

/**
 * Whether a sum or a product of integers stays exact in every runtime, whatever the order: no partial result can pass
 * the ends of the type, nor 2^53.
 * @param bounds The bounds of the node's inputs.
 */
export function staysExact({ operator, inputs }: Node, bounds: readonly (IntegerBound | undefined)[]): boolean {
  const terms = operator === "Einsum" ? inputs.map((_, i) => bounds[i]) : [bounds[0]];
  const all = terms.every((bound) => bound !== undefined) ? terms : [];
  return all.length > 0 && sumBound(operator, all) < Math.min(typeMagnitude(all[0]!.dtype), MAX_EXACT);
}

/** The greatest magnitude among a reduction's result and partial results. NaN is no bound. */
function sumBound(operator: string, bounds: readonly IntegerBound[]): number {
  const [{ magnitude, count }] = bounds as [IntegerBound];
  if (operator === "ReduceProd") return Math.max(1, magnitude) ** count;
  if (operator === "ReduceSumSquare") return magnitude * magnitude * count;
  if (operator === "ReduceSum" || operator === "ReduceL1") return magnitude * count;
  // Einsum: part of the operands may be multiplied and added up first.
  return product(bounds.map((bound) => Math.max(1, bound.magnitude) * Math.max(1, bound.count)));
}

const product = (numbers: readonly number[]): number => numbers.reduce((all, number) => all * number, 1);

/** The bound of a value that an attribute gives: the value itself, or the one element that fills a shape. */
function filled({ operator, attributes }: Node): IntegerBound | undefined {
  const value = attributes.get("value");
  if (value?.kind !== "tensor") return undefined;
  const bound = constantBound(value.value);
  return operator === "Constant" ? bound : bound && within(bound.dtype, bound.magnitude);
}

/** The bound of converted elements: values outside the new type's range wrap around on conversion. */
function castBound(to: DType | undefined, from: IntegerBound | undefined): IntegerBound | undefined {
  if (to === undefined || isFloat(to)) return undefined;
  const mayWrap = from === undefined || (isSigned(from.dtype) && !isSigned(to) && to !== DType.bool);
  return within(to, mayWrap ? undefined : from.magnitude, from?.count);
}
