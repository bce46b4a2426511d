import { FLOATS, ROUNDING } from "../../model/decision/operatorClass.ts";
import { DISCRETE, QUANTISED } from "../gradients/refusals.ts";
import * as quantise from "../operators/quantise.ts";
import * as quantisedProducts from "../operators/quantisedProducts.ts";
import { convolutionStorage } from "../steps/storage.ts";
import { ONNX, type Row } from "./row.ts";

/** Numbers of few bits, with a scale and a zero point. */
const QUANTISATION = {
  ...ONNX,
  use: "memory",
  decision: ROUNDING,
  halves: "float32",
  bounded: "refused",
  gradient: QUANTISED,
} as const;

/** Products of integers. */
const INTEGER_PRODUCT = {
  ...ONNX,
  since: 10,
  use: "memory",
  decision: { kind: "integers", products: "right" },
  bounded: "refused",
  gradient: DISCRETE,
} as const;

/** Quantised numbers and products of them. */
export const QUANTISED_ROWS: readonly Row[] = [
  {
    ...QUANTISATION,
    operator: "DequantizeLinear",
    since: 10,
    use: "fuse",
    lower: quantise.dequantizeLinear,
    decision: FLOATS,
    narrow: "aware",
    computes: "RN(RN(q - zero) * scale), q - zero in int32; per tensor, per axis, in blocks that divide the axis",
    sets: "`axis` from 13, `block_size` from 21",
  },
  {
    ...QUANTISATION,
    operator: "DynamicQuantizeLinear",
    since: 11,
    lower: quantise.dynamicQuantizeLinear,
    computes:
      "low = min(0, min x), high alike; scale = RN(RN(high - low) / 255), 1 if equal; zero = sat(RNE(RN(0 - " +
      "RN(low / scale)))); then QuantizeLinear",
  },
  {
    ...QUANTISATION,
    operator: "QLinearConv",
    since: 10,
    lower: quantisedProducts.qLinearConv,
    storage: convolutionStorage,
    computes:
      "ConvInteger plus the int32 bias modulo 2^32; sat(RNE(RN(RN(sum) * m)) + zero), m = RN(RN(x_scale * " +
      "w_scale) / y_scale)",
  },
  {
    ...QUANTISATION,
    operator: "QLinearMatMul",
    since: 10,
    lower: quantisedProducts.qLinearMatMul,
    computes: "MatMulInteger; then as QLinearConv",
  },
  {
    ...QUANTISATION,
    operator: "QuantizeLinear",
    since: 10,
    use: "fuse",
    lower: quantise.quantizeLinear,
    narrow: "aware",
    computes: "sat(RNE(RN(x / scale)) + zero), NaN gives zero; int8, uint8, int16, uint16",
    sets: "`axis` from 13, `block_size` from 21",
  },

  {
    ...INTEGER_PRODUCT,
    operator: "ConvInteger",
    lower: quantisedProducts.convInteger,
    decision: { kind: "integers", products: "all" },
    halves: "own",
    storage: convolutionStorage,
    computes: "int32 of x - zero and w - zero, in memory; their dot modulo 2^32; padding is the zero point",
  },
  {
    ...INTEGER_PRODUCT,
    operator: "MatMulInteger",
    lower: quantisedProducts.matMulInteger,
    halves: "float32",
    computes: "int32 of a - zero and b - zero, in memory; their dot modulo 2^32",
  },
];
