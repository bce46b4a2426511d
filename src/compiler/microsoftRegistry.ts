import { groupQueryAttention, rotaryEmbedding } from "./operators/groupQueryAttention.ts";
import { attention, multiHeadAttention } from "./operators/microsoftAttention.ts";
import * as normalisation from "./operators/microsoftNormalisation.ts";
import * as microsoft from "./operators/microsoft.ts";
import { dequantizeLinear, quantizeLinear } from "./operators/quantise.ts";
import type { Entry } from "./registry.ts";

/** The table's operators of com.microsoft, version 1. */
export const MICROSOFT_REGISTRY: readonly Entry[] = [
  ["Attention", "com.microsoft", [1, 1], "memory", attention],
  ["BiasGelu", "com.microsoft", [1, 1], "fuse", microsoft.biasGelu],
  ["DequantizeLinear", "com.microsoft", [1, 1], "fuse", dequantizeLinear],
  ["EmbedLayerNormalization", "com.microsoft", [1, 1], "memory", normalisation.embedLayerNormalization],
  ["FastGelu", "com.microsoft", [1, 1], "fuse", microsoft.fastGelu],
  ["FusedConv", "com.microsoft", [1, 1], "memory", microsoft.fusedConv],
  ["FusedMatMul", "com.microsoft", [1, 1], "memory", microsoft.fusedMatMul],
  ["Gelu", "com.microsoft", [1, 1], "fuse", microsoft.gelu],
  ["GroupQueryAttention", "com.microsoft", [1, 1], "memory", groupQueryAttention],
  ["MultiHeadAttention", "com.microsoft", [1, 1], "memory", multiHeadAttention],
  ["QuantizeLinear", "com.microsoft", [1, 1], "fuse", quantizeLinear],
  ["QuickGelu", "com.microsoft", [1, 1], "fuse", microsoft.quickGelu],
  ["RotaryEmbedding", "com.microsoft", [1, 1], "memory", rotaryEmbedding],
  ["SkipLayerNormalization", "com.microsoft", [1, 1], "memory", microsoft.skipLayerNormalization],
  [
    "SkipSimplifiedLayerNormalization",
    "com.microsoft",
    [1, 1],
    "memory",
    normalisation.skipSimplifiedLayerNormalization,
  ],
];
