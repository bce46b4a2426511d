import { moves, RANDOM } from "../../model/decision/operatorClass.ts";
import { DRAWN } from "../gradients/refusals.ts";
import * as activationsRules from "../gradients/rules/activations.ts";
import * as random from "../operators/random.ts";
import * as shape from "../operators/shape.ts";
import { ONNX, type Row } from "./row.ts";

/** Numbers by Philox. */
const DRAW = {
  ...ONNX,
  use: "fuse",
  decision: RANDOM,
  halves: "float32",
  bounded: "refused",
  draws: () => true,
  gradient: DRAWN,
} as const;

/** Operators that draw random numbers. */
export const RANDOM_ROWS: readonly Row[] = [
  { ...DRAW, operator: "Bernoulli", since: 15, lower: random.bernoulli, computes: "u < p; u as RandomUniform" },
  {
    ...DRAW,
    operator: "Multinomial",
    since: 7,
    use: "memory",
    lower: random.multinomial,
    computes: "how many exact partial sums of the softmax are at most u; needs a seed",
  },
  {
    ...DRAW,
    operator: "RandomNormal",
    since: 1,
    lower: random.randomNormal,
    computes:
      "mean + (scale * (sqrt(-2 * log u) * cos(RN(2 pi) * v))), u in (0, 1], v in [0, 1) as RandomUniform, folded",
  },
  {
    ...DRAW,
    operator: "RandomNormalLike",
    since: 1,
    use: "shape",
    lower: random.randomNormalLike,
    computes: "as RandomNormal",
  },
  {
    ...DRAW,
    operator: "RandomUniform",
    since: 1,
    lower: random.randomUniform,
    computes:
      "low + ((high - low) * u), u = k / 2^24 of Philox 4x32-10 (`src/compiler/operators/random.ts`) under the " +
      "seed given to the compiler, folded (`--seed`), or under one that is an input of the job " +
      "(`--seed-input`); refused without either",
  },
  {
    ...DRAW,
    operator: "RandomUniformLike",
    since: 1,
    use: "shape",
    lower: random.randomUniformLike,
    computes: "as RandomUniform",
  },

  {
    ...ONNX,
    operator: "Dropout",
    since: 1,
    use: "fuse",
    lower: shape.dropout,
    decision: moves(0),
    halves: "float32",
    bounded: "refused",
    draws: ({ inputs }) => (inputs[2] ?? "") !== "",
    gradient: { rule: activationsRules.dropout, without: [1] },
    computes:
      "identity, the mask all true; in training (scale * x) * mask, scale = RN(1 / RN(1 - ratio)), mask = " +
      "ratio <= u, u as RandomUniform",
    sets: "mask has the type of the data before 10",
  },
];
