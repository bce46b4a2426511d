import { FLOATS, ROUNDING, SELECTION } from "../../model/decision/operatorClass.ts";
import { QUANTISED } from "../gradients/refusals.ts";
import * as blockQuantised from "../operators/microsoft/blockQuantised.ts";
import { withChannelsLast } from "../operators/microsoft/channels.ts";
import * as products from "../operators/microsoft/products.ts";
import * as quantised from "../operators/microsoft/quantised.ts";
import { dequantizeLinear, quantizeLinear } from "../operators/quantise.ts";
import { qLinearConv } from "../operators/quantisedProducts.ts";
import { convolutionStorage } from "../steps/storage.ts";
import { MICROSOFT, type Row } from "./row.ts";

/** Results that are rounded to few bits. */
const BYTES = { ...MICROSOFT, use: "memory", decision: ROUNDING, halves: "float32", gradient: QUANTISED } as const;

/** Operators in com.microsoft for quantised numbers. */
export const MICROSOFT_QUANTISED_ROWS: readonly Row[] = [
  {
    ...BYTES,
    operator: "DequantizeLinear",
    use: "fuse",
    lower: dequantizeLinear,
    decision: FLOATS,
    narrow: "aware",
    computes: "as in ai.onnx",
  },
  {
    ...BYTES,
    operator: "DynamicQuantizeMatMul",
    lower: products.dynamicQuantizeMatMul,
    computes: "DynamicQuantizeLinear of the left factor, then as MatMulIntegerToFloat",
  },
  {
    ...BYTES,
    operator: "GatherBlockQuantized",
    lower: blockQuantised.gatherBlockQuantized,
    decision: FLOATS,
    computes:
      "Gather of uint8 data (4 or 8 bits, blocks along the last dimension), scales and zero points; then RN((q " +
      "- zero) * scale)",
  },
  {
    ...BYTES,
    operator: "MatMulIntegerToFloat",
    lower: products.matMulIntegerToFloat,
    computes: "RN(RN(int32 product) * RN(scale * scale)) + bias",
  },
  {
    ...BYTES,
    operator: "MatMulNBits",
    lower: blockQuantised.matMulNBits,
    decision: FLOATS,
    computes: "weights RN((q - zero) * scale) of 2, 4 or 8 bits, then dot; + bias. `accuracy_level` asks for no more",
  },
  {
    ...BYTES,
    operator: "NhwcMaxPool",
    lower: quantised.nhwcMaxPool,
    decision: SELECTION,
    computes: "MaxPool, channels last",
  },
  {
    ...BYTES,
    operator: "QAttention",
    lower: products.qAttention,
    computes: "Attention with the projection of MatMulIntegerToFloat",
  },
  {
    ...BYTES,
    operator: "QGemm",
    lower: products.qGemm,
    computes:
      "RN(RN(int32 product + C) * RN(alpha * RN(scale * scale))), over the output scale and quantised if there " +
      "is one",
  },
  {
    ...BYTES,
    operator: "QLinearAdd",
    use: "fuse",
    lower: quantised.qLinearAdd,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearAveragePool",
    lower: quantised.qLinearAveragePool,
    computes: "RN(RN(exact sum of q - zero * scale) / count), quantised; channels second or last",
  },
  {
    ...BYTES,
    operator: "QLinearConcat",
    lower: quantised.qLinearConcat,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearConv",
    lower: withChannelsLast(qLinearConv),
    storage: convolutionStorage,
    computes: "as in ai.onnx; channels second or last",
  },
  {
    ...BYTES,
    operator: "QLinearGlobalAveragePool",
    lower: quantised.qLinearGlobalAveragePool,
    computes: "RN(RN(exact sum of q - zero * scale) / count), quantised; channels second or last",
  },
  {
    ...BYTES,
    operator: "QLinearLeakyRelu",
    use: "fuse",
    lower: quantised.qLinearLeakyRelu,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearMul",
    use: "fuse",
    lower: quantised.qLinearMul,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearSigmoid",
    use: "fuse",
    lower: quantised.qLinearSigmoid,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearSoftmax",
    lower: quantised.qLinearSoftmax,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QLinearWhere",
    use: "fuse",
    lower: quantised.qLinearWhere,
    computes: "DequantizeLinear, the operator, QuantizeLinear",
  },
  {
    ...BYTES,
    operator: "QuantizeLinear",
    use: "fuse",
    lower: quantizeLinear,
    narrow: "aware",
    computes: "as in ai.onnx",
  },
];
