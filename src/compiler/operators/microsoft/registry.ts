import { gatherNd } from "../gather.ts";
import { range } from "../generators.ts";
import { groupQueryAttention, microsoftRotaryEmbedding } from "./groupQueryAttention.ts";
import * as fused from "./fused.ts";
import { microsoftAttention, multiHeadAttention } from "./attention.ts";
import * as diffusion from "./diffusion.ts";
import * as normalisation from "./normalisation.ts";
import * as products from "./products.ts";
import * as quantised from "./quantised.ts";
import { pad } from "../pad.ts";
import { dequantizeLinear, quantizeLinear } from "../quantise.ts";
import { qLinearConv } from "../quantisedProducts.ts";
import { gridSample } from "../sampling/gridSample.ts";
import type { Entry } from "../entry.ts";
import { trilu } from "../masks.ts";
import { withChannelsLast } from "./channels.ts";
import type { Lower } from "../../lowering/nodeContext.ts";

/** An operator that is that of ai.onnx, as of operator set 13. */
const asOfOpset13 =
  (lower: Lower): Lower =>
  (context) =>
    lower(context.asOf(13));

/** The table's operators of com.microsoft, version 1. */
export const MICROSOFT_REGISTRY: readonly Entry[] = [
  { operator: "Attention", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: microsoftAttention },
  { operator: "BiasAdd", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: diffusion.biasAdd },
  { operator: "BiasGelu", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: fused.biasGelu },
  {
    operator: "BiasSplitGelu",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: diffusion.biasSplitGelu,
  },
  { operator: "CDist", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: diffusion.cDist },
  { operator: "DequantizeLinear", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: dequantizeLinear },
  {
    operator: "DynamicQuantizeMatMul",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: products.dynamicQuantizeMatMul,
  },
  {
    operator: "EmbedLayerNormalization",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: normalisation.embedLayerNormalization,
  },
  { operator: "ExpandDims", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: fused.expandDims },
  { operator: "FastGelu", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: fused.fastGelu },
  { operator: "FusedConv", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: fused.fusedConv },
  { operator: "FusedGemm", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: fused.fusedGemm },
  { operator: "FusedMatMul", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: fused.fusedMatMul },
  {
    operator: "GatherBlockQuantized",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: products.gatherBlockQuantized,
  },
  { operator: "GatherND", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: asOfOpset13(gatherNd) },
  { operator: "Gelu", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: fused.microsoftGelu },
  {
    operator: "GridSample",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: asOfOpset13(gridSample),
  },
  {
    operator: "GroupNorm",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: diffusion.groupNormalised,
  },
  {
    operator: "GroupQueryAttention",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: groupQueryAttention,
  },
  {
    operator: "MatMulIntegerToFloat",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: products.matMulIntegerToFloat,
  },
  { operator: "MatMulNBits", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: products.matMulNBits },
  {
    operator: "MultiHeadAttention",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: multiHeadAttention,
  },
  { operator: "NhwcConv", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: diffusion.nhwcConv },
  { operator: "NhwcMaxPool", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: quantised.nhwcMaxPool },
  { operator: "Pad", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: asOfOpset13(pad) },
  { operator: "QAttention", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: products.qAttention },
  { operator: "QGemm", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: products.qGemm },
  { operator: "QLinearAdd", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: quantised.qLinearAdd },
  {
    operator: "QLinearAveragePool",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: quantised.qLinearAveragePool,
  },
  {
    operator: "QLinearConcat",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: quantised.qLinearConcat,
  },
  {
    operator: "QLinearConv",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: withChannelsLast(qLinearConv),
  },
  {
    operator: "QLinearGlobalAveragePool",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: quantised.qLinearGlobalAveragePool,
  },
  {
    operator: "QLinearLeakyRelu",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "fuse",
    lower: quantised.qLinearLeakyRelu,
  },
  { operator: "QLinearMul", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: quantised.qLinearMul },
  {
    operator: "QLinearSigmoid",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "fuse",
    lower: quantised.qLinearSigmoid,
  },
  {
    operator: "QLinearSoftmax",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: quantised.qLinearSoftmax,
  },
  { operator: "QLinearWhere", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: quantised.qLinearWhere },
  { operator: "QuantizeLinear", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: quantizeLinear },
  { operator: "QuickGelu", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: fused.quickGelu },
  { operator: "Range", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: range },
  {
    operator: "RotaryEmbedding",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: microsoftRotaryEmbedding,
  },
  {
    operator: "SkipGroupNorm",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: diffusion.skipGroupNorm,
  },
  {
    operator: "SkipLayerNormalization",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: fused.skipLayerNormalization,
  },
  {
    operator: "SkipSimplifiedLayerNormalization",
    domain: "com.microsoft",
    since: 1,
    until: 1,
    use: "memory",
    lower: normalisation.skipSimplifiedLayerNormalization,
  },
  { operator: "TransposeMatMul", domain: "com.microsoft", since: 1, until: 1, use: "memory", lower: fused.fusedMatMul },
  { operator: "Trilu", domain: "com.microsoft", since: 1, until: 1, use: "fuse", lower: trilu },
];
