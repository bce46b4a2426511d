/** Makers for elementwise operators and reductions, with varied types, operator sets, ranks and absent inputs. */
import { DType, isFloat } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "../operators/makers.ts";
import type { RandomTensors } from "../random/tensors.ts";

const { int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool } = DType;
const SIGNED = [int8, int16, int32, int64];
const UNSIGNED = [uint8, uint16, uint32, uint64];
const NUMBERS: readonly DType[] = [F, ...SIGNED, ...UNSIGNED];

/** Small numbers of a type. */
export function numbers(r: RandomTensors, dtype: DType, shape: readonly number[], low = -9, high = 9): TensorData {
  if (isFloat(dtype)) return r.float(shape, low, high);
  return r.integer(dtype, shape, SIGNED.some((type) => type === dtype) ? low : Math.max(low, 0), high);
}

/** Constants or run-time inputs, as it falls. */
export function mixed(
  r: RandomTensors,
  op: string,
  inputs: readonly (TensorData | undefined)[],
  attributes: Readonly<Record<string, AttributeValue>>,
  outputs: Experiment["outputs"],
  opset: number,
): Experiment {
  const named = inputs.map((tensor, k) => [`i${k}`, tensor] as const);
  const given = named.flatMap(([name, tensor]) => (tensor ? [[name, tensor] as const] : []));
  const first = given.findIndex(() => r.int(0, 3) > 0);
  const atRunTime = new Set(given.filter((_, k) => k === Math.max(first, 0) || r.int(0, 2) > 0).map(([name]) => name));
  return {
    opset,
    operands: Object.fromEntries(given.filter(([name]) => atRunTime.has(name))),
    initializers: Object.fromEntries(given.filter(([name]) => !atRunTime.has(name))),
    nodes: [
      { op, inputs: named.map(([name, tensor]) => (tensor ? name : "")), outputs: Object.keys(outputs), attributes },
    ],
    outputs,
    atol: 1e-5,
  };
}

/** Two shapes that broadcast to each other, either the larger, or both. */
function pair(r: RandomTensors): [number[], number[]] {
  const shape = r.shape(r.int(0, 4), 4);
  const other = r.broadcastable(shape);
  const own =
    r.int(0, 2) === 0 ? shape.map((dim, d) => (d >= shape.length - other.length && r.int(0, 1) ? 1 : dim)) : shape;
  return r.int(0, 1) ? [own, other] : [other, own];
}

const arithmetic: Make = (r) => {
  const op = r.pick(["Add", "Sub", "Mul", "Div"]);
  const dtype = r.pick([F, int32, int64, ...(r.int(0, 1) ? NUMBERS : [])]);
  const [a, b] = pair(r);
  const inputs = [numbers(r, dtype, a), numbers(r, dtype, b, op === "Div" ? 1 : -9)];
  return mixed(r, op, inputs, {}, { y: dtype }, r.pick([7, 13, 14, 17]));
};

const comparison: Make = (r) => {
  const op = r.pick(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]);
  const dtype = r.pick(op === "Equal" ? [F, int32, int64, bool, uint8] : [F, int32, int64, uint8]);
  const [a, b] = pair(r);
  const make = (shape: number[]): TensorData => (dtype === bool ? r.bool(shape) : numbers(r, dtype, shape, -2, 2));
  return mixed(r, op, [make(a), make(b)], {}, { y: bool }, r.pick([12, 13, 16, 19]));
};

const several: Make = (r) => {
  const op = r.pick(["Max", "Min", "Sum", "Mean"]);
  const dtype = op === "Max" || op === "Min" ? r.pick([F, int32, int64, uint32, uint64]) : F;
  const shape = r.shape(r.int(0, 3), 4);
  const inputs = Array.from({ length: r.int(1, 5) }, () => numbers(r, dtype, r.broadcastable(shape)));
  return mixed(r, op, inputs, {}, { y: dtype }, r.pick([12, 13]));
};

const remainder: Make = (r) => {
  const dtype = r.pick([F, ...SIGNED, ...UNSIGNED]);
  const fmod = isFloat(dtype) ? 1 : r.int(0, 1);
  const [a, b] = pair(r);
  const divisor = numbers(r, dtype, b, 1, 5);
  return mixed(r, "Mod", [numbers(r, dtype, a), divisor], { fmod }, { y: dtype }, r.pick([10, 13]));
};

const powers: Make = (r) => {
  const [base, exponent] = [r.pick([F, int32, int64]), r.pick([F, int32, int64])];
  const [a, b] = pair(r);
  const inputs = [numbers(r, base, a, 1, 4), numbers(r, exponent, b, 0, 4)];
  return mixed(r, "Pow", inputs, {}, { y: base }, r.pick([12, 13, 15]));
};

const shift: Make = (r) => {
  const dtype = r.pick(UNSIGNED);
  const [a, b] = pair(r);
  const inputs = [numbers(r, dtype, a, 0, 200), numbers(r, dtype, b, 0, 7)];
  return mixed(r, "BitShift", inputs, { direction: r.pick(["LEFT", "RIGHT"]) }, { y: dtype }, 11);
};

const bitwise: Make = (r) => {
  const dtype = r.pick([...SIGNED, ...UNSIGNED]);
  const op = r.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"]);
  const [a, b] = pair(r);
  const inputs = [numbers(r, dtype, a, -100, 100), ...(op === "BitwiseNot" ? [] : [numbers(r, dtype, b, -100, 100)])];
  return mixed(r, op, inputs, {}, { y: dtype }, 18);
};

const oneInput: Make = (r) => {
  const any = ["Neg", "Abs", "Sign", "Relu", "Identity"];
  const floats = [
    "Ceil",
    "Floor",
    "Round",
    "Sqrt",
    "Exp",
    "Reciprocal",
    "Sigmoid",
    "Tanh",
    "Softplus",
    "Softsign",
    "Elu",
    "Selu",
    "Celu",
    "HardSwish",
    "Mish",
    "Erf",
    "Sin",
    "Cos",
    "Atan",
    "Sinh",
    "Cosh",
    "Asinh",
    "ThresholdedRelu",
    "Shrink",
    "HardSigmoid",
    "LeakyRelu",
  ];
  const integer = r.int(0, 1) === 1;
  const op = r.pick(integer ? any : [...any, ...floats]);
  const dtype = integer ? r.pick(op === "Neg" || op === "Relu" ? SIGNED : [...SIGNED, ...UNSIGNED]) : F;
  const low = op === "Sqrt" || op === "Reciprocal" ? 1 : -9;
  return mixed(r, op, [numbers(r, dtype, r.shape(r.int(0, 4), 4), low)], {}, { y: dtype }, r.pick([14, 16, 18]));
};

const clip: Make = (r) => {
  const dtype = r.pick([F, int8, uint8, int32, uint32, int64, uint64]);
  const bound = (low: number, high: number): TensorData | undefined =>
    r.int(0, 2) === 0 ? undefined : numbers(r, dtype, [], low, high);
  const inputs = [numbers(r, dtype, r.shape(r.int(0, 3))), bound(-5, 0), bound(1, 5)];
  while (inputs.length > 1 && inputs.at(-1) === undefined) inputs.pop();
  return mixed(r, "Clip", inputs, {}, { y: dtype }, r.pick([12, 13]));
};

const clipBefore11: Make = (r) => {
  const attributes: Record<string, AttributeValue> = {};
  if (r.int(0, 1)) attributes["min"] = { float: -1 };
  if (r.int(0, 1)) attributes["max"] = { float: 1.5 };
  return mixed(r, "Clip", [r.float(r.shape(2))], attributes, { y: F }, r.pick([7, 10]));
};

const casts: Make = (r) => {
  const [from, to] = [r.pick([...NUMBERS, bool]), r.pick([...NUMBERS, bool])];
  // Values outside the result type's range follow other rules: docs/program.md.
  const low = UNSIGNED.some((type) => type === to) && isFloat(from) ? 0 : -100;
  const x = from === bool ? r.bool(r.shape(2)) : numbers(r, from, r.shape(r.int(0, 3)), low, 100);
  return mixed(r, "Cast", [x], { to }, { y: to }, r.pick([9, 13, 19]));
};

const choices: Make = (r) => {
  const dtype = r.pick([F, int32, int64, uint8]);
  const [a, b] = pair(r);
  const shape = r.broadcastable(a);
  return mixed(
    r,
    "Where",
    [r.bool(shape), numbers(r, dtype, a), numbers(r, dtype, b)],
    {},
    { y: dtype },
    r.pick([9, 16]),
  );
};

const reduction: Make = (r) => {
  const op = r.pick(["Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSum", "LogSumExp"]);
  const opset = r.pick([11, 13, 18, 20]);
  const integers = ["Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1"].includes(op);
  const dtype = integers ? r.pick([F, F, int32, int64]) : F;
  const rank = r.int(0, 4);
  const low = op === "LogSum" ? 1 : -3;
  const list = r
    .permutation(rank)
    .slice(0, r.int(0, rank))
    .map((axis) => (r.int(0, 1) ? axis : axis - rank));
  const given = r.int(0, 3) > 0 && (opset >= 13 || list.length > 0);
  const asInput = opset >= (op === "Sum" ? 13 : 18);
  const attributes: Record<string, AttributeValue> = {};
  if (r.int(0, 2) > 0) attributes["keepdims"] = r.int(0, 1);
  if (asInput && r.int(0, 2) === 0) attributes["noop_with_empty_axes"] = r.int(0, 1);
  if (given && !asInput && list.length > 0) attributes["axes"] = list;
  const x = numbers(r, dtype, r.shape(rank, 4), low, 3);
  const made = mixed(r, `Reduce${op}`, [x], attributes, { y: dtype }, opset);
  if (!given || !asInput) return made;
  const [node] = made.nodes;
  const nodes = [{ ...node!, inputs: ["i0", "axes"] }];
  return { ...made, initializers: { ...made.initializers, axes: int64Tensor(list) }, nodes };
};

const position: Make = (r) => {
  const rank = r.int(1, 4);
  const opset = r.pick([11, 12, 13]);
  const attributes: Record<string, AttributeValue> = { keepdims: r.int(0, 1) };
  if (r.int(0, 3) > 0) attributes["axis"] = r.int(-rank, rank - 1);
  if (opset > 11) attributes["select_last_index"] = r.int(0, 1);
  const x = numbers(r, r.pick([F, int32, ...(opset > 12 ? [int8, uint8] : [])]), r.shape(rank, 4), -2, 2);
  return mixed(r, r.pick(["ArgMax", "ArgMin"]), [x], attributes, { y: int64 }, opset);
};

const softmax: Make = (r) => {
  const rank = r.int(1, 4);
  const opset = r.pick([9, 11, 13]);
  const attributes: Record<string, number> = r.int(0, 3) ? { axis: r.int(opset < 11 ? 0 : -rank, rank - 1) } : {};
  if (opset < 13 && rank === 1) attributes["axis"] = 0;
  return mixed(
    r,
    r.pick(["Softmax", "LogSoftmax", "Hardmax"]),
    [r.float(r.shape(rank, 4))],
    attributes,
    { y: F },
    opset,
  );
};

const cumulated: Make = (r) => {
  const rank = r.int(1, 4);
  const dtype = r.pick([F, int32, int64]);
  const axis = { dtype: int64, shape: r.pick([[], [1]]), bytes: int64Tensor([r.int(-rank, rank - 1)]).bytes };
  const made = single(
    "CumSum",
    [numbers(r, dtype, r.shape(rank, 4))],
    [axis],
    { exclusive: r.int(0, 1), reverse: r.int(0, 1) },
    dtype,
    r.pick([11, 14]),
  );
  return { ...made, atol: 1e-5 };
};

/** By name. */
export const ELEMENTWISE_FUZZ: Record<string, Make> = {
  arithmetic,
  comparison,
  several,
  remainder,
  powers,
  shift,
  bitwise,
  oneInput,
  clip,
  clipBefore11,
  casts,
  choices,
  reduction,
  position,
  softmax,
  cumulated,
};
