import { Op } from "../../program/operations.ts";
import { Reduce } from "../../program/types.ts";
import { ML_REGISTRY } from "./ml/registry.ts";
import { MICROSOFT_REGISTRY } from "./microsoft/registry.ts";
import { OWN_REGISTRY } from "./internal/registry.ts";
import { LATEST, type Entry } from "./entry.ts";
import * as activations from "./activations.ts";
import { attention } from "./attention.ts";
import { bitCast } from "./bitCast.ts";
import { causalConvWithState, cumProd, linearAttention } from "./linearAttention.ts";
import { conv } from "./conv.ts";
import { convTranspose } from "./convTranspose.ts";
import { affineGrid, centerCropPad, col2Im } from "./spatialTransforms.ts";
import { einsum } from "./einsum.ts";
import * as elementwise from "./elementwise.ts";
import * as exponentials from "./exponentials.ts";
import * as gather from "./gather.ts";
import * as generators from "./generators.ts";
import { compress, nonZero, unique } from "./valueDependent.ts";
import { nonMaxSuppression } from "./nonMaxSuppression.ts";
import { negativeLogLikelihoodLoss, softmaxCrossEntropyLoss } from "./loss.ts";
import { globalLpPool, lpPool } from "./lpPool.ts";
import { gemm, matMul } from "./matmul.ts";
import * as normalisationVariants from "./normalisationVariants.ts";
import * as movement from "./movement.ts";
import * as normalisation from "./normalisation.ts";
import { pad } from "./pad.ts";
import { averagePool, globalPool, maxPool } from "./pool.ts";
import { det, reduceProd } from "./reduceProduct.ts";
import * as quantise from "./quantise.ts";
import * as quantisedProducts from "./quantisedProducts.ts";
import * as random from "./random.ts";
import { gru, lstm, rnn } from "./recurrent/recurrent.ts";
import { argument, cumSum, KINDS, reduceLogSumExp, reduceOperator, softmax } from "./reduction.ts";
import { resize } from "./resize/resize.ts";
import { reverseSequence } from "./reverseSequence.ts";
import { maxUnpool, scatterElements, scatterNd } from "./scatter.ts";
import { rotaryEmbedding } from "./rotary.ts";
import { deformConv } from "./sampling/deformConv.ts";
import { gridSample } from "./sampling/gridSample.ts";
import { roiAlign } from "./sampling/roiAlign.ts";
import * as shape from "./shape.ts";
import { dft, melWeightMatrix, stft } from "./spectrum.ts";
import { tfIdf } from "./tfIdf.ts";
import { tensorScatter } from "./tensorScatter.ts";
import { topK } from "./topK.ts";
import { hardmax, oneHot, trilu } from "./masks.ts";

const { unary, binary, variadic } = elementwise;

/** The table of operators of ai.onnx (docs/operators.md). What is in no table is refused by name. */
const OPERATORS: readonly Omit<Entry, "domain">[] = [
  { operator: "Abs", since: 1, until: LATEST, use: "fuse", lower: unary(Op.abs) },
  { operator: "Acos", since: 7, until: LATEST, use: "fuse", lower: unary(Op.acos) },
  { operator: "Acosh", since: 9, until: LATEST, use: "fuse", lower: unary(Op.acosh) },
  { operator: "Add", since: 1, until: LATEST, use: "fuse", lower: binary(Op.add) },
  { operator: "AffineGrid", since: 20, until: LATEST, use: "memory", lower: affineGrid },
  { operator: "And", since: 1, until: LATEST, use: "fuse", lower: binary(Op.and) },
  { operator: "ArgMax", since: 1, until: LATEST, use: "memory", lower: argument(Reduce.argmax, Reduce.argmaxLast) },
  { operator: "ArgMin", since: 1, until: LATEST, use: "memory", lower: argument(Reduce.argmin, Reduce.argminLast) },
  { operator: "Asin", since: 7, until: LATEST, use: "fuse", lower: unary(Op.asin) },
  { operator: "Asinh", since: 9, until: LATEST, use: "fuse", lower: unary(Op.asinh) },
  { operator: "Atan", since: 7, until: LATEST, use: "fuse", lower: unary(Op.atan) },
  { operator: "Atanh", since: 9, until: LATEST, use: "fuse", lower: unary(Op.atanh) },
  { operator: "Attention", since: 23, until: LATEST, use: "memory", lower: attention },
  { operator: "AveragePool", since: 1, until: LATEST, use: "memory", lower: averagePool },
  { operator: "BatchNormalization", since: 6, until: LATEST, use: "fuse", lower: normalisation.batchNormalization },
  { operator: "Bernoulli", since: 15, until: LATEST, use: "fuse", lower: random.bernoulli },
  { operator: "BitCast", since: 26, until: LATEST, use: "memory", lower: bitCast },
  { operator: "BitShift", since: 11, until: LATEST, use: "fuse", lower: activations.bitShift },
  { operator: "BitwiseAnd", since: 18, until: LATEST, use: "fuse", lower: binary(Op.and) },
  { operator: "BitwiseNot", since: 18, until: LATEST, use: "fuse", lower: unary(Op.not) },
  { operator: "BitwiseOr", since: 18, until: LATEST, use: "fuse", lower: binary(Op.or) },
  { operator: "BitwiseXor", since: 18, until: LATEST, use: "fuse", lower: binary(Op.xor) },
  {
    operator: "BlackmanWindow",
    since: 17,
    until: LATEST,
    use: "fuse",
    lower: generators.cosineWindow(0.42, 0.5, 0.08),
  },
  { operator: "Cast", since: 6, until: LATEST, use: "fuse", lower: elementwise.cast },
  { operator: "CastLike", since: 15, until: LATEST, use: "fuse", lower: elementwise.castLike },
  {
    operator: "CausalConvWithState",
    since: 27,
    until: LATEST,
    use: "memory",
    lower: causalConvWithState,
  },
  { operator: "Ceil", since: 1, until: LATEST, use: "fuse", lower: unary(Op.ceil) },
  { operator: "Celu", since: 12, until: LATEST, use: "fuse", lower: exponentials.celu },
  { operator: "CenterCropPad", since: 18, until: LATEST, use: "memory", lower: centerCropPad },
  { operator: "Clip", since: 1, until: LATEST, use: "fuse", lower: activations.clip },
  { operator: "Col2Im", since: 18, until: LATEST, use: "memory", lower: col2Im },
  { operator: "Compress", since: 9, until: LATEST, use: "memory", lower: compress },
  { operator: "Concat", since: 1, until: LATEST, use: "memory", lower: movement.concat },
  { operator: "Constant", since: 1, until: LATEST, use: "fuse", lower: shape.constant },
  { operator: "ConstantOfShape", since: 9, until: LATEST, use: "fuse", lower: shape.constantOfShape },
  { operator: "Conv", since: 1, until: LATEST, use: "memory", lower: conv },
  { operator: "ConvInteger", since: 10, until: LATEST, use: "memory", lower: quantisedProducts.convInteger },
  { operator: "ConvTranspose", since: 1, until: LATEST, use: "memory", lower: convTranspose },
  { operator: "Cos", since: 7, until: LATEST, use: "fuse", lower: unary(Op.cos) },
  { operator: "Cosh", since: 9, until: LATEST, use: "fuse", lower: unary(Op.cosh) },
  { operator: "CumProd", since: 26, until: LATEST, use: "memory", lower: cumProd },
  { operator: "CumSum", since: 11, until: LATEST, use: "memory", lower: cumSum },
  { operator: "DeformConv", since: 19, until: LATEST, use: "memory", lower: deformConv },
  { operator: "DepthToSpace", since: 1, until: LATEST, use: "fuse", lower: shape.depthToSpace },
  { operator: "DequantizeLinear", since: 10, until: LATEST, use: "fuse", lower: quantise.dequantizeLinear },
  { operator: "Det", since: 11, until: LATEST, use: "memory", lower: det },
  { operator: "DFT", since: 17, until: LATEST, use: "memory", lower: dft },
  { operator: "Div", since: 1, until: LATEST, use: "fuse", lower: binary(Op.div) },
  { operator: "Dropout", since: 1, until: LATEST, use: "fuse", lower: shape.dropout },
  { operator: "DynamicQuantizeLinear", since: 11, until: LATEST, use: "memory", lower: quantise.dynamicQuantizeLinear },
  { operator: "Einsum", since: 12, until: LATEST, use: "memory", lower: einsum },
  { operator: "Elu", since: 1, until: LATEST, use: "fuse", lower: exponentials.elu },
  { operator: "Equal", since: 1, until: LATEST, use: "fuse", lower: binary(Op.eq) },
  { operator: "Erf", since: 9, until: LATEST, use: "fuse", lower: unary(Op.erf) },
  { operator: "Exp", since: 1, until: LATEST, use: "fuse", lower: unary(Op.exp) },
  { operator: "Expand", since: 8, until: LATEST, use: "fuse", lower: movement.expand },
  { operator: "EyeLike", since: 9, until: LATEST, use: "shape", lower: generators.eyeLike },
  { operator: "Flatten", since: 1, until: LATEST, use: "fuse", lower: shape.flatten },
  { operator: "Floor", since: 1, until: LATEST, use: "fuse", lower: unary(Op.floor) },
  { operator: "GridSample", since: 16, until: LATEST, use: "memory", lower: gridSample },
  { operator: "GRU", since: 7, until: LATEST, use: "memory", lower: gru },
  { operator: "Gather", since: 1, until: LATEST, use: "memory", lower: gather.gather },
  { operator: "GatherElements", since: 11, until: LATEST, use: "memory", lower: gather.gatherElements },
  { operator: "GatherND", since: 11, until: LATEST, use: "memory", lower: gather.gatherNd },
  { operator: "Gelu", since: 20, until: LATEST, use: "fuse", lower: activations.gelu },
  { operator: "Gemm", since: 1, until: LATEST, use: "memory", lower: gemm },
  { operator: "GlobalAveragePool", since: 1, until: LATEST, use: "memory", lower: globalPool(Reduce.sum) },
  { operator: "GlobalLpPool", since: 2, until: LATEST, use: "memory", lower: globalLpPool },
  { operator: "GlobalMaxPool", since: 1, until: LATEST, use: "memory", lower: globalPool(Reduce.max) },
  { operator: "Greater", since: 1, until: LATEST, use: "fuse", lower: binary(Op.lt, true) },
  { operator: "GreaterOrEqual", since: 12, until: LATEST, use: "fuse", lower: binary(Op.le, true) },
  {
    operator: "GroupNormalization",
    since: 18,
    until: LATEST,
    use: "memory",
    lower: normalisationVariants.groupNormalization,
  },
  {
    operator: "HammingWindow",
    since: 17,
    until: LATEST,
    use: "fuse",
    lower: generators.cosineWindow(25 / 46, 21 / 46, 0),
  },
  { operator: "HannWindow", since: 17, until: LATEST, use: "fuse", lower: generators.cosineWindow(0.5, 0.5, 0) },
  { operator: "HardSigmoid", since: 1, until: LATEST, use: "fuse", lower: activations.hardSigmoid },
  { operator: "HardSwish", since: 14, until: LATEST, use: "fuse", lower: activations.hardSwish },
  { operator: "Hardmax", since: 1, until: LATEST, use: "memory", lower: hardmax },
  { operator: "Identity", since: 1, until: LATEST, use: "fuse", lower: shape.identity },
  {
    operator: "InstanceNormalization",
    since: 1,
    until: LATEST,
    use: "memory",
    lower: normalisation.instanceNormalization,
  },
  { operator: "IsInf", since: 10, until: LATEST, use: "fuse", lower: activations.isInf },
  { operator: "IsNaN", since: 9, until: LATEST, use: "fuse", lower: unary(Op.isNaN) },
  { operator: "LRN", since: 1, until: LATEST, use: "memory", lower: normalisationVariants.lrn },
  { operator: "LSTM", since: 7, until: LATEST, use: "memory", lower: lstm },
  { operator: "LayerNormalization", since: 1, until: LATEST, use: "memory", lower: normalisation.layerNormalization },
  { operator: "LeakyRelu", since: 1, until: LATEST, use: "fuse", lower: activations.leakyRelu },
  { operator: "Less", since: 1, until: LATEST, use: "fuse", lower: binary(Op.lt) },
  { operator: "LessOrEqual", since: 12, until: LATEST, use: "fuse", lower: binary(Op.le) },
  { operator: "Log", since: 1, until: LATEST, use: "fuse", lower: unary(Op.log) },
  { operator: "LinearAttention", since: 27, until: LATEST, use: "memory", lower: linearAttention },
  { operator: "LogSoftmax", since: 1, until: LATEST, use: "memory", lower: softmax(true) },
  { operator: "LpNormalization", since: 1, until: LATEST, use: "memory", lower: normalisationVariants.lpNormalization },
  { operator: "LpPool", since: 2, until: LATEST, use: "memory", lower: lpPool },
  { operator: "MatMul", since: 1, until: LATEST, use: "memory", lower: matMul },
  { operator: "MatMulInteger", since: 10, until: LATEST, use: "memory", lower: quantisedProducts.matMulInteger },
  { operator: "Max", since: 1, until: LATEST, use: "fuse", lower: variadic(Op.max) },
  { operator: "MaxPool", since: 1, until: LATEST, use: "memory", lower: maxPool },
  { operator: "MaxUnpool", since: 9, until: LATEST, use: "memory", lower: maxUnpool },
  { operator: "Mean", since: 1, until: LATEST, use: "fuse", lower: activations.mean },
  {
    operator: "MeanVarianceNormalization",
    since: 9,
    until: LATEST,
    use: "memory",
    lower: normalisationVariants.meanVarianceNormalization,
  },
  { operator: "MelWeightMatrix", since: 17, until: LATEST, use: "fuse", lower: melWeightMatrix },
  { operator: "Min", since: 1, until: LATEST, use: "fuse", lower: variadic(Op.min) },
  { operator: "Mish", since: 18, until: LATEST, use: "fuse", lower: exponentials.mish },
  { operator: "Mod", since: 10, until: LATEST, use: "fuse", lower: activations.mod },
  { operator: "Mul", since: 1, until: LATEST, use: "fuse", lower: binary(Op.mul) },
  { operator: "Multinomial", since: 7, until: LATEST, use: "memory", lower: random.multinomial },
  { operator: "Neg", since: 1, until: LATEST, use: "fuse", lower: unary(Op.neg) },
  { operator: "NegativeLogLikelihoodLoss", since: 12, until: LATEST, use: "memory", lower: negativeLogLikelihoodLoss },
  { operator: "NonMaxSuppression", since: 10, until: LATEST, use: "memory", lower: nonMaxSuppression },
  { operator: "NonZero", since: 9, until: LATEST, use: "memory", lower: nonZero },
  { operator: "Not", since: 1, until: LATEST, use: "fuse", lower: unary(Op.not) },
  { operator: "OneHot", since: 9, until: LATEST, use: "memory", lower: oneHot },
  { operator: "Or", since: 1, until: LATEST, use: "fuse", lower: binary(Op.or) },
  { operator: "PRelu", since: 1, until: LATEST, use: "fuse", lower: activations.pRelu },
  { operator: "Pad", since: 2, until: LATEST, use: "memory", lower: pad },
  { operator: "Pow", since: 1, until: LATEST, use: "fuse", lower: activations.pow },
  { operator: "QLinearConv", since: 10, until: LATEST, use: "memory", lower: quantisedProducts.qLinearConv },
  { operator: "QLinearMatMul", since: 10, until: LATEST, use: "memory", lower: quantisedProducts.qLinearMatMul },
  { operator: "QuantizeLinear", since: 10, until: LATEST, use: "fuse", lower: quantise.quantizeLinear },
  {
    operator: "RMSNormalization",
    since: 23,
    until: LATEST,
    use: "memory",
    lower: normalisationVariants.rmsNormalization,
  },
  { operator: "RNN", since: 7, until: LATEST, use: "memory", lower: rnn },
  { operator: "RandomNormal", since: 1, until: LATEST, use: "fuse", lower: random.randomNormal },
  { operator: "RandomNormalLike", since: 1, until: LATEST, use: "shape", lower: random.randomNormalLike },
  { operator: "RandomUniform", since: 1, until: LATEST, use: "fuse", lower: random.randomUniform },
  { operator: "RandomUniformLike", since: 1, until: LATEST, use: "shape", lower: random.randomUniformLike },
  { operator: "Range", since: 11, until: LATEST, use: "fuse", lower: generators.range },
  { operator: "Reciprocal", since: 1, until: LATEST, use: "fuse", lower: activations.reciprocal },
  { operator: "ReduceL1", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceL1, 18) },
  { operator: "ReduceL2", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceL2, 18) },
  { operator: "ReduceLogSum", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceLogSum, 18) },
  { operator: "ReduceLogSumExp", since: 1, until: LATEST, use: "memory", lower: reduceLogSumExp },
  { operator: "ReduceMax", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceMax, 18) },
  { operator: "ReduceMean", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceMean, 18) },
  { operator: "ReduceMin", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceMin, 18) },
  { operator: "ReduceProd", since: 1, until: LATEST, use: "memory", lower: reduceProd },
  { operator: "ReduceSum", since: 1, until: LATEST, use: "memory", lower: reduceOperator(KINDS.ReduceSum, 13) },
  {
    operator: "ReduceSumSquare",
    since: 1,
    until: LATEST,
    use: "memory",
    lower: reduceOperator(KINDS.ReduceSumSquare, 18),
  },
  { operator: "Relu", since: 1, until: LATEST, use: "fuse", lower: activations.relu },
  { operator: "Reshape", since: 5, until: LATEST, use: "fuse", lower: shape.reshape },
  { operator: "Resize", since: 10, until: LATEST, use: "memory", lower: resize },
  { operator: "ReverseSequence", since: 10, until: LATEST, use: "memory", lower: reverseSequence },
  { operator: "RoiAlign", since: 10, until: LATEST, use: "memory", lower: roiAlign },
  { operator: "RotaryEmbedding", since: 23, until: LATEST, use: "memory", lower: rotaryEmbedding },
  { operator: "Round", since: 11, until: LATEST, use: "fuse", lower: unary(Op.round) },
  { operator: "Scatter", since: 9, until: 10, use: "memory", lower: scatterElements },
  { operator: "ScatterElements", since: 11, until: LATEST, use: "memory", lower: scatterElements },
  { operator: "ScatterND", since: 11, until: LATEST, use: "memory", lower: scatterNd },
  { operator: "Selu", since: 6, until: LATEST, use: "fuse", lower: exponentials.selu },
  { operator: "Shape", since: 1, until: LATEST, use: "shape", lower: shape.shape },
  { operator: "Shrink", since: 9, until: LATEST, use: "fuse", lower: activations.shrink },
  { operator: "Sigmoid", since: 1, until: LATEST, use: "fuse", lower: unary(Op.sigmoid) },
  { operator: "Sign", since: 9, until: LATEST, use: "fuse", lower: unary(Op.sign) },
  {
    operator: "SimplifiedLayerNormalization",
    since: 1,
    until: LATEST,
    use: "memory",
    lower: normalisationVariants.rmsNormalization,
  },
  { operator: "Sin", since: 7, until: LATEST, use: "fuse", lower: unary(Op.sin) },
  { operator: "Sinh", since: 9, until: LATEST, use: "fuse", lower: unary(Op.sinh) },
  { operator: "Size", since: 1, until: LATEST, use: "shape", lower: shape.size },
  { operator: "Slice", since: 1, until: LATEST, use: "fuse", lower: movement.slice },
  { operator: "Softmax", since: 1, until: LATEST, use: "memory", lower: softmax(false) },
  { operator: "SoftmaxCrossEntropyLoss", since: 12, until: LATEST, use: "memory", lower: softmaxCrossEntropyLoss },
  { operator: "Softplus", since: 1, until: LATEST, use: "fuse", lower: exponentials.softplus },
  { operator: "Softsign", since: 1, until: LATEST, use: "fuse", lower: activations.softsign },
  { operator: "SpaceToDepth", since: 1, until: LATEST, use: "fuse", lower: shape.spaceToDepth },
  { operator: "Split", since: 2, until: LATEST, use: "fuse", lower: movement.split },
  { operator: "Sqrt", since: 1, until: LATEST, use: "fuse", lower: unary(Op.sqrt) },
  { operator: "Squeeze", since: 1, until: LATEST, use: "fuse", lower: shape.squeeze },
  { operator: "STFT", since: 17, until: LATEST, use: "memory", lower: stft },
  { operator: "Sub", since: 1, until: LATEST, use: "fuse", lower: binary(Op.sub) },
  { operator: "Sum", since: 1, until: LATEST, use: "fuse", lower: variadic(Op.add) },
  { operator: "Swish", since: 24, until: LATEST, use: "fuse", lower: activations.swish },
  { operator: "Tan", since: 7, until: LATEST, use: "fuse", lower: unary(Op.tan) },
  { operator: "Tanh", since: 1, until: LATEST, use: "fuse", lower: unary(Op.tanh) },
  { operator: "TensorScatter", since: 24, until: LATEST, use: "memory", lower: tensorScatter },
  { operator: "TfIdfVectorizer", since: 9, until: LATEST, use: "memory", lower: tfIdf },
  { operator: "ThresholdedRelu", since: 10, until: LATEST, use: "fuse", lower: activations.thresholdedRelu },
  { operator: "Tile", since: 6, until: LATEST, use: "memory", lower: movement.tile },
  { operator: "TopK", since: 1, until: LATEST, use: "memory", lower: topK },
  { operator: "Transpose", since: 1, until: LATEST, use: "fuse", lower: movement.transpose },
  { operator: "Trilu", since: 14, until: LATEST, use: "fuse", lower: trilu },
  { operator: "Unique", since: 11, until: LATEST, use: "memory", lower: unique },
  { operator: "Unsqueeze", since: 1, until: LATEST, use: "fuse", lower: shape.unsqueeze },
  { operator: "Upsample", since: 7, until: 9, use: "memory", lower: resize },
  { operator: "Where", since: 9, until: LATEST, use: "fuse", lower: elementwise.where },
  { operator: "Xor", since: 1, until: LATEST, use: "fuse", lower: binary(Op.xor) },
];

/** The rows of ai.onnx, whose name as a domain is empty. */
export const REGISTRY: readonly Entry[] = OPERATORS.map((row) => ({ ...row, domain: "" }));

const BY_NAME: ReadonlyMap<string, Entry> = new Map(
  [...REGISTRY, ...ML_REGISTRY, ...MICROSOFT_REGISTRY, ...OWN_REGISTRY].map(
    (entry) => [`${entry.domain}.${entry.operator}`, entry] as const,
  ),
);

/**
 * The table's entry for an operator, or undefined. Domains: ai.onnx (""), ai.onnx.ml, com.microsoft and the compiler's
 * own.
 */
export const findEntry = (operator: string, domain: string): Entry | undefined => BY_NAME.get(`${domain}.${operator}`);
