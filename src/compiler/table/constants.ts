import { FLOATS, INTEGERS_OF_SHAPE, WHOLE } from "../../model/decision/operatorClass.ts";
import * as along from "../bounded/along.ts";
import { CONSTANT, DISCRETE } from "../gradients/refusals.ts";
import * as generators from "../operators/generators.ts";
import * as shape from "../operators/shape.ts";
import { melWeightMatrix } from "../operators/spectrum.ts";
import { ONNX, type Row } from "./row.ts";

/** Elements that attributes give. */
const FOLDED = {
  ...ONNX,
  use: "fuse",
  decision: { kind: "shape", gives: "attribute" },
  halves: "own",
  bounded: "refused",
  gradient: CONSTANT,
} as const;

/** Dimensions of the input. */
const DIMENSIONS = {
  ...ONNX,
  since: 1,
  use: "shape",
  decision: INTEGERS_OF_SHAPE,
  halves: "own",
  narrow: "moved",
  gradient: DISCRETE,
  computes: "folded",
} as const;

/** Factors that spectra are made with. */
const WINDOW = {
  ...ONNX,
  since: 17,
  use: "fuse",
  decision: FLOATS,
  halves: "float32",
  bounded: "refused",
  gradient: CONSTANT,
} as const;

/** Tensors that are known at compile time: they follow from attributes and shapes. */
export const CONSTANT_ROWS: readonly Row[] = [
  {
    ...FOLDED,
    operator: "Constant",
    since: 1,
    lower: shape.constant,
    computes: "folded; kinds value, value_float(s), value_int(s)",
  },
  {
    ...FOLDED,
    operator: "ConstantOfShape",
    since: 9,
    lower: shape.constantOfShape,
    narrow: "aware",
    computes: "folded",
  },
  {
    ...FOLDED,
    operator: "EyeLike",
    since: 9,
    use: "shape",
    lower: generators.eyeLike,
    decision: { kind: "shape", gives: "either" },
    computes: "folded",
  },
  {
    ...FOLDED,
    operator: "Range",
    since: 11,
    lower: generators.range,
    decision: WHOLE,
    computes: "folded; int16, int32, int64, floats (added up, the number of elements counted in float64)",
  },

  { ...DIMENSIONS, operator: "Shape", lower: shape.shape, bounded: along.shape, sets: "`start`, `end` from 15" },
  { ...DIMENSIONS, operator: "Size", lower: shape.size, bounded: along.size },

  {
    ...WINDOW,
    operator: "BlackmanWindow",
    lower: generators.cosineWindow(0.42, 0.5, 0.08),
    computes: "a0 - a1 * cos(t) + a2 * cos(2 * t), t = i * (RN(2 pi) / n), folded; a = 0.42, 0.5, 0.08",
  },
  {
    ...WINDOW,
    operator: "HammingWindow",
    lower: generators.cosineWindow(25 / 46, 21 / 46, 0),
    computes: "a0 - a1 * cos(t) + a2 * cos(2 * t), t = i * (RN(2 pi) / n), folded; a = 25/46, 21/46, 0",
  },
  {
    ...WINDOW,
    operator: "HannWindow",
    lower: generators.cosineWindow(0.5, 0.5, 0),
    computes: "a0 - a1 * cos(t) + a2 * cos(2 * t), t = i * (RN(2 pi) / n), folded; a = 0.5, 0.5, 0",
  },
  { ...WINDOW, operator: "MelWeightMatrix", lower: melWeightMatrix, computes: "a constant" },
];
