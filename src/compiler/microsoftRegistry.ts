import * as microsoft from "./operators/microsoft.ts";
import { dequantizeLinear, quantizeLinear } from "./operators/quantise.ts";
import type { Entry } from "./registry.ts";

/** The table's operators of com.microsoft, version 1. */
export const MICROSOFT_REGISTRY: readonly Entry[] = [
  ["BiasGelu", "com.microsoft", [1, 1], "fuse", microsoft.biasGelu],
  ["DequantizeLinear", "com.microsoft", [1, 1], "fuse", dequantizeLinear],
  ["FastGelu", "com.microsoft", [1, 1], "fuse", microsoft.fastGelu],
  ["FusedConv", "com.microsoft", [1, 1], "memory", microsoft.fusedConv],
  ["FusedMatMul", "com.microsoft", [1, 1], "memory", microsoft.fusedMatMul],
  ["Gelu", "com.microsoft", [1, 1], "fuse", microsoft.gelu],
  ["QuantizeLinear", "com.microsoft", [1, 1], "fuse", quantizeLinear],
  ["QuickGelu", "com.microsoft", [1, 1], "fuse", microsoft.quickGelu],
  ["SkipLayerNormalization", "com.microsoft", [1, 1], "memory", microsoft.skipLayerNormalization],
];
