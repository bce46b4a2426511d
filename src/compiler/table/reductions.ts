import {
  decides,
  decidesInType,
  FLOATS,
  FLOATS_OR_INTEGERS,
  JUMPING,
  SATURATING,
  SELECTION,
  WHOLE,
} from "../../model/decision/operatorClass.ts";
import * as read from "../../model/decision/readDecision.ts";
import { Reduce } from "../../program/types.ts";
import * as along from "../bounded/along.ts";
import * as bounded from "../bounded/rules.ts";
import { CONSTANT, DISCRETE, STEPS } from "../gradients/refusals.ts";
import * as chainsRules from "../gradients/rules/chains.ts";
import * as reductionsRules from "../gradients/rules/reductions.ts";
import * as scatterRules from "../gradients/rules/scatter.ts";
import { cumProd } from "../operators/linearAttention.ts";
import { hardmax } from "../operators/masks.ts";
import { det, reduceProd } from "../operators/reduceProduct.ts";
import { argument, cumSum, KINDS, reduceLogSumExp, reduceOperator, softmax } from "../operators/reduction.ts";
import { topK } from "../operators/topK.ts";
import { nonZero, unique } from "../operators/valueDependent.ts";
import { ONNX, type Row } from "./row.ts";

/** One number for all elements along axes. */
const REDUCTION = { ...ONNX, since: 1, use: "memory", halves: "float32", sets: "axes are an input from 18" } as const;

/** One element after the other. */
const CHAIN = { ...ONNX, use: "memory", decision: WHOLE, halves: "float32", bounded: "refused" } as const;

/** Weights of the elements along an axis. */
const SOFTMAX = {
  ...ONNX,
  since: 1,
  use: "memory",
  decision: FLOATS,
  halves: "float32",
  bounded: bounded.otherAxis("axis", -1, 13),
} as const;

/** Places of the largest or least elements. */
const ARGUMENT = { ...ONNX, since: 1, use: "memory", halves: "own" } as const;

/** Results whose size depends on data. */
const CHOSEN = { ...ONNX, use: "memory", halves: "own" } as const;

/** Reductions along axes, and choices along an axis. */
export const REDUCTION_ROWS: readonly Row[] = [
  {
    ...REDUCTION,
    operator: "ReduceL1",
    lower: reduceOperator(KINDS.ReduceL1, 18),
    decision: SATURATING,
    bounded: along.reduction("zeros"),
    gradient: reductionsRules.reduceL1,
    computes: "sum of abs",
  },
  {
    ...REDUCTION,
    operator: "ReduceL2",
    lower: reduceOperator(KINDS.ReduceL2, 18),
    decision: FLOATS_OR_INTEGERS,
    bounded: along.reduction("zeros"),
    gradient: reductionsRules.reduceL2,
    computes: "sqrt(dot(x, x))",
  },
  {
    ...REDUCTION,
    operator: "ReduceLogSum",
    lower: reduceOperator(KINDS.ReduceLogSum, 18),
    decision: FLOATS_OR_INTEGERS,
    bounded: along.reduction("zeros"),
    gradient: reductionsRules.reduceLogSum,
    computes: "log(sum)",
  },
  {
    ...REDUCTION,
    operator: "ReduceLogSumExp",
    lower: reduceLogSumExp,
    decision: FLOATS_OR_INTEGERS,
    bounded: along.reduction("least"),
    gradient: reductionsRules.reduceLogSumExp,
    computes: "m + log(sum exp(x - m)), m = max, 0 where that is infinite",
  },
  {
    ...REDUCTION,
    operator: "ReduceMax",
    lower: reduceOperator(KINDS.ReduceMax, 18),
    decision: SELECTION,
    halves: "own",
    bounded: along.reduction("least"),
    gradient: reductionsRules.reduceExtreme,
    computes: "max, also of bool",
  },
  {
    ...REDUCTION,
    operator: "ReduceMean",
    lower: reduceOperator(KINDS.ReduceMean, 18),
    decision: FLOATS_OR_INTEGERS,
    bounded: along.reduction("mean"),
    gradient: reductionsRules.reduceMean,
    computes: "RN(RN(sum) / RN(n))",
  },
  {
    ...REDUCTION,
    operator: "ReduceMin",
    lower: reduceOperator(KINDS.ReduceMin, 18),
    decision: SELECTION,
    halves: "own",
    bounded: along.reduction("greatest"),
    gradient: reductionsRules.reduceExtreme,
    computes: "min, also of bool",
  },
  {
    ...REDUCTION,
    operator: "ReduceProd",
    lower: reduceProd,
    decision: SATURATING,
    bounded: "refused",
    gradient: { composition: chainsRules.reduceProd },
    computes: "mul, from the left in row-major order; at most 1024 factors",
  },
  {
    ...REDUCTION,
    operator: "ReduceSum",
    lower: reduceOperator(KINDS.ReduceSum, 13),
    decision: SATURATING,
    halves: "own",
    bounded: along.reduction("zeros", 13),
    gradient: reductionsRules.reduceSum,
    computes: "sum",
    sets: "axes are an input from 13",
  },
  {
    ...REDUCTION,
    operator: "ReduceSumSquare",
    lower: reduceOperator(KINDS.ReduceSumSquare, 18),
    decision: SATURATING,
    bounded: along.reduction("zeros"),
    gradient: reductionsRules.reduceSumSquare,
    computes: "dot(x, x)",
  },

  {
    ...CHAIN,
    operator: "CumProd",
    since: 26,
    lower: cumProd,
    gradient: { composition: chainsRules.cumProd },
    computes: "mul, one after the other; at most 4096 factors",
  },
  {
    ...CHAIN,
    operator: "CumSum",
    since: 11,
    lower: cumSum,
    halves: "own",
    bounded: along.cumSum,
    gradient: reductionsRules.cumSum,
    computes: "each output an exact sum of its own",
  },
  {
    ...CHAIN,
    operator: "Det",
    since: 11,
    lower: det,
    decision: FLOATS,
    gradient: { composition: chainsRules.det },
    computes: "expansion along the first row, products and sums rounded; order at most 6",
  },

  {
    ...SOFTMAX,
    operator: "Hardmax",
    lower: hardmax,
    decision: decidesInType(read.hardmax),
    halves: "own",
    bounded: "refused",
    gradient: STEPS,
    computes: "i = argmax; position = i ? 1 : 0",
    sets: "as Softmax",
  },
  {
    ...SOFTMAX,
    operator: "LogSoftmax",
    lower: softmax(true),
    gradient: reductionsRules.logSoftmax,
    computes: "m = max; s = sum exp(x - m); (x - m) - log s",
    sets: "as Softmax",
  },
  {
    ...SOFTMAX,
    operator: "Softmax",
    lower: softmax(false),
    gradient: reductionsRules.softmax,
    computes: "m = max; e = exp(x - m); s = sum e; e / s",
    sets: "before 13 over all dimensions from `axis` (default 1)",
  },

  {
    ...ARGUMENT,
    operator: "ArgMax",
    lower: argument(Reduce.argmax, Reduce.argmaxLast),
    decision: decides(read.argument(true)),
    bounded: along.argument("least"),
    gradient: DISCRETE,
    computes: "argmax, lowest index (or highest: `select_last_index`); NaN is greatest",
  },
  {
    ...ARGUMENT,
    operator: "ArgMin",
    lower: argument(Reduce.argmin, Reduce.argminLast),
    decision: decides(read.argument(false)),
    bounded: along.argument("greatest"),
    gradient: DISCRETE,
    computes: "argmin; NaN is least",
  },
  {
    ...ARGUMENT,
    operator: "TopK",
    lower: topK,
    decision: { kind: "decision", read: read.topK, values: true, isUnordered: read.isUnordered },
    bounded: "refused",
    gradient: scatterRules.topK,
    computes:
      "the rank of an element is the count of those before it, NaN greatest, ties by index; output k reads the " +
      "element of rank k. Always sorted",
    sets: "`k` is an input from 10",
  },

  {
    ...CHOSEN,
    operator: "NonZero",
    since: 9,
    lower: nonZero,
    decision: decides(read.sign),
    bounded: bounded.ownCount,
    gradient: DISCRETE,
    computes: "of values known at compile time folded, else bounded",
  },
  {
    ...CHOSEN,
    operator: "Unique",
    since: 11,
    lower: unique,
    decision: JUMPING,
    bounded: "refused",
    gradient: CONSTANT,
    computes:
      "of values known at compile time folded, else bounded and without `axis`: pairs of all elements are " +
      "compared; NaN is last, and one value",
  },
];
