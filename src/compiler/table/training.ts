import { FLOATS, NOT_LOOKED_INTO } from "../../model/decision/operatorClass.ts";
import type { Row } from "./row.ts";

const TRAINING = { domain: "ai.onnx.preview.training", since: 1, until: 1, use: "rewritten" } as const;

/** An update of tensors by their gradients. */
const OPTIMISER = { ...TRAINING, decision: FLOATS, computes: "as ONNX defines them, each operation rounded" } as const;

/** Operators in ai.onnx.preview.training. `src/compiler/training` rewrites them in ai.onnx operators. */
export const TRAINING_ROWS: readonly Row[] = [
  {
    ...TRAINING,
    operator: "Gradient",
    decision: NOT_LOOKED_INTO,
    computes:
      "reverse-mode differentiation of the sum of `y` by each of `xs`. A value of `xs` counts as given. If the " +
      "inputs are other values than `xs` and `zs`, the part of the graph between is evaluated at them. Whole " +
      "numbers and truth values are no path",
  },
  { ...OPTIMISER, operator: "Adagrad" },
  { ...OPTIMISER, operator: "Adam" },
  { ...OPTIMISER, operator: "Momentum" },
];
