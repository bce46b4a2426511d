import { OPSETS } from "../onnx/readModel.ts";
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
import { tensorScatter } from "./operators/tensorScatter.ts";
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

/** The newest operator set of ai.onnx whose meaning is known. */
const LATEST = OPSETS[1];

const { unary, binary, variadic } = elementwise;

/** The one table of operators (docs/operators.md). What is not in it is refused by name. */
export const REGISTRY: readonly Entry[] = [
  ["Abs", "", [1, LATEST], "fuse", unary(Op.abs)],
  ["Acos", "", [7, LATEST], "fuse", unary(Op.acos)],
  ["Acosh", "", [9, LATEST], "fuse", unary(Op.acosh)],
  ["Add", "", [1, LATEST], "fuse", binary(Op.add)],
  ["AffineGrid", "", [20, LATEST], "memory", affineGrid],
  ["And", "", [1, LATEST], "fuse", binary(Op.and)],
  ["ArgMax", "", [1, LATEST], "memory", argument(Reduce.argmax, Reduce.argmaxLast)],
  ["ArgMin", "", [1, LATEST], "memory", argument(Reduce.argmin, Reduce.argminLast)],
  ["Asin", "", [7, LATEST], "fuse", unary(Op.asin)],
  ["Asinh", "", [9, LATEST], "fuse", unary(Op.asinh)],
  ["Atan", "", [7, LATEST], "fuse", unary(Op.atan)],
  ["Atanh", "", [9, LATEST], "fuse", unary(Op.atanh)],
  ["Attention", "", [23, LATEST], "memory", attention],
  ["AveragePool", "", [1, LATEST], "memory", averagePool],
  ["BatchNormalization", "", [6, LATEST], "fuse", normalisation.batchNormalization],
  ["Bernoulli", "", [15, LATEST], "fuse", random.bernoulli],
  ["BitShift", "", [11, LATEST], "fuse", activations.bitShift],
  ["BitwiseAnd", "", [18, LATEST], "fuse", binary(Op.and)],
  ["BitwiseNot", "", [18, LATEST], "fuse", unary(Op.not)],
  ["BitwiseOr", "", [18, LATEST], "fuse", binary(Op.or)],
  ["BitwiseXor", "", [18, LATEST], "fuse", binary(Op.xor)],
  ["BlackmanWindow", "", [17, LATEST], "fuse", generated.cosineWindow(0.42, 0.5, 0.08)],
  ["Cast", "", [6, LATEST], "fuse", elementwise.cast],
  ["CastLike", "", [15, LATEST], "fuse", elementwise.castLike],
  ["Ceil", "", [1, LATEST], "fuse", unary(Op.ceil)],
  ["Celu", "", [12, LATEST], "fuse", exponentials.celu],
  ["CenterCropPad", "", [18, LATEST], "memory", centerCropPad],
  ["Clip", "", [1, LATEST], "fuse", activations.clip],
  ["Col2Im", "", [18, LATEST], "memory", col2Im],
  ["Compress", "", [9, LATEST], "memory", compress],
  ["Concat", "", [1, LATEST], "memory", movement.concat],
  ["Constant", "", [1, LATEST], "fuse", shape.constant],
  ["ConstantOfShape", "", [9, LATEST], "fuse", shape.constantOfShape],
  ["Conv", "", [1, LATEST], "memory", conv],
  ["ConvInteger", "", [10, LATEST], "memory", quantisedProducts.convInteger],
  ["ConvTranspose", "", [1, LATEST], "memory", convTranspose],
  ["Cos", "", [7, LATEST], "fuse", unary(Op.cos)],
  ["Cosh", "", [9, LATEST], "fuse", unary(Op.cosh)],
  ["CumSum", "", [11, LATEST], "memory", cumSum],
  ["DeformConv", "", [19, LATEST], "memory", deformConv],
  ["DepthToSpace", "", [1, LATEST], "fuse", shape.depthToSpace],
  ["DequantizeLinear", "", [10, LATEST], "fuse", quantise.dequantizeLinear],
  ["Det", "", [11, LATEST], "memory", det],
  ["DFT", "", [17, LATEST], "memory", dft],
  ["Div", "", [1, LATEST], "fuse", binary(Op.div)],
  ["Dropout", "", [1, LATEST], "fuse", shape.dropout],
  ["DynamicQuantizeLinear", "", [11, LATEST], "memory", quantise.dynamicQuantizeLinear],
  ["Einsum", "", [12, LATEST], "memory", einsum],
  ["Elu", "", [1, LATEST], "fuse", exponentials.elu],
  ["Equal", "", [1, LATEST], "fuse", binary(Op.eq)],
  ["Erf", "", [9, LATEST], "fuse", unary(Op.erf)],
  ["Exp", "", [1, LATEST], "fuse", unary(Op.exp)],
  ["Expand", "", [8, LATEST], "fuse", movement.expand],
  ["EyeLike", "", [9, LATEST], "shape", generated.eyeLike],
  ["Flatten", "", [1, LATEST], "fuse", shape.flatten],
  ["Floor", "", [1, LATEST], "fuse", unary(Op.floor)],
  ["GridSample", "", [16, LATEST], "memory", gridSample],
  ["GRU", "", [7, LATEST], "memory", gru],
  ["Gather", "", [1, LATEST], "memory", gather.gather],
  ["GatherElements", "", [11, LATEST], "memory", gather.gatherElements],
  ["GatherND", "", [11, LATEST], "memory", gather.gatherNd],
  ["Gelu", "", [20, LATEST], "fuse", activations.gelu],
  ["Gemm", "", [1, LATEST], "memory", gemm],
  ["GlobalAveragePool", "", [1, LATEST], "memory", globalPool(Reduce.sum)],
  ["GlobalLpPool", "", [2, LATEST], "memory", globalLpPool],
  ["GlobalMaxPool", "", [1, LATEST], "memory", globalPool(Reduce.max)],
  ["Greater", "", [1, LATEST], "fuse", binary(Op.lt, true)],
  ["GreaterOrEqual", "", [12, LATEST], "fuse", binary(Op.le, true)],
  ["GroupNormalization", "", [18, LATEST], "memory", more.groupNormalization],
  ["HammingWindow", "", [17, LATEST], "fuse", generated.cosineWindow(25 / 46, 21 / 46, 0)],
  ["HannWindow", "", [17, LATEST], "fuse", generated.cosineWindow(0.5, 0.5, 0)],
  ["HardSigmoid", "", [1, LATEST], "fuse", activations.hardSigmoid],
  ["HardSwish", "", [14, LATEST], "fuse", activations.hardSwish],
  ["Hardmax", "", [1, LATEST], "memory", gather.hardmax],
  ["Identity", "", [1, LATEST], "fuse", shape.identity],
  ["InstanceNormalization", "", [1, LATEST], "memory", normalisation.instanceNormalization],
  ["IsInf", "", [10, LATEST], "fuse", activations.isInf],
  ["IsNaN", "", [9, LATEST], "fuse", unary(Op.isNaN)],
  ["LRN", "", [1, LATEST], "memory", more.lrn],
  ["LSTM", "", [7, LATEST], "memory", lstm],
  ["LayerNormalization", "", [1, LATEST], "memory", normalisation.layerNormalization],
  ["LeakyRelu", "", [1, LATEST], "fuse", activations.leakyRelu],
  ["Less", "", [1, LATEST], "fuse", binary(Op.lt)],
  ["LessOrEqual", "", [12, LATEST], "fuse", binary(Op.le)],
  ["Log", "", [1, LATEST], "fuse", unary(Op.log)],
  ["LogSoftmax", "", [1, LATEST], "memory", softmax(true)],
  ["LpNormalization", "", [1, LATEST], "memory", more.lpNormalization],
  ["LpPool", "", [2, LATEST], "memory", lpPool],
  ["MatMul", "", [1, LATEST], "memory", matMul],
  ["MatMulInteger", "", [10, LATEST], "memory", quantisedProducts.matMulInteger],
  ["Max", "", [1, LATEST], "fuse", variadic(Op.max)],
  ["MaxPool", "", [1, LATEST], "memory", maxPool],
  ["MaxUnpool", "", [9, LATEST], "memory", maxUnpool],
  ["Mean", "", [1, LATEST], "fuse", activations.mean],
  ["MeanVarianceNormalization", "", [9, LATEST], "memory", more.meanVarianceNormalization],
  ["MelWeightMatrix", "", [17, LATEST], "fuse", melWeightMatrix],
  ["Min", "", [1, LATEST], "fuse", variadic(Op.min)],
  ["Mish", "", [18, LATEST], "fuse", exponentials.mish],
  ["Mod", "", [10, LATEST], "fuse", activations.mod],
  ["Mul", "", [1, LATEST], "fuse", binary(Op.mul)],
  ["Multinomial", "", [7, LATEST], "memory", random.multinomial],
  ["Neg", "", [1, LATEST], "fuse", unary(Op.neg)],
  ["NegativeLogLikelihoodLoss", "", [12, LATEST], "memory", negativeLogLikelihoodLoss],
  ["NonZero", "", [9, LATEST], "fuse", nonZero],
  ["Not", "", [1, LATEST], "fuse", unary(Op.not)],
  ["OneHot", "", [9, LATEST], "memory", gather.oneHot],
  ["Or", "", [1, LATEST], "fuse", binary(Op.or)],
  ["PRelu", "", [1, LATEST], "fuse", activations.pRelu],
  ["Pad", "", [2, LATEST], "memory", pad],
  ["Pow", "", [1, LATEST], "fuse", activations.pow],
  ["QLinearConv", "", [10, LATEST], "memory", quantisedProducts.qLinearConv],
  ["QLinearMatMul", "", [10, LATEST], "memory", quantisedProducts.qLinearMatMul],
  ["QuantizeLinear", "", [10, LATEST], "fuse", quantise.quantizeLinear],
  ["RMSNormalization", "", [23, LATEST], "memory", more.rmsNormalization],
  ["RNN", "", [7, LATEST], "memory", rnn],
  ["RandomNormal", "", [1, LATEST], "fuse", random.randomNormal],
  ["RandomNormalLike", "", [1, LATEST], "shape", random.randomNormalLike],
  ["RandomUniform", "", [1, LATEST], "fuse", random.randomUniform],
  ["RandomUniformLike", "", [1, LATEST], "shape", random.randomUniformLike],
  ["Range", "", [11, LATEST], "fuse", generated.range],
  ["Reciprocal", "", [1, LATEST], "fuse", activations.reciprocal],
  ["ReduceL1", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceL1, 18)],
  ["ReduceL2", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceL2, 18)],
  ["ReduceLogSum", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceLogSum, 18)],
  ["ReduceLogSumExp", "", [1, LATEST], "memory", reduceLogSumExp],
  ["ReduceMax", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceMax, 18)],
  ["ReduceMean", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceMean, 18)],
  ["ReduceMin", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceMin, 18)],
  ["ReduceProd", "", [1, LATEST], "memory", reduceProd],
  ["ReduceSum", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceSum, 13)],
  ["ReduceSumSquare", "", [1, LATEST], "memory", reduceOperator(KINDS.ReduceSumSquare, 18)],
  ["Relu", "", [1, LATEST], "fuse", activations.relu],
  ["Reshape", "", [5, LATEST], "fuse", shape.reshape],
  ["Resize", "", [10, LATEST], "memory", resize],
  ["ReverseSequence", "", [10, LATEST], "memory", reverseSequence],
  ["RoiAlign", "", [10, LATEST], "memory", roiAlign],
  ["RotaryEmbedding", "", [23, LATEST], "memory", rotaryEmbedding],
  ["Round", "", [11, LATEST], "fuse", unary(Op.round)],
  ["Scatter", "", [9, 10], "memory", scatterElements],
  ["ScatterElements", "", [11, LATEST], "memory", scatterElements],
  ["ScatterND", "", [11, LATEST], "memory", scatterNd],
  ["Selu", "", [6, LATEST], "fuse", exponentials.selu],
  ["Shape", "", [1, LATEST], "shape", shape.shape],
  ["Shrink", "", [9, LATEST], "fuse", activations.shrink],
  ["Sigmoid", "", [1, LATEST], "fuse", unary(Op.sigmoid)],
  ["Sign", "", [9, LATEST], "fuse", unary(Op.sign)],
  ["SimplifiedLayerNormalization", "", [1, LATEST], "memory", more.rmsNormalization],
  ["Sin", "", [7, LATEST], "fuse", unary(Op.sin)],
  ["Sinh", "", [9, LATEST], "fuse", unary(Op.sinh)],
  ["Size", "", [1, LATEST], "shape", shape.size],
  ["Slice", "", [1, LATEST], "fuse", movement.slice],
  ["Softmax", "", [1, LATEST], "memory", softmax(false)],
  ["SoftmaxCrossEntropyLoss", "", [12, LATEST], "memory", softmaxCrossEntropyLoss],
  ["Softplus", "", [1, LATEST], "fuse", exponentials.softplus],
  ["Softsign", "", [1, LATEST], "fuse", activations.softsign],
  ["SpaceToDepth", "", [1, LATEST], "fuse", shape.spaceToDepth],
  ["Split", "", [2, LATEST], "fuse", movement.split],
  ["Sqrt", "", [1, LATEST], "fuse", unary(Op.sqrt)],
  ["Squeeze", "", [1, LATEST], "fuse", shape.squeeze],
  ["STFT", "", [17, LATEST], "memory", stft],
  ["Sub", "", [1, LATEST], "fuse", binary(Op.sub)],
  ["Sum", "", [1, LATEST], "fuse", variadic(Op.add)],
  ["Swish", "", [24, LATEST], "fuse", activations.swish],
  ["Tan", "", [7, LATEST], "fuse", unary(Op.tan)],
  ["Tanh", "", [1, LATEST], "fuse", unary(Op.tanh)],
  ["TensorScatter", "", [24, LATEST], "memory", tensorScatter],
  ["ThresholdedRelu", "", [10, LATEST], "fuse", activations.thresholdedRelu],
  ["Tile", "", [6, LATEST], "memory", movement.tile],
  ["TopK", "", [1, LATEST], "memory", topK],
  ["Transpose", "", [1, LATEST], "fuse", movement.transpose],
  ["Trilu", "", [14, LATEST], "fuse", gather.trilu],
  ["Unique", "", [11, LATEST], "fuse", unique],
  ["Unsqueeze", "", [1, LATEST], "fuse", shape.unsqueeze],
  ["Upsample", "", [7, 9], "memory", resize],
  ["Where", "", [9, LATEST], "fuse", elementwise.where],
  ["Xor", "", [1, LATEST], "fuse", binary(Op.xor)],
];

const BY_NAME: ReadonlyMap<string, Entry> = new Map(
  [...REGISTRY, ...MICROSOFT_REGISTRY].map((entry) => [`${entry[1]}.${entry[0]}`, entry] as const),
);

/** The table's entry for an operator, or undefined. Domains: ai.onnx ("") and com.microsoft. */
export const findEntry = (operator: string, domain: string): Entry | undefined => BY_NAME.get(`${domain}.${operator}`);
