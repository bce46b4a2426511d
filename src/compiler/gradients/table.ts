import type { Node } from "../../model/onnx/model.ts";
import type { Rule } from "./backward.ts";
import * as activations from "./rules/activations.ts";
import * as arithmetic from "./rules/arithmetic.ts";
import { conv, convTranspose } from "./rules/convolution.ts";
import { einsum } from "./rules/einsum.ts";
import * as attention from "./rules/attention.ts";
import * as bodies from "./rules/bodies.ts";
import * as chains from "./rules/chains.ts";
import * as functions from "./rules/functions.ts";
import * as linearAttention from "./rules/linearAttention.ts";
import * as losses from "./rules/losses.ts";
import * as movement from "./rules/movement.ts";
import * as normalisation from "./rules/normalisation.ts";
import * as norms from "./rules/norms.ts";
import * as fused from "./rules/fused.ts";
import { averagePool, maxPool } from "./rules/pooling.ts";
import { gemm, matMul } from "./rules/products.ts";
import * as recurrent from "./rules/recurrent.ts";
import * as reductions from "./rules/reductions.ts";
import { resize } from "./rules/resize.ts";
import { gridSample } from "./rules/sampling.ts";
import * as scatter from "./rules/scatter.ts";
import * as spatial from "./rules/spatial.ts";
import * as spectrum from "./rules/spectrum.ts";
import * as tables from "./rules/tables.ts";

/** An operator's name; of one that is not of ai.onnx with its domain before. */
export const operatorKey = ({ operator, domain }: Pick<Node, "operator" | "domain">): string =>
  domain === "" ? operator : `${domain}.${operator}`;

/** The gradient rules, by operator: from the gradients of the outputs to those of the inputs. */
export const RULES: Readonly<Record<string, Rule>> = {
  Abs: functions.abs,
  Acos: functions.acos,
  Acosh: functions.acosh,
  Add: arithmetic.add,
  AffineGrid: spatial.affineGrid,
  Asin: functions.asin,
  Asinh: functions.asinh,
  Atan: functions.atan,
  Atanh: functions.atanh,
  AveragePool: averagePool,
  BatchNormalization: normalisation.batchNormalization,
  Cast: arithmetic.cast,
  CastLike: arithmetic.cast,
  Celu: activations.celu,
  CenterCropPad: movement.centerCropPad,
  Clip: activations.clip,
  Col2Im: spatial.col2Im,
  Compress: movement.compress,
  Concat: movement.concat,
  Conv: conv,
  ConvTranspose: convTranspose,
  Cos: functions.cos,
  Cosh: functions.cosh,
  CumSum: reductions.cumSum,
  DepthToSpace: movement.depthToSpace,
  Div: arithmetic.div,
  Dropout: activations.dropout,
  Einsum: einsum,
  Elu: activations.elu,
  Erf: functions.erf,
  Exp: functions.exp,
  Expand: movement.expand,
  Flatten: movement.reshape,
  Gather: movement.gather,
  GatherElements: movement.gatherElements,
  GatherND: scatter.gatherNd,
  Gelu: activations.gelu,
  Gemm: gemm,
  GlobalAveragePool: reductions.globalAveragePool,
  GlobalMaxPool: reductions.globalMaxPool,
  GroupNormalization: normalisation.groupNormalization,
  HardSigmoid: activations.hardSigmoid,
  HardSwish: activations.hardSwish,
  Identity: arithmetic.identity,
  InstanceNormalization: normalisation.instanceNormalization,
  LayerNormalization: normalisation.layerNormalization,
  LeakyRelu: activations.leakyRelu,
  Log: functions.log,
  LogSoftmax: reductions.logSoftmax,
  MatMul: matMul,
  Max: arithmetic.extreme,
  MaxPool: maxPool,
  MaxUnpool: scatter.maxUnpool,
  Mean: arithmetic.mean,
  Min: arithmetic.extreme,
  Mish: activations.mish,
  Mod: arithmetic.mod,
  Mul: arithmetic.mul,
  Neg: functions.neg,
  NegativeLogLikelihoodLoss: losses.negativeLogLikelihood,
  OneHot: arithmetic.oneHot,
  PRelu: activations.prelu,
  Pad: movement.pad,
  Pow: arithmetic.pow,
  RMSNormalization: normalisation.rmsNormalization,
  Reciprocal: functions.reciprocal,
  ReduceL1: reductions.reduceL1,
  ReduceL2: reductions.reduceL2,
  ReduceLogSum: reductions.reduceLogSum,
  ReduceLogSumExp: reductions.reduceLogSumExp,
  ReduceMax: reductions.reduceExtreme,
  ReduceMean: reductions.reduceMean,
  ReduceMin: reductions.reduceExtreme,
  ReduceSum: reductions.reduceSum,
  ReduceSumSquare: reductions.reduceSumSquare,
  Relu: activations.relu,
  Reshape: movement.reshape,
  Resize: resize,
  ReverseSequence: movement.reverseSequence,
  Scatter: scatter.scatterElements,
  ScatterElements: scatter.scatterElements,
  ScatterND: scatter.scatterNd,
  Selu: activations.selu,
  Shrink: activations.shrink,
  Sigmoid: functions.sigmoid,
  SimplifiedLayerNormalization: normalisation.rmsNormalization,
  Sin: functions.sin,
  Sinh: functions.sinh,
  Slice: movement.slice,
  Softmax: reductions.softmax,
  SoftmaxCrossEntropyLoss: losses.softmaxCrossEntropy,
  Softplus: functions.softplus,
  Softsign: functions.softsign,
  SpaceToDepth: movement.spaceToDepth,
  Split: movement.split,
  Sqrt: functions.sqrt,
  Squeeze: movement.reshape,
  Sub: arithmetic.sub,
  Sum: arithmetic.sum,
  Swish: activations.swish,
  Tan: functions.tan,
  Tanh: functions.tanh,
  TensorScatter: scatter.tensorScatter,
  ThresholdedRelu: activations.thresholdedRelu,
  Tile: movement.tile,
  TopK: scatter.topK,
  Transpose: movement.transpose,
  Trilu: movement.trilu,
  Unsqueeze: movement.reshape,
  Upsample: resize,
  Where: arithmetic.where,
  "ai.onnx.ml.Imputer": tables.imputer,
  "com.microsoft.GatherND": scatter.gatherNd,
  "com.microsoft.Pad": movement.pad,
  "com.microsoft.Trilu": movement.trilu,
};

/**
 * Operators whose rule writes the node in others that have a gradient, and gives the names of its outputs. What it
 * writes is differentiated in turn, and evaluated beside the node, whose own outputs stay as they are.
 */
export const COMPOSITIONS: Readonly<Record<string, Rule>> = {
  Attention: attention.attention,
  CausalConvWithState: linearAttention.causalConvWithState,
  CumProd: chains.cumProd,
  DFT: spectrum.dft,
  Det: chains.det,
  GRU: recurrent.gru,
  GlobalLpPool: norms.globalLpPool,
  GridSample: gridSample,
  If: bodies.ifThenElse,
  LRN: norms.lrn,
  LSTM: recurrent.lstm,
  LinearAttention: linearAttention.linearAttention,
  Loop: bodies.loop,
  LpNormalization: norms.lpNormalization,
  LpPool: norms.lpPool,
  MeanVarianceNormalization: norms.meanVarianceNormalization,
  RNN: recurrent.rnn,
  ReduceProd: chains.reduceProd,
  RotaryEmbedding: attention.rotaryEmbedding,
  STFT: spectrum.stft,
  Scan: bodies.scan,
  "ai.onnx.ml.ArrayFeatureExtractor": tables.arrayFeatureExtractor,
  "ai.onnx.ml.FeatureVectorizer": tables.featureVectorizer,
  "ai.onnx.ml.LinearRegressor": tables.linearRegressor,
  "ai.onnx.ml.Normalizer": tables.normalizer,
  "ai.onnx.ml.Scaler": tables.scaler,
  "com.microsoft.Attention": attention.microsoftAttention,
  "com.microsoft.BiasAdd": fused.biasAdd,
  "com.microsoft.BiasGelu": fused.biasGelu,
  "com.microsoft.BiasSplitGelu": fused.biasSplitGelu,
  "com.microsoft.CDist": fused.cDist,
  "com.microsoft.EmbedLayerNormalization": fused.embedLayerNormalization,
  "com.microsoft.ExpandDims": fused.expandDims,
  "com.microsoft.FastGelu": fused.fastGelu,
  "com.microsoft.FusedConv": fused.fusedConv,
  "com.microsoft.FusedGemm": fused.fusedGemm,
  "com.microsoft.FusedMatMul": fused.fusedMatMul,
  "com.microsoft.Gelu": fused.microsoftGelu,
  "com.microsoft.GridSample": gridSample,
  "com.microsoft.GroupNorm": fused.groupNormalised,
  "com.microsoft.MultiHeadAttention": attention.multiHeadAttention,
  "com.microsoft.NhwcConv": fused.nhwcConv,
  "com.microsoft.QuickGelu": fused.quickGelu,
  "com.microsoft.RotaryEmbedding": attention.microsoftRotaryEmbedding,
  "com.microsoft.SkipGroupNorm": fused.skipGroupNorm,
  "com.microsoft.SkipLayerNormalization": fused.skipLayerNormalization,
  "com.microsoft.SkipSimplifiedLayerNormalization": fused.skipSimplifiedLayerNormalization,
  "com.microsoft.TransposeMatMul": fused.fusedMatMul,
};

/** Operators with a rule of which all outputs may have a gradient. */
export const OF_ALL_OUTPUTS: ReadonlySet<string> = new Set(["Split", "SoftmaxCrossEntropyLoss"]);

/** Inputs of floats that have no gradient, by operator: bounds, given moments, weights of classes. */
export const WITHOUT_GRADIENT: Readonly<Record<string, readonly number[]>> = {
  BatchNormalization: [3, 4],
  Clip: [1, 2],
  Dropout: [1],
  NegativeLogLikelihoodLoss: [2],
  OneHot: [1],
  Pad: [2],
  Resize: [1, 2],
  SoftmaxCrossEntropyLoss: [2],
  Upsample: [1],
  "com.microsoft.Pad": [2],
};
