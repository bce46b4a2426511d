import { FLOATS, SATURATING, SELECTION, WHOLE } from "../../model/decision/operatorClass.ts";
import { Reduce } from "../../program/types.ts";
import * as bounded from "../bounded/rules.ts";
import * as convolutionRules from "../gradients/rules/convolution.ts";
import * as einsumRules from "../gradients/rules/einsum.ts";
import * as normsRules from "../gradients/rules/norms.ts";
import * as poolingRules from "../gradients/rules/pooling.ts";
import * as productsRules from "../gradients/rules/products.ts";
import * as reductionsRules from "../gradients/rules/reductions.ts";
import * as spatialRules from "../gradients/rules/spatial.ts";
import { conv } from "../operators/conv.ts";
import { convTranspose } from "../operators/convTranspose.ts";
import { einsum } from "../operators/einsum.ts";
import { globalLpPool, lpPool } from "../operators/lpPool.ts";
import { gemm, matMul } from "../operators/matmul.ts";
import { averagePool, globalPool, maxPool } from "../operators/pool.ts";
import { deformConv } from "../operators/sampling/deformConv.ts";
import { col2Im } from "../operators/spatialTransforms.ts";
import { convolutionStorage, poolingStorage } from "../steps/storage.ts";
import { ONNX, type Row } from "./row.ts";

/** Sums of products. */
const PRODUCT = { ...ONNX, use: "memory", decision: WHOLE, halves: "own", bounded: bounded.rows } as const;

/** Sums of products over windows. */
const CONVOLUTION = { ...ONNX, use: "memory", decision: FLOATS, halves: "float32", bounded: "refused" } as const;

/** One number for each window. */
const POOL = { ...ONNX, use: "memory", decision: FLOATS, halves: "float32", bounded: bounded.batch } as const;

/** Matrix products, convolutions and pooling. */
export const PRODUCT_ROWS: readonly Row[] = [
  {
    ...PRODUCT,
    operator: "Einsum",
    since: 12,
    lower: einsum,
    decision: SATURATING,
    bounded: "refused",
    gradient: einsumRules.einsum,
    computes: "RN(dot) of two operands, any labels, diagonals, ellipsis; of more, pair by pair from the left",
  },
  {
    ...PRODUCT,
    operator: "Gemm",
    since: 1,
    lower: gemm,
    gradient: productsRules.gemm,
    computes: "RN(dot); alpha * . unless 1; . + (beta * C), beta unless 1",
  },
  { ...PRODUCT, operator: "MatMul", since: 1, lower: matMul, gradient: productsRules.matMul, computes: "RN(dot)" },

  {
    ...CONVOLUTION,
    operator: "Col2Im",
    since: 18,
    lower: col2Im,
    gradient: spatialRules.col2Im,
    computes: "sum over the positions of the kernel, bounded",
  },
  {
    ...CONVOLUTION,
    operator: "Conv",
    since: 1,
    lower: conv,
    halves: "own",
    bounded: bounded.batch,
    storage: convolutionStorage,
    gradient: convolutionRules.conv,
    computes:
      "RN(dot), then RN(. + bias); 1 to 6 spatial dimensions, `group`, `strides`, `pads`, `dilations`, `auto_pad`",
  },
  {
    ...CONVOLUTION,
    operator: "ConvTranspose",
    since: 1,
    lower: convTranspose,
    bounded: bounded.batch,
    storage: convolutionStorage,
    gradient: { rule: convolutionRules.convTranspose, limits: "not with `auto_pad` or `output_shape`" },
    computes:
      "RN(dot) over the kernel positions and channels that meet an output, then RN(. + bias); `group`, " +
      "`strides`, `pads`, `dilations`, `output_padding`, `output_shape`, `auto_pad`",
  },
  {
    ...CONVOLUTION,
    operator: "DeformConv",
    since: 19,
    lower: deformConv,
    gradient: { refused: "the operator has no gradient rule: gather the samples, and use MatMul" },
    computes:
      "elements mixed linearly at the places of the offsets, times the mask, stored; then dot, then the bias. " +
      "Two spatial dimensions",
  },

  {
    ...POOL,
    operator: "AveragePool",
    since: 1,
    lower: averagePool,
    storage: poolingStorage,
    gradient: poolingRules.averagePool,
    computes:
      "RN(RN(sum) / RN(count)); padding is 0, counted with `count_include_pad`; `ceil_mode`, `auto_pad`, " +
      "`dilations`",
  },
  {
    ...POOL,
    operator: "GlobalAveragePool",
    since: 1,
    lower: globalPool(Reduce.sum),
    storage: poolingStorage,
    gradient: reductionsRules.globalAveragePool,
    computes: "RN(RN(sum) / RN(n))",
  },
  {
    ...POOL,
    operator: "GlobalLpPool",
    since: 2,
    lower: globalLpPool,
    bounded: "refused",
    gradient: { composition: normsRules.globalLpPool },
    computes: "as LpPool over the spatial dimensions",
  },
  {
    ...POOL,
    operator: "GlobalMaxPool",
    since: 1,
    lower: globalPool(Reduce.max),
    decision: SELECTION,
    halves: "own",
    storage: poolingStorage,
    gradient: reductionsRules.globalMaxPool,
    computes: "max",
  },
  {
    ...POOL,
    operator: "LpPool",
    since: 2,
    lower: lpPool,
    bounded: "refused",
    gradient: { composition: normsRules.lpPool },
    computes: "p = 1: sum of abs; p = 2: sqrt(dot(x, x)); else pow(sum of pow(abs x, p), RN(1 / p)); padding is 0",
  },
  {
    ...POOL,
    operator: "MaxPool",
    since: 1,
    lower: maxPool,
    decision: { kind: "selection", places: 1 },
    halves: "own",
    storage: poolingStorage,
    gradient: { rule: poolingRules.maxPool, limits: "`storage_order` 0" },
    computes: "max; padding never wins. Indices: the first maximum of each window",
  },
];
