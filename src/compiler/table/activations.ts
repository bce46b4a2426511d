import { FLOATS, JUMPING, SELECTION } from "../../model/decision/operatorClass.ts";
import * as bounded from "../bounded/rules.ts";
import * as activationsRules from "../gradients/rules/activations.ts";
import { over, square, times } from "../gradients/rules/functions.ts";
import * as activations from "../operators/activations.ts";
import * as exponentials from "../operators/exponentials.ts";
import { ONNX, type Row } from "./row.ts";

/** A function of each element, of several primitives. */
const ACTIVATION = { ...ONNX, use: "fuse", decision: FLOATS, halves: "float32", bounded: bounded.elementwise } as const;

/** Bounds of each element. */
const BOUND = {
  ...ONNX,
  since: 1,
  use: "fuse",
  decision: SELECTION,
  halves: "own",
  bounded: bounded.elementwise,
} as const;

/** Activations that jump. */
const THRESHOLD = { ...ONNX, use: "fuse", decision: JUMPING, halves: "float32", bounded: bounded.elementwise } as const;

/** Activations. */
export const ACTIVATION_ROWS: readonly Row[] = [
  {
    ...ACTIVATION,
    operator: "Celu",
    since: 12,
    lower: exponentials.celu,
    gradient: activationsRules.celu,
    computes: "max(0, x) + min(0, alpha * expm1(x / alpha))",
  },
  {
    ...ACTIVATION,
    operator: "Elu",
    since: 1,
    lower: exponentials.elu,
    gradient: activationsRules.elu,
    computes: "x < 0 ? alpha * expm1(x) : x",
  },
  {
    ...ACTIVATION,
    operator: "Gelu",
    since: 20,
    lower: activations.gelu,
    gradient: activationsRules.gelu,
    computes:
      "(0.5 * x) * (1 + erf(x / RN(sqrt 2))); `approximate` = tanh: (0.5 * x) * (1 + tanh(RN(sqrt(2 / pi)) * " +
      "(x + 0.044715 * ((x * x) * x))))",
  },
  {
    ...ACTIVATION,
    operator: "HardSigmoid",
    since: 1,
    lower: activations.hardSigmoid,
    gradient: activationsRules.hardSigmoid,
    computes: "max(0, min(1, (alpha * x) + beta))",
  },
  {
    ...ACTIVATION,
    operator: "HardSwish",
    since: 14,
    lower: activations.hardSwish,
    gradient: activationsRules.hardSwish,
    computes: "x * max(0, min(1, (RN(1/6) * x) + 0.5))",
  },
  {
    ...ACTIVATION,
    operator: "LeakyRelu",
    since: 1,
    lower: activations.leakyRelu,
    gradient: activationsRules.leakyRelu,
    computes: "x < 0 ? alpha * x : x",
  },
  {
    ...ACTIVATION,
    operator: "Mish",
    since: 18,
    lower: exponentials.mish,
    gradient: activationsRules.mish,
    computes: "x * tanh(Softplus(x))",
  },
  {
    ...ACTIVATION,
    operator: "PRelu",
    since: 1,
    lower: activations.pRelu,
    gradient: activationsRules.prelu,
    computes: "x < 0 ? slope * x : x",
  },
  {
    ...ACTIVATION,
    operator: "Selu",
    since: 6,
    lower: exponentials.selu,
    gradient: activationsRules.selu,
    computes: "gamma * (x < 0 ? alpha * expm1(x) : x)",
  },
  {
    ...ACTIVATION,
    operator: "Softplus",
    since: 1,
    lower: exponentials.softplus,
    gradient: times((b, x) => b.op("Sigmoid", x)),
    computes: "max(x, 0) + log1p(exp(-abs x))",
  },
  {
    ...ACTIVATION,
    operator: "Softsign",
    since: 1,
    lower: activations.softsign,
    gradient: over((b, x) => square(b, b.add(b.f(1), b.op("Abs", x)))),
    computes: "x / (1 + abs x)",
  },
  {
    ...ACTIVATION,
    operator: "Swish",
    since: 24,
    lower: activations.swish,
    gradient: activationsRules.swish,
    computes: "x * sigmoid(alpha * x)",
  },

  {
    ...BOUND,
    operator: "Clip",
    lower: activations.clip,
    gradient: { rule: activationsRules.clip, without: [1, 2], limits: "not by its bounds" },
    computes: "min(max(x, low), high)",
    sets: "bounds are attributes before 11",
  },
  { ...BOUND, operator: "Relu", lower: activations.relu, gradient: activationsRules.relu, computes: "max(x, 0)" },

  {
    ...THRESHOLD,
    operator: "Shrink",
    since: 9,
    lower: activations.shrink,
    gradient: activationsRules.shrink,
    computes: "x > lambd ? x - bias : x < -lambd ? x + bias : 0",
  },
  {
    ...THRESHOLD,
    operator: "ThresholdedRelu",
    since: 10,
    lower: activations.thresholdedRelu,
    gradient: activationsRules.thresholdedRelu,
    computes: "x > alpha ? x : 0",
  },
];
