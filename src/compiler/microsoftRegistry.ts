import { gatherNd, trilu } from "./operators/gather.ts";
import { range } from "./operators/generated.ts";
import { groupQueryAttention, rotaryEmbedding } from "./operators/groupQueryAttention.ts";
import * as microsoft from "./operators/microsoft.ts";
import { attention, multiHeadAttention } from "./operators/microsoftAttention.ts";
import * as diffusion from "./operators/microsoftDiffusion.ts";
import * as normalisation from "./operators/microsoftNormalisation.ts";
import * as products from "./operators/microsoftProducts.ts";
import * as quantised from "./operators/microsoftQuantised.ts";
import { pad } from "./operators/pad.ts";
import { dequantizeLinear, quantizeLinear } from "./operators/quantise.ts";
import { qLinearConv } from "./operators/quantisedProducts.ts";
import { gridSample } from "./operators/sampling/gridSample.ts";
import type { Lower } from "./nodeContext.ts";
import type { Entry, Use } from "./registry.ts";

const entry = (operator: string, use: Use, lower: Lower): Entry => [operator, "com.microsoft", [1, 1], use, lower];

/** The table's operators of com.microsoft, version 1. */
export const MICROSOFT_REGISTRY: readonly Entry[] = [
  entry("Attention", "memory", attention),
  entry("BiasAdd", "fuse", diffusion.biasAdd),
  entry("BiasGelu", "fuse", microsoft.biasGelu),
  entry("BiasSplitGelu", "memory", diffusion.biasSplitGelu),
  entry("CDist", "memory", diffusion.cDist),
  entry("DequantizeLinear", "fuse", dequantizeLinear),
  entry("DynamicQuantizeMatMul", "memory", products.dynamicQuantizeMatMul),
  entry("EmbedLayerNormalization", "memory", normalisation.embedLayerNormalization),
  entry("ExpandDims", "fuse", microsoft.expandDims),
  entry("FastGelu", "fuse", microsoft.fastGelu),
  entry("FusedConv", "memory", microsoft.fusedConv),
  entry("FusedGemm", "memory", microsoft.fusedGemm),
  entry("FusedMatMul", "memory", microsoft.fusedMatMul),
  entry("GatherBlockQuantized", "memory", products.gatherBlockQuantized),
  entry("GatherND", "memory", microsoft.alike(gatherNd)),
  entry("Gelu", "fuse", microsoft.gelu),
  entry("GridSample", "memory", microsoft.alike(gridSample)),
  entry("GroupNorm", "memory", diffusion.groupNormalised),
  entry("GroupQueryAttention", "memory", groupQueryAttention),
  entry("MatMulIntegerToFloat", "memory", products.matMulIntegerToFloat),
  entry("MatMulNBits", "memory", products.matMulNBits),
  entry("MultiHeadAttention", "memory", multiHeadAttention),
  entry("NhwcConv", "memory", diffusion.nhwcConv),
  entry("NhwcMaxPool", "memory", quantised.nhwcMaxPool),
  entry("Pad", "memory", microsoft.alike(pad)),
  entry("QAttention", "memory", products.qAttention),
  entry("QGemm", "memory", products.qGemm),
  entry("QLinearAdd", "fuse", quantised.qLinearAdd),
  entry("QLinearAveragePool", "memory", quantised.qLinearAveragePool),
  entry("QLinearConcat", "memory", quantised.qLinearConcat),
  entry("QLinearConv", "memory", quantised.nhwc(qLinearConv)),
  entry("QLinearGlobalAveragePool", "memory", quantised.qLinearGlobalAveragePool),
  entry("QLinearLeakyRelu", "fuse", quantised.qLinearLeakyRelu),
  entry("QLinearMul", "fuse", quantised.qLinearMul),
  entry("QLinearSigmoid", "fuse", quantised.qLinearSigmoid),
  entry("QLinearSoftmax", "memory", quantised.qLinearSoftmax),
  entry("QLinearWhere", "fuse", quantised.qLinearWhere),
  entry("QuantizeLinear", "fuse", quantizeLinear),
  entry("QuickGelu", "fuse", microsoft.quickGelu),
  entry("Range", "fuse", range),
  entry("RotaryEmbedding", "memory", rotaryEmbedding),
  entry("SkipGroupNorm", "memory", diffusion.skipGroupNorm),
  entry("SkipLayerNormalization", "memory", microsoft.skipLayerNormalization),
  entry("SkipSimplifiedLayerNormalization", "memory", normalisation.skipSimplifiedLayerNormalization),
  entry("TransposeMatMul", "memory", microsoft.fusedMatMul),
  entry("Trilu", "fuse", trilu),
];
