import { Op } from "../program/operations.ts";
import { Reduce } from "../program/types.ts";
import { MICROSOFT_REGISTRY } from "./microsoftRegistry.ts";
import type { Lower } from "./nodeContext.ts";
import * as activations from "./operators/activations.ts";
import { attention } from "./operators/attention.ts";
import { conv } from "./operators/conv.ts";
import { convTranspose } from "./operators/convTranspose.ts";
import { affineGrid, centerCropPad, col2Im } from "./operators/cropAndFold.ts";
import { einsum } from "./operators/einsum.ts";
import * as elementwise from "./operators/elementwise.ts";
import * as exponentials from "./operators/exponentials.ts";
import * as gather from "./operators/gather.ts";
import * as generated from "./operators/generated.ts";
import { compress, nonZero, unique } from "./operators/knownValues.ts";
import { negativeLogLikelihoodLoss, softmaxCrossEntropyLoss } from "./operators/loss.ts";
import { globalLpPool, lpPool } from "./operators/lpPool.ts";
import { gemm, matMul } from "./operators/matmul.ts";
import * as more from "./operators/moreNormalisation.ts";
import * as movement from "./operators/movement.ts";
import * as normalisation from "./operators/normalisation.ts";
import { pad } from "./operators/pad.ts";
import { averagePool, globalPool, maxPool } from "./operators/pool.ts";
import { det, reduceProd } from "./operators/product.ts";
import * as quantise from "./operators/quantise.ts";
import * as quantisedProducts from "./operators/quantisedProducts.ts";
import * as random from "./operators/random.ts";
import { gru, lstm, rnn } from "./operators/recurrent/recurrent.ts";
import { argument, cumSum, KINDS, reduceLogSumExp, reduceOperator, softmax } from "./operators/reduction.ts";
import { resize } from "./operators/resize/resize.ts";
import { reverseSequence } from "./operators/reverseSequence.ts";
import { maxUnpool, scatterElements, scatterNd } from "./operators/scatter.ts";
import { rotaryEmbedding } from "./operators/rotary.ts";
import { deformConv } from "./operators/sampling/deformConv.ts";
import { gridSample } from "./operators/sampling/gridSample.ts";
import { roiAlign } from "./operators/sampling/roiAlign.ts";
import * as shape from "./operators/shape.ts";
import { dft, melWeightMatrix, stft } from "./operators/spectrum.ts";
import { topK } from "./operators/topK.ts";

/**
 * How a node uses its inputs: `fuse`: element by element or as a view, so that what makes an input may go into the same
 * step; `memory`: an input is read many times and must be in memory; `shape`: only its shape matters.
 */
export type Use = "fuse" | "memory" | "shape";

/** An operator: name, domain, first and last version of its operator set in which it is executed here, use of inputs, lowering. */
export type Entry = readonly [
  operator: string,
  domain: "" | "com.microsoft",
  opsets: readonly [number, number],
  use: Use,
  lower: Lower,
];

const { unary, binary, variadic } = elementwise;

/** The one table of operators (docs/operators.md). What is not in it is refused by name. */
export const REGISTRY: readonly Entry[] = [
  ["Abs", "", [1, 23], "fuse", unary(Op.abs)],
  ["Acos", "", [7, 23], "fuse", unary(Op.acos)],
  ["Acosh", "", [9, 23], "fuse", unary(Op.acosh)],
  ["Add", "", [1, 23], "fuse", binary(Op.add)],
  ["AffineGrid", "", [20, 23], "memory", affineGrid],
  ["And", "", [1, 23], "fuse", binary(Op.and)],
  ["ArgMax", "", [1, 23], "memory", argument(Reduce.argmax, Reduce.argmaxLast)],
  ["ArgMin", "", [1, 23], "memory", argument(Reduce.argmin, Reduce.argminLast)],
  ["Asin", "", [7, 23], "fuse", unary(Op.asin)],
  ["Asinh", "", [9, 23], "fuse", unary(Op.asinh)],
  ["Atan", "", [7, 23], "fuse", unary(Op.atan)],
  ["Atanh", "", [9, 23], "fuse", unary(Op.atanh)],
  ["Attention", "", [23, 23], "memory", attention],
  ["AveragePool", "", [1, 23], "memory", averagePool],
  ["BatchNormalization", "", [6, 23], "fuse", normalisation.batchNormalization],
  ["Bernoulli", "", [15, 23], "fuse", random.bernoulli],
  ["BitShift", "", [11, 23], "fuse", activations.bitShift],
  ["BitwiseAnd", "", [18, 23], "fuse", binary(Op.and)],
  ["BitwiseNot", "", [18, 23], "fuse", unary(Op.not)],
  ["BitwiseOr", "", [18, 23], "fuse", binary(Op.or)],
  ["BitwiseXor", "", [18, 23], "fuse", binary(Op.xor)],
  ["BlackmanWindow", "", [17, 23], "fuse", generated.cosineWindow(0.42, 0.5, 0.08)],
  ["Cast", "", [6, 23], "fuse", elementwise.cast],
  ["CastLike", "", [15, 23], "fuse", elementwise.castLike],
  ["Ceil", "", [1, 23], "fuse", unary(Op.ceil)],
  ["Celu", "", [12, 23], "fuse", exponentials.celu],
  ["CenterCropPad", "", [18, 23], "memory", centerCropPad],
  ["Clip", "", [1, 23], "fuse", activations.clip],
  ["Col2Im", "", [18, 23], "memory", col2Im],
  ["Compress", "", [9, 23], "memory", compress],
  ["Concat", "", [1, 23], "memory", movement.concat],
  ["Constant", "", [1, 23], "fuse", shape.constant],
  ["ConstantOfShape", "", [9, 23], "fuse", shape.constantOfShape],
  ["Conv", "", [1, 23], "memory", conv],
  ["ConvInteger", "", [10, 23], "memory", quantisedProducts.convInteger],
  ["ConvTranspose", "", [1, 23], "memory", convTranspose],
  ["Cos", "", [7, 23], "fuse", unary(Op.cos)],
  ["Cosh", "", [9, 23], "fuse", unary(Op.cosh)],
  ["CumSum", "", [11, 23], "memory", cumSum],
  ["DeformConv", "", [19, 23], "memory", deformConv],
  ["DepthToSpace", "", [1, 23], "fuse", shape.depthToSpace],
  ["DequantizeLinear", "", [10, 23], "fuse", quantise.dequantizeLinear],
  ["Det", "", [11, 23], "memory", det],
  ["DFT", "", [17, 23], "memory", dft],
  ["Div", "", [1, 23], "fuse", binary(Op.div)],
  ["Dropout", "", [1, 23], "fuse", shape.dropout],
  ["DynamicQuantizeLinear", "", [11, 23], "memory", quantise.dynamicQuantizeLinear],
  ["Einsum", "", [12, 23], "memory", einsum],
  ["Elu", "", [1, 23], "fuse", exponentials.elu],
  ["Equal", "", [1, 23], "fuse", binary(Op.eq)],
  ["Erf", "", [9, 23], "fuse", unary(Op.erf)],
  ["Exp", "", [1, 23], "fuse", unary(Op.exp)],
  ["Expand", "", [8, 23], "fuse", movement.expand],
  ["EyeLike", "", [9, 23], "shape", generated.eyeLike],
  ["Flatten", "", [1, 23], "fuse", shape.flatten],
  ["Floor", "", [1, 23], "fuse", unary(Op.floor)],
  ["GridSample", "", [16, 23], "memory", gridSample],
  ["GRU", "", [7, 23], "memory", gru],
  ["Gather", "", [1, 23], "memory", gather.gather],
  ["GatherElements", "", [11, 23], "memory", gather.gatherElements],
  ["GatherND", "", [11, 23], "memory", gather.gatherNd],
  ["Gelu", "", [20, 23], "fuse", activations.gelu],
  ["Gemm", "", [1, 23], "memory", gemm],
  ["GlobalAveragePool", "", [1, 23], "memory", globalPool(Reduce.sum)],
  ["GlobalLpPool", "", [2, 23], "memory", globalLpPool],
  ["GlobalMaxPool", "", [1, 23], "memory", globalPool(Reduce.max)],
  ["Greater", "", [1, 23], "fuse", binary(Op.lt, true)],
  ["GreaterOrEqual", "", [12, 23], "fuse", binary(Op.le, true)],
  ["GroupNormalization", "", [18, 23], "memory", more.groupNormalization],
  ["HammingWindow", "", [17, 23], "fuse", generated.cosineWindow(25 / 46, 21 / 46, 0)],
  ["HannWindow", "", [17, 23], "fuse", generated.cosineWindow(0.5, 0.5, 0)],
  ["HardSigmoid", "", [1, 23], "fuse", activations.hardSigmoid],
  ["HardSwish", "", [14, 23], "fuse", activations.hardSwish],
  ["Hardmax", "", [1, 23], "memory", gather.hardmax],
  ["Identity", "", [1, 23], "fuse", shape.identity],
  ["InstanceNormalization", "", [1, 23], "memory", normalisation.instanceNormalization],
  ["IsInf", "", [10, 23], "fuse", activations.isInf],
  ["IsNaN", "", [9, 23], "fuse", unary(Op.isNaN)],
  ["LRN", "", [1, 23], "memory", more.lrn],
  ["LSTM", "", [7, 23], "memory", lstm],
  ["LayerNormalization", "", [1, 23], "memory", normalisation.layerNormalization],
  ["LeakyRelu", "", [1, 23], "fuse", activations.leakyRelu],
  ["Less", "", [1, 23], "fuse", binary(Op.lt)],
  ["LessOrEqual", "", [12, 23], "fuse", binary(Op.le)],
  ["Log", "", [1, 23], "fuse", unary(Op.log)],
  ["LogSoftmax", "", [1, 23], "memory", softmax(true)],
  ["LpNormalization", "", [1, 23], "memory", more.lpNormalization],
  ["LpPool", "", [2, 23], "memory", lpPool],
  ["MatMul", "", [1, 23], "memory", matMul],
  ["MatMulInteger", "", [10, 23], "memory", quantisedProducts.matMulInteger],
  ["Max", "", [1, 23], "fuse", variadic(Op.max)],
  ["MaxPool", "", [1, 23], "memory", maxPool],
  ["MaxUnpool", "", [9, 23], "memory", maxUnpool],
  ["Mean", "", [1, 23], "fuse", activations.mean],
  ["MeanVarianceNormalization", "", [9, 23], "memory", more.meanVarianceNormalization],
  ["MelWeightMatrix", "", [17, 23], "fuse", melWeightMatrix],
  ["Min", "", [1, 23], "fuse", variadic(Op.min)],
  ["Mish", "", [18, 23], "fuse", exponentials.mish],
  ["Mod", "", [10, 23], "fuse", activations.mod],
  ["Mul", "", [1, 23], "fuse", binary(Op.mul)],
  ["Multinomial", "", [7, 23], "memory", random.multinomial],
  ["Neg", "", [1, 23], "fuse", unary(Op.neg)],
  ["NegativeLogLikelihoodLoss", "", [12, 23], "memory", negativeLogLikelihoodLoss],
  ["NonZero", "", [9, 23], "fuse", nonZero],
  ["Not", "", [1, 23], "fuse", unary(Op.not)],
  ["OneHot", "", [9, 23], "memory", gather.oneHot],
  ["Or", "", [1, 23], "fuse", binary(Op.or)],
  ["PRelu", "", [1, 23], "fuse", activations.pRelu],
  ["Pad", "", [2, 23], "memory", pad],
  ["Pow", "", [1, 23], "fuse", activations.pow],
  ["QLinearConv", "", [10, 23], "memory", quantisedProducts.qLinearConv],
  ["QLinearMatMul", "", [10, 23], "memory", quantisedProducts.qLinearMatMul],
  ["QuantizeLinear", "", [10, 23], "fuse", quantise.quantizeLinear],
  ["RMSNormalization", "", [23, 23], "memory", more.rmsNormalization],
  ["RNN", "", [7, 23], "memory", rnn],
  ["RandomNormal", "", [1, 23], "fuse", random.randomNormal],
  ["RandomNormalLike", "", [1, 23], "shape", random.randomNormalLike],
  ["RandomUniform", "", [1, 23], "fuse", random.randomUniform],
  ["RandomUniformLike", "", [1, 23], "shape", random.randomUniformLike],
  ["Range", "", [11, 23], "fuse", generated.range],
  ["Reciprocal", "", [1, 23], "fuse", activations.reciprocal],
  ["ReduceL1", "", [1, 23], "memory", reduceOperator(KINDS.ReduceL1, 18)],
  ["ReduceL2", "", [1, 23], "memory", reduceOperator(KINDS.ReduceL2, 18)],
  ["ReduceLogSum", "", [1, 23], "memory", reduceOperator(KINDS.ReduceLogSum, 18)],
  ["ReduceLogSumExp", "", [1, 23], "memory", reduceLogSumExp],
  ["ReduceMax", "", [1, 23], "memory", reduceOperator(KINDS.ReduceMax, 18)],
  ["ReduceMean", "", [1, 23], "memory", reduceOperator(KINDS.ReduceMean, 18)],
  ["ReduceMin", "", [1, 23], "memory", reduceOperator(KINDS.ReduceMin, 18)],
  ["ReduceProd", "", [1, 23], "memory", reduceProd],
  ["ReduceSum", "", [1, 23], "memory", reduceOperator(KINDS.ReduceSum, 13)],
  ["ReduceSumSquare", "", [1, 23], "memory", reduceOperator(KINDS.ReduceSumSquare, 18)],
  ["Relu", "", [1, 23], "fuse", activations.relu],
  ["Reshape", "", [5, 23], "fuse", shape.reshape],
  ["Resize", "", [10, 23], "memory", resize],
  ["ReverseSequence", "", [10, 23], "memory", reverseSequence],
  ["RoiAlign", "", [10, 23], "memory", roiAlign],
  ["RotaryEmbedding", "", [23, 23], "memory", rotaryEmbedding],
  ["Round", "", [11, 23], "fuse", unary(Op.round)],
  ["Scatter", "", [9, 10], "memory", scatterElements],
  ["ScatterElements", "", [11, 23], "memory", scatterElements],
  ["ScatterND", "", [11, 23], "memory", scatterNd],
  ["Selu", "", [6, 23], "fuse", exponentials.selu],
  ["Shape", "", [1, 23], "shape", shape.shape],
  ["Shrink", "", [9, 23], "fuse", activations.shrink],
  ["Sigmoid", "", [1, 23], "fuse", unary(Op.sigmoid)],
  ["Sign", "", [9, 23], "fuse", unary(Op.sign)],
  ["SimplifiedLayerNormalization", "", [1, 23], "memory", more.rmsNormalization],
  ["Sin", "", [7, 23], "fuse", unary(Op.sin)],
  ["Sinh", "", [9, 23], "fuse", unary(Op.sinh)],
  ["Size", "", [1, 23], "shape", shape.size],
  ["Slice", "", [1, 23], "fuse", movement.slice],
  ["Softmax", "", [1, 23], "memory", softmax(false)],
  ["SoftmaxCrossEntropyLoss", "", [12, 23], "memory", softmaxCrossEntropyLoss],
  ["Softplus", "", [1, 23], "fuse", exponentials.softplus],
  ["Softsign", "", [1, 23], "fuse", activations.softsign],
  ["SpaceToDepth", "", [1, 23], "fuse", shape.spaceToDepth],
  ["Split", "", [2, 23], "fuse", movement.split],
  ["Sqrt", "", [1, 23], "fuse", unary(Op.sqrt)],
  ["Squeeze", "", [1, 23], "fuse", shape.squeeze],
  ["STFT", "", [17, 23], "memory", stft],
  ["Sub", "", [1, 23], "fuse", binary(Op.sub)],
  ["Sum", "", [1, 23], "fuse", variadic(Op.add)],
  ["Tan", "", [7, 23], "fuse", unary(Op.tan)],
  ["Tanh", "", [1, 23], "fuse", unary(Op.tanh)],
  ["ThresholdedRelu", "", [10, 23], "fuse", activations.thresholdedRelu],
  ["Tile", "", [6, 23], "memory", movement.tile],
  ["TopK", "", [1, 23], "memory", topK],
  ["Transpose", "", [1, 23], "fuse", movement.transpose],
  ["Trilu", "", [14, 23], "fuse", gather.trilu],
  ["Unique", "", [11, 23], "fuse", unique],
  ["Unsqueeze", "", [1, 23], "fuse", shape.unsqueeze],
  ["Upsample", "", [7, 9], "memory", resize],
  ["Where", "", [9, 23], "fuse", elementwise.where],
  ["Xor", "", [1, 23], "fuse", binary(Op.xor)],
];

const BY_NAME: ReadonlyMap<string, Entry> = new Map(
  [...REGISTRY, ...MICROSOFT_REGISTRY].map((entry) => [`${entry[1]}.${entry[0]}`, entry] as const),
);

/** The table's entry for an operator, or undefined. Domains: ai.onnx ("") and com.microsoft. */
export const findEntry = (operator: string, domain: string): Entry | undefined => BY_NAME.get(`${domain}.${operator}`);
