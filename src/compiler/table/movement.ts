import { JUMPING, moves, SCATTER } from "../../model/decision/operatorClass.ts";
import * as along from "../bounded/along.ts";
import * as bounded from "../bounded/rules.ts";
import * as arithmeticRules from "../gradients/rules/arithmetic.ts";
import * as movementRules from "../gradients/rules/movement.ts";
import * as scatterRules from "../gradients/rules/scatter.ts";
import * as gather from "../operators/gather.ts";
import { oneHot, trilu } from "../operators/masks.ts";
import * as movement from "../operators/movement.ts";
import { pad } from "../operators/pad.ts";
import { reverseSequence } from "../operators/reverseSequence.ts";
import { maxUnpool, scatterElements, scatterNd } from "../operators/scatter.ts";
import * as shape from "../operators/shape.ts";
import { centerCropPad } from "../operators/spatialTransforms.ts";
import { tensorScatter } from "../operators/tensorScatter.ts";
import { compress } from "../operators/valueDependent.ts";
import { ONNX, type Row } from "./row.ts";

/** Other digits of the same elements. */
const VIEW = { ...ONNX, use: "fuse", decision: moves(0), halves: "own", narrow: "moved" } as const;

/** Elements of one input, read from memory. */
const COPY = { ...ONNX, use: "memory", decision: moves(0), halves: "own", bounded: "refused" } as const;

/** Elements at places that are an input. */
const READ = {
  ...ONNX,
  use: "memory",
  decision: moves(0),
  halves: "own",
  narrow: "moved",
  bounded: bounded.gatherAt,
} as const;

/** Updates that are written to places. */
const WRITE = { ...ONNX, use: "memory", decision: SCATTER, halves: "own", bounded: along.scatter } as const;

/** Elements of several inputs. */
const FILL = { ...ONNX, use: "memory", halves: "own", bounded: "refused" } as const;

/** Operators that move elements. */
export const MOVEMENT_ROWS: readonly Row[] = [
  {
    ...VIEW,
    operator: "DepthToSpace",
    since: 1,
    lower: shape.depthToSpace,
    bounded: "refused",
    gradient: movementRules.depthToSpace,
    computes: "view",
  },
  {
    ...VIEW,
    operator: "Expand",
    since: 8,
    lower: movement.expand,
    bounded: bounded.expand,
    gradient: movementRules.expand,
    computes: "view",
  },
  {
    ...VIEW,
    operator: "Flatten",
    since: 1,
    lower: shape.flatten,
    bounded: bounded.reshaped,
    gradient: movementRules.reshape,
    computes: "view",
  },
  {
    ...VIEW,
    operator: "Identity",
    since: 1,
    lower: shape.identity,
    bounded: bounded.keeps,
    gradient: arithmeticRules.identity,
    computes: "nothing",
  },
  {
    ...VIEW,
    operator: "Reshape",
    since: 5,
    lower: shape.reshape,
    bounded: bounded.reshaped,
    gradient: movementRules.reshape,
    computes: "view",
    sets: "`allowzero` from 14",
  },
  {
    ...VIEW,
    operator: "Slice",
    since: 1,
    lower: movement.slice,
    bounded: bounded.slice,
    gradient: movementRules.slice,
    computes: "view",
    sets: "attributes before 10",
  },
  {
    ...VIEW,
    operator: "SpaceToDepth",
    since: 1,
    lower: shape.spaceToDepth,
    bounded: "refused",
    gradient: movementRules.spaceToDepth,
    computes: "view",
  },
  {
    ...VIEW,
    operator: "Split",
    since: 2,
    lower: movement.split,
    bounded: bounded.split,
    gradient: { rule: movementRules.split, allOutputs: true },
    computes: "views",
    sets: "`split` is an input from 13, `num_outputs` from 18",
  },
  {
    ...VIEW,
    operator: "Squeeze",
    since: 1,
    lower: shape.squeeze,
    bounded: bounded.squeeze,
    gradient: movementRules.reshape,
    computes: "view",
    sets: "axes are an input from 13",
  },
  {
    ...VIEW,
    operator: "Transpose",
    since: 1,
    lower: movement.transpose,
    bounded: bounded.transpose,
    gradient: movementRules.transpose,
    computes: "view",
  },
  {
    ...VIEW,
    operator: "Trilu",
    since: 14,
    lower: trilu,
    bounded: "refused",
    gradient: movementRules.trilu,
    computes: "position in the triangle ? x : 0",
  },
  {
    ...VIEW,
    operator: "Unsqueeze",
    since: 1,
    lower: shape.unsqueeze,
    bounded: bounded.unsqueeze,
    gradient: movementRules.reshape,
    computes: "view",
    sets: "axes are an input from 13",
  },

  {
    ...COPY,
    operator: "CenterCropPad",
    since: 18,
    lower: centerCropPad,
    halves: "float32",
    gradient: movementRules.centerCropPad,
    computes: "view, bounded",
  },
  {
    ...COPY,
    operator: "Compress",
    since: 9,
    lower: compress,
    narrow: "moved",
    bounded: bounded.ownCount,
    gradient: movementRules.compress,
    computes:
      'view through constant indices of a condition that is known at compile time, else bounded ("Sizes that ' +
      'depend on data" below)',
  },
  {
    ...COPY,
    operator: "Concat",
    since: 1,
    lower: movement.concat,
    decision: { kind: "movement" },
    narrow: "moved",
    bounded: bounded.concat,
    gradient: movementRules.concat,
    computes: "choice by position; more than 12 inputs level by level",
  },
  {
    ...COPY,
    operator: "ReverseSequence",
    since: 10,
    lower: reverseSequence,
    narrow: "moved",
    gradient: movementRules.reverseSequence,
    computes: "indirect read",
  },
  {
    ...COPY,
    operator: "Tile",
    since: 6,
    lower: movement.tile,
    narrow: "moved",
    gradient: movementRules.tile,
    computes: "view",
  },

  {
    ...READ,
    operator: "Gather",
    since: 1,
    lower: gather.gather,
    bounded: bounded.gather,
    gradient: movementRules.gather,
    computes: "indirect read: a negative index wraps once, out of range gives 0",
  },
  {
    ...READ,
    operator: "GatherElements",
    since: 11,
    lower: gather.gatherElements,
    gradient: movementRules.gatherElements,
    computes: "indirect read",
  },
  {
    ...READ,
    operator: "GatherND",
    since: 11,
    lower: gather.gatherNd,
    gradient: scatterRules.gatherNd,
    computes: "indirect read, one index a dimension",
  },

  {
    ...WRITE,
    operator: "Scatter",
    since: 9,
    until: 10,
    lower: scatterElements,
    bounded: "refused",
    gradient: scatterRules.scatterElements,
    computes: "as ScatterElements; to operator set 10",
  },
  {
    ...WRITE,
    operator: "ScatterElements",
    since: 11,
    lower: scatterElements,
    gradient: scatterRules.scatterElements,
    computes:
      "the last update at an index wins; `reduction` add, max, min: data with the exact sum (max, min) of its " +
      "updates; mul: one product after the other, at places known at compile time. An index out of range " +
      "writes nothing",
    sets: "`reduction` from 16, max and min from 18",
  },
  {
    ...WRITE,
    operator: "ScatterND",
    since: 11,
    lower: scatterNd,
    gradient: scatterRules.scatterNd,
    computes: "as ScatterElements",
    sets: "as ScatterElements",
  },

  {
    ...FILL,
    operator: "MaxUnpool",
    since: 9,
    lower: maxUnpool,
    decision: JUMPING,
    gradient: scatterRules.maxUnpool,
    computes:
      "each value to its index, the last where two meet; the rest 0. `output_shape` only as it would be inferred",
  },
  {
    ...FILL,
    operator: "OneHot",
    since: 9,
    lower: oneHot,
    decision: moves(2),
    gradient: { rule: arithmeticRules.oneHot, without: [1] },
    computes: "position = index ? on : off",
  },
  {
    ...FILL,
    operator: "Pad",
    since: 2,
    lower: pad,
    decision: moves(0, 2),
    gradient: { rule: movementRules.pad, without: [2] },
    computes: "fill outside (constant), or reads through known indices (reflect, edge, wrap); negative pads cut first",
    sets: "attributes before 11, `axes` from 18",
  },
  {
    ...FILL,
    operator: "TensorScatter",
    since: 24,
    lower: tensorScatter,
    decision: moves(0, 1),
    halves: "float32",
    gradient: scatterRules.tensorScatter,
    computes: "a choice of update and cache by position",
  },
];
