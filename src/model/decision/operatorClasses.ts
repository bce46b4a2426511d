import type { Node } from "../onnx/model.ts";

/** An operator's effect on values that may differ between machines, and on exact values. */
type OperatorClass =
  /** Its outputs follow from shapes and attributes. */
  | { kind: "shape" }
  /** Moves elements of the inputs in `data` (all inputs if absent); the other inputs give the destinations. */
  | { kind: "movement"; data?: readonly number[] }
  /** Chooses among its inputs' elements, up to their signs: nothing is rounded, nothing jumps. */
  | { kind: "selection" }
  /** Does one IEEE 754 or integer operation for each element. */
  | { kind: "arithmetic" }
  /** Exact on integers; its floats depend on an order of operations. */
  | { kind: "whole" }
  /** Takes and gives integers or bools. */
  | { kind: "integers" }
  /** Converts elements to another type. */
  | { kind: "cast" }
  /** Its outputs are discrete, whatever its inputs are. */
  | { kind: "decision" }
  /** Gives floats that differ between machines in their last bits; of integers (`integersToo`) maybe integers. */
  | { kind: "float"; integersToo?: true }
  /**
   * Small differences in its inputs can cause large differences in its outputs, and no margin is read, for the reason
   * given.
   */
  | { kind: "unread"; why: string };

const movement = (...data: number[]): OperatorClass => ({ kind: "movement", data });
const ROUNDING: OperatorClass = { kind: "unread", why: "rounds to few bits, of which no margin is read" };
const JUMPING: OperatorClass = { kind: "unread", why: "jumps at boundaries of which no margin is read" };
const BITS: OperatorClass = { kind: "unread", why: "reads the bits of elements, of which no margin is read" };
const RANDOM: OperatorClass = { kind: "unread", why: "draws random numbers, which every runtime does otherwise" };

/** Classes, each with its ai.onnx operators. */
const OPERATORS: readonly (readonly [OperatorClass, string])[] = [
  [{ kind: "shape" }, "Constant ConstantOfShape EyeLike Shape Size"],
  [{ kind: "movement" }, "Concat"],
  [movement(0), "CenterCropPad Compress DepthToSpace Dropout Expand Flatten Gather GatherElements GatherND Identity"],
  [movement(0), "Reshape ReverseSequence Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze"],
  [movement(0, 1), "TensorScatter"],
  [movement(0, 2), "Pad Scatter ScatterElements ScatterND"],
  [movement(1, 2), "Where"],
  [movement(2), "OneHot"],
  [{ kind: "selection" }, "Abs Clip GlobalMaxPool Max MaxPool Min Neg ReduceMax ReduceMin Relu"],
  [{ kind: "arithmetic" }, "Add Div Mul Sub Sum"],
  [{ kind: "whole" }, "CumProd CumSum Einsum Gemm MatMul Range ReduceL1 ReduceProd ReduceSum ReduceSumSquare"],
  [
    { kind: "integers" },
    "And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ConvInteger MatMulInteger Not Or Xor",
  ],
  [{ kind: "cast" }, "Cast CastLike"],
  [
    { kind: "decision" },
    "ArgMax ArgMin Ceil Equal Floor Greater GreaterOrEqual Hardmax Less LessOrEqual NonZero Round",
  ],
  [{ kind: "decision" }, "Sign TfIdfVectorizer TopK"],
  [{ kind: "float" }, "Acos Acosh AffineGrid Asin Asinh Atan Atanh Attention AveragePool BatchNormalization"],
  [
    { kind: "float" },
    "BlackmanWindow CausalConvWithState Celu Col2Im Conv ConvTranspose Cos Cosh DFT DeformConv DequantizeLinear Det",
  ],
  [{ kind: "float" }, "Erf Exp GRU Gelu GlobalAveragePool GlobalLpPool GroupNormalization HammingWindow HannWindow"],
  [
    { kind: "float" },
    "HardSigmoid HardSwish InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Log LogSoftmax",
  ],
  [{ kind: "float" }, "LpNormalization LpPool Mean MeanVarianceNormalization MelWeightMatrix Mish"],
  [{ kind: "float" }, "NegativeLogLikelihoodLoss PRelu RMSNormalization RNN Reciprocal"],
  [{ kind: "float" }, "RotaryEmbedding STFT Selu Sigmoid SimplifiedLayerNormalization"],
  [{ kind: "float" }, "Sin Sinh Softmax SoftmaxCrossEntropyLoss Softplus Softsign Sqrt Swish Tan Tanh"],
  [{ kind: "float", integersToo: true }, "Pow ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean Resize Upsample"],
  [{ kind: "float" }, "Elu LinearAttention"],
  [BITS, "BitCast"],
  [ROUNDING, "DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear"],
  [JUMPING, "GridSample IsInf IsNaN MaxUnpool Mod NonMaxSuppression RoiAlign Shrink ThresholdedRelu Unique"],
  [RANDOM, "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"],
];

/** Classes, each with its com.microsoft operators. */
const MICROSOFT: readonly (readonly [OperatorClass, string])[] = [
  [movement(0), "ExpandDims GatherND Trilu"],
  [movement(0, 2), "Pad"],
  [{ kind: "selection" }, "NhwcMaxPool"],
  [{ kind: "whole" }, "Range"],
  [
    { kind: "float" },
    "Attention BiasAdd BiasGelu BiasSplitGelu CDist DequantizeLinear EmbedLayerNormalization FastGelu",
  ],
  [{ kind: "float" }, "FusedConv FusedGemm FusedMatMul GatherBlockQuantized Gelu GroupNorm GroupQueryAttention"],
  [{ kind: "float" }, "MatMulNBits MultiHeadAttention NhwcConv QuickGelu RotaryEmbedding SkipGroupNorm"],
  [{ kind: "float" }, "SkipLayerNormalization SkipSimplifiedLayerNormalization TransposeMatMul"],
  [ROUNDING, "DynamicQuantizeMatMul MatMulIntegerToFloat QAttention QGemm QLinearAdd QLinearAveragePool QLinearConcat"],
  [ROUNDING, "QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax"],
  [ROUNDING, "QLinearWhere QuantizeLinear"],
  [JUMPING, "GridSample"],
];

/** Classes, each with its ai.onnx.ml operators. Labels, categories and leaves jump with their inputs. */
const CLASSICAL: readonly (readonly [OperatorClass, string])[] = [
  [movement(0), "ArrayFeatureExtractor"],
  [{ kind: "float" }, "FeatureVectorizer LinearRegressor Normalizer SVMRegressor Scaler"],
  [JUMPING, "Binarizer Imputer LabelEncoder LinearClassifier OneHotEncoder SVMClassifier"],
  [JUMPING, "TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor"],
];

/** Classes, each with its ai.onnx.preview.training operators. */
const TRAINING: readonly (readonly [OperatorClass, string])[] = [[{ kind: "float" }, "Adagrad Adam Momentum"]];

const rows = (domain: string, table: typeof OPERATORS): [string, OperatorClass][] =>
  table.flatMap(([row, names]) => names.split(" ").map((name): [string, OperatorClass] => [`${domain}.${name}`, row]));

const BY_NAME: ReadonlyMap<string, OperatorClass> = new Map([
  ...rows("", OPERATORS),
  ...rows("com.microsoft", MICROSOFT),
  ...rows("ai.onnx.ml", CLASSICAL),
  ...rows("ai.onnx.preview.training", TRAINING),
]);

const UNKNOWN: OperatorClass = { kind: "unread", why: "is not looked into" };

/**
 * Returns the class of a node's operator. Operators with bodies or sequences, and unknown operators, get an `unread`
 * class.
 */
export function operatorClass({ operator, domain, attributes }: Node): OperatorClass {
  const reduction = attributes.get("reduction");
  // A reduction adds or multiplies where several elements go to one place.
  if (operator.startsWith("Scatter") && reduction?.kind === "string" && reduction.value !== "none")
    return { kind: "whole" };
  return BY_NAME.get(`${domain}.${operator}`) ?? UNKNOWN;
}

/** Outputs of operators of floats that hold integers. */
const INTEGER_OUTPUTS: ReadonlyMap<string, number> = new Map([
  ["MaxPool", 1],
  ["EmbedLayerNormalization", 1],
]);

/** Returns true if an operator's output holds integers that follow from floats without a readable margin. */
export const isUnreadOutput = (operator: string, output: number): boolean => INTEGER_OUTPUTS.get(operator) === output;
