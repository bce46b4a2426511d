import { FLOATS, JUMPING, moves, WHOLE } from "../../model/decision/operatorClass.ts";
import { CONSTANT } from "../gradients/refusals.ts";
import * as attentionRules from "../gradients/rules/attention.ts";
import * as fusedRules from "../gradients/rules/fused.ts";
import * as movementRules from "../gradients/rules/movement.ts";
import * as samplingRules from "../gradients/rules/sampling.ts";
import * as scatterRules from "../gradients/rules/scatter.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { gatherNd } from "../operators/gather.ts";
import { range } from "../operators/generators.ts";
import { trilu } from "../operators/masks.ts";
import { microsoftAttention, multiHeadAttention } from "../operators/microsoft/attention.ts";
import * as diffusion from "../operators/microsoft/diffusion.ts";
import * as fused from "../operators/microsoft/fused.ts";
import { groupQueryAttention, microsoftRotaryEmbedding } from "../operators/microsoft/groupQueryAttention.ts";
import * as normalisation from "../operators/microsoft/normalisation.ts";
import { pad } from "../operators/pad.ts";
import { gridSample } from "../operators/sampling/gridSample.ts";
import { MICROSOFT, type Row } from "./row.ts";

/** The lowering of an operator shared with ai.onnx, by operator set 13. */
const asOfOpset13 =
  (lower: Lower): Lower =>
  (context) =>
    lower(context.asOf(13));

/** An ai.onnx operator with additions by onnxruntime's optimiser. */
const FUSED = { ...MICROSOFT, use: "memory", decision: FLOATS, halves: "float32" } as const;

/** Attention with the forms of onnxruntime. */
const ATTENTION = { ...MICROSOFT, use: "memory", decision: FLOATS, halves: "float32" } as const;

/** Operators that ai.onnx has too. */
const SAME = { ...MICROSOFT, use: "fuse", decision: moves(0), halves: "own" } as const;

/** Operators of com.microsoft that compute with floats. */
export const MICROSOFT_ROWS: readonly Row[] = [
  {
    ...FUSED,
    operator: "BiasAdd",
    use: "fuse",
    lower: diffusion.biasAdd,
    gradient: { composition: fusedRules.biasAdd },
    computes: "(x + bias) + skip",
  },
  {
    ...FUSED,
    operator: "BiasGelu",
    use: "fuse",
    lower: fused.biasGelu,
    gradient: { composition: fusedRules.biasGelu },
    computes: "Gelu of RN(x + b)",
  },
  {
    ...FUSED,
    operator: "BiasSplitGelu",
    lower: diffusion.biasSplitGelu,
    gradient: { composition: fusedRules.biasSplitGelu },
    computes: "x + bias is split: the first half times Gelu of the second",
  },
  {
    ...FUSED,
    operator: "CDist",
    lower: diffusion.cDist,
    gradient: { composition: fusedRules.cDist },
    computes: "dot(d, d), and its root; d of all pairs of rows is stored",
  },
  {
    ...FUSED,
    operator: "EmbedLayerNormalization",
    lower: normalisation.embedLayerNormalization,
    decision: { kind: "float", integers: 1 },
    gradient: { composition: fusedRules.embedLayerNormalization },
    computes: "(words + positions) + segments, LayerNormalization; second output: the mask's sum, or 0",
  },
  {
    ...FUSED,
    operator: "FastGelu",
    use: "fuse",
    lower: fused.fastGelu,
    gradient: { composition: fusedRules.fastGelu },
    computes: "0.5 * (x * (1 + tanh(x * (0.797885 + 0.035677 * (x * x))))), x with the bias",
  },
  {
    ...FUSED,
    operator: "FusedConv",
    lower: fused.fusedConv,
    gradient: { composition: fusedRules.fusedConv },
    computes: "Conv, then + Z, then `activation`: Relu, Tanh, Sigmoid, LeakyRelu, Clip or HardSigmoid",
  },
  {
    ...FUSED,
    operator: "FusedGemm",
    lower: fused.fusedGemm,
    gradient: { composition: fusedRules.fusedGemm },
    computes: "Gemm, then `activation`",
  },
  {
    ...FUSED,
    operator: "FusedMatMul",
    lower: fused.fusedMatMul,
    gradient: { composition: fusedRules.fusedMatMul },
    computes: "alpha * RN(dot), `transA`, `transB`",
  },
  {
    ...FUSED,
    operator: "Gelu",
    use: "fuse",
    lower: fused.microsoftGelu,
    gradient: { composition: fusedRules.microsoftGelu },
    computes: "x * ((erf(RN(sqrt(1 / 2)) * x) + 1) * 0.5)",
  },
  {
    ...FUSED,
    operator: "GroupNorm",
    lower: diffusion.groupNormalised,
    gradient: { composition: fusedRules.groupNormalised },
    computes:
      "GroupNormalization (of (x + skip) + bias), channels last or second, then x * sigmoid(x) if `activation` " +
      "is 1",
  },
  {
    ...FUSED,
    operator: "NhwcConv",
    lower: diffusion.nhwcConv,
    gradient: { composition: fusedRules.nhwcConv },
    computes: "Conv, channels last, weights too",
  },
  {
    ...FUSED,
    operator: "QuickGelu",
    use: "fuse",
    lower: fused.quickGelu,
    gradient: { composition: fusedRules.quickGelu },
    computes: "x * sigmoid(alpha * x)",
  },
  {
    ...FUSED,
    operator: "SkipGroupNorm",
    lower: diffusion.skipGroupNorm,
    gradient: { composition: fusedRules.skipGroupNorm },
    computes:
      "GroupNormalization (of (x + skip) + bias), channels last or second, then x * sigmoid(x) if `activation` " +
      "is 1",
  },
  {
    ...FUSED,
    operator: "SkipLayerNormalization",
    lower: fused.skipLayerNormalization,
    statistics: [1, 2],
    gradient: { composition: fusedRules.skipLayerNormalization },
    computes: "LayerNormalization of (x + skip) + bias over the last dimension",
  },
  {
    ...FUSED,
    operator: "SkipSimplifiedLayerNormalization",
    lower: normalisation.skipSimplifiedLayerNormalization,
    gradient: { composition: fusedRules.skipSimplifiedLayerNormalization },
    computes: "RMSNormalization of (x + skip) + bias over the last dimension",
  },
  {
    ...FUSED,
    operator: "TransposeMatMul",
    lower: fused.fusedMatMul,
    gradient: { composition: fusedRules.fusedMatMul },
    computes: "as FusedMatMul",
  },

  {
    ...ATTENTION,
    operator: "Attention",
    lower: microsoftAttention,
    gradient: { composition: attentionRules.microsoftAttention, limits: "without a past" },
    computes:
      "x * W + bias are q, k, v; RN(scale * dot(q, k)) + (bias + mask + causal mask); softmax; dot with v. " +
      "Masks of keys in all forms but [batch, 1, max, max] and [3 * batch + 2]; past and present; no rotary " +
      "embedding, no shared buffer",
  },
  {
    ...ATTENTION,
    operator: "GroupQueryAttention",
    lower: groupQueryAttention,
    gradient: { refused: "the operator has no gradient rule: export attention as separate operators" },
    computes:
      "causal; RN(scale * dot(q, k)), capped, + bias; heads of k and v serve several of q. Rotary embedding, " +
      "window, past, `head_sink`, `smooth_softmax`. `total_sequence_length`, and `seqlens_k` where there is a " +
      "past, are known at compile time and alike for the batch; for one token of one text after a past of a " +
      "fixed length, `seqlens_k` may be computed. No quantised cache, no shared buffer",
  },
  {
    ...ATTENTION,
    operator: "MultiHeadAttention",
    lower: multiHeadAttention,
    gradient: { composition: attentionRules.multiHeadAttention, limits: "query, key and value apart" },
    computes: "the same of projections made before, packed or not; no shared buffer",
  },
  {
    ...ATTENTION,
    operator: "RotaryEmbedding",
    lower: microsoftRotaryEmbedding,
    gradient: { composition: attentionRules.microsoftRotaryEmbedding },
    computes: "as in ai.onnx; positions of all tokens, or of the first",
  },

  {
    ...SAME,
    operator: "ExpandDims",
    lower: fused.expandDims,
    halves: "float32",
    gradient: { composition: fusedRules.expandDims },
    computes: "as Unsqueeze in ai.onnx",
  },
  {
    ...SAME,
    operator: "GatherND",
    use: "memory",
    lower: asOfOpset13(gatherNd),
    narrow: "moved",
    gradient: scatterRules.gatherNd,
    computes: "as in ai.onnx, at operator set 13",
  },
  {
    ...SAME,
    operator: "GridSample",
    use: "memory",
    lower: asOfOpset13(gridSample),
    decision: JUMPING,
    halves: "float32",
    gradient: { composition: samplingRules.gridSample },
    computes: "as in ai.onnx, at operator set 13",
  },
  {
    ...SAME,
    operator: "Pad",
    use: "memory",
    lower: asOfOpset13(pad),
    decision: moves(0, 2),
    gradient: { rule: movementRules.pad, without: [2] },
    computes: "as in ai.onnx, at operator set 13",
  },
  {
    ...SAME,
    operator: "Range",
    lower: range,
    decision: WHOLE,
    gradient: CONSTANT,
    computes: "as in ai.onnx, at operator set 13",
  },
  {
    ...SAME,
    operator: "Trilu",
    lower: trilu,
    narrow: "moved",
    gradient: movementRules.trilu,
    computes: "as in ai.onnx, at operator set 13",
  },
];
