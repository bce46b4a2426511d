import { NOT_LOOKED_INTO } from "../../model/decision/operatorClass.ts";
import { raiseThreshold } from "../operators/internal/raiseThreshold.ts";
import { windowMaximum } from "../operators/pool.ts";
import { randomWords } from "../operators/internal/randomWords.ts";
import type { Row } from "./row.ts";

/** Operators that the compiler writes around decoders and inputs, and into gradients. */
const WRITTEN = {
  domain: "refute",
  until: 1,
  since: 1,
  use: "memory",
  decision: NOT_LOOKED_INTO,
  halves: "float32",
  bounded: "refused",
  gradient: { refused: "the operator has no gradient rule" },
} as const;

/** Operators found only in compiler-made graphs. */
export const INTERNAL_ROWS: readonly Row[] = [
  {
    ...WRITTEN,
    operator: "RaiseThreshold",
    lower: raiseThreshold,
    computes:
      "one step of a bisection: low + step if the weights of the keys from there on reach what is wanted, else " +
      "low",
  },
  {
    ...WRITTEN,
    operator: "RandomWords",
    lower: randomWords,
    computes: "Philox 4x32-10 of a seed and an index that are inputs",
  },
  {
    ...WRITTEN,
    operator: "WindowMaximum",
    lower: windowMaximum,
    computes: "the place of the first greatest element within each window of a MaxPool",
  },
];
