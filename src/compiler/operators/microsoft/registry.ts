import { gatherNd } from "../gather.ts";
import { range } from "../generators.ts";
import { groupQueryAttention, microsoftRotaryEmbedding } from "./groupQueryAttention.ts";
import * as fused from "./fused.ts";
import { microsoftAttention, multiHeadAttention } from "./attention.ts";
import * as diffusion from "./diffusion.ts";
import * as normalisation from "./normalisation.ts";
import * as blockQuantised from "./blockQuantised.ts";
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

const OPERATORS: readonly Pick<Entry, "operator" | "use" | "lower">[] = [
  { operator: "Attention", use: "memory", lower: microsoftAttention },
  { operator: "BiasAdd", use: "fuse", lower: diffusion.biasAdd },
  { operator: "BiasGelu", use: "fuse", lower: fused.biasGelu },
  { operator: "BiasSplitGelu", use: "memory", lower: diffusion.biasSplitGelu },
  { operator: "CDist", use: "memory", lower: diffusion.cDist },
  { operator: "DequantizeLinear", use: "fuse", lower: dequantizeLinear },
  { operator: "DynamicQuantizeMatMul", use: "memory", lower: products.dynamicQuantizeMatMul },
  { operator: "EmbedLayerNormalization", use: "memory", lower: normalisation.embedLayerNormalization },
  { operator: "ExpandDims", use: "fuse", lower: fused.expandDims },
  { operator: "FastGelu", use: "fuse", lower: fused.fastGelu },
  { operator: "FusedConv", use: "memory", lower: fused.fusedConv },
  { operator: "FusedGemm", use: "memory", lower: fused.fusedGemm },
  { operator: "FusedMatMul", use: "memory", lower: fused.fusedMatMul },
  { operator: "GatherBlockQuantized", use: "memory", lower: blockQuantised.gatherBlockQuantized },
  { operator: "GatherND", use: "memory", lower: asOfOpset13(gatherNd) },
  { operator: "Gelu", use: "fuse", lower: fused.microsoftGelu },
  { operator: "GridSample", use: "memory", lower: asOfOpset13(gridSample) },
  { operator: "GroupNorm", use: "memory", lower: diffusion.groupNormalised },
  { operator: "GroupQueryAttention", use: "memory", lower: groupQueryAttention },
  { operator: "MatMulIntegerToFloat", use: "memory", lower: products.matMulIntegerToFloat },
  { operator: "MatMulNBits", use: "memory", lower: blockQuantised.matMulNBits },
  { operator: "MultiHeadAttention", use: "memory", lower: multiHeadAttention },
  { operator: "NhwcConv", use: "memory", lower: diffusion.nhwcConv },
  { operator: "NhwcMaxPool", use: "memory", lower: quantised.nhwcMaxPool },
  { operator: "Pad", use: "memory", lower: asOfOpset13(pad) },
  { operator: "QAttention", use: "memory", lower: products.qAttention },
  { operator: "QGemm", use: "memory", lower: products.qGemm },
  { operator: "QLinearAdd", use: "fuse", lower: quantised.qLinearAdd },
  { operator: "QLinearAveragePool", use: "memory", lower: quantised.qLinearAveragePool },
  { operator: "QLinearConcat", use: "memory", lower: quantised.qLinearConcat },
  { operator: "QLinearConv", use: "memory", lower: withChannelsLast(qLinearConv) },
  { operator: "QLinearGlobalAveragePool", use: "memory", lower: quantised.qLinearGlobalAveragePool },
  { operator: "QLinearLeakyRelu", use: "fuse", lower: quantised.qLinearLeakyRelu },
  { operator: "QLinearMul", use: "fuse", lower: quantised.qLinearMul },
  { operator: "QLinearSigmoid", use: "fuse", lower: quantised.qLinearSigmoid },
  { operator: "QLinearSoftmax", use: "memory", lower: quantised.qLinearSoftmax },
  { operator: "QLinearWhere", use: "fuse", lower: quantised.qLinearWhere },
  { operator: "QuantizeLinear", use: "fuse", lower: quantizeLinear },
  { operator: "QuickGelu", use: "fuse", lower: fused.quickGelu },
  { operator: "Range", use: "fuse", lower: range },
  { operator: "RotaryEmbedding", use: "memory", lower: microsoftRotaryEmbedding },
  { operator: "SkipGroupNorm", use: "memory", lower: diffusion.skipGroupNorm },
  { operator: "SkipLayerNormalization", use: "memory", lower: fused.skipLayerNormalization },
  {
    operator: "SkipSimplifiedLayerNormalization",
    use: "memory",
    lower: normalisation.skipSimplifiedLayerNormalization,
  },
  { operator: "TransposeMatMul", use: "memory", lower: fused.fusedMatMul },
  { operator: "Trilu", use: "fuse", lower: trilu },
];

/** The rows of com.microsoft, all of its version 1. */
export const MICROSOFT_REGISTRY: readonly Entry[] = OPERATORS.map((row) => ({
  ...row,
  domain: "com.microsoft",
  since: 1,
  until: 1,
}));
