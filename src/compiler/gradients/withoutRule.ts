import type { Node } from "../../model/onnx/model.ts";
import { operatorKey } from "./table.ts";

const STEPS = "it is not differentiable: it is constant but where it jumps; leave it out of what is trained";
const QUANTISED =
  "it is not differentiable: its numbers are quantised; train before quantising, or freeze what is before";
const WHOLE = "it is not differentiable: its results are whole numbers or truth values";
const CONSTANT = "it is not differentiable: its elements depend on no floats, or on bounds only; make them a constant";
const DRAWN = "it is not differentiable: it draws; add noise that is drawn apart, and scale it";
const TREES = "it is not differentiable: trees have steps; train what comes after them, or freeze what is before";
const SEQUENCE = "sequences have no gradient rule: use Split and Concat";
const OPTIONAL = "optionals have no gradient rule: export the model with the value itself";

const all = (names: string, why: string): [string, string][] => names.split(" ").map((name) => [name, why]);
const microsoft = (names: string, why: string): [string, string][] =>
  names.split(" ").map((name) => [`com.microsoft.${name}`, why]);
const ml = (names: string, why: string): [string, string][] =>
  names.split(" ").map((name) => [`ai.onnx.ml.${name}`, why]);

/** Registered operators without a gradient rule, by domain and name: why, and what to do. */
export const WITHOUT_RULE: ReadonlyMap<string, string> = new Map([
  ...all("Ceil Floor Round Sign Hardmax", STEPS),
  ...ml("Binarizer LabelEncoder", STEPS),
  ...all("And ArgMax ArgMin BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ConvInteger Equal Greater", WHOLE),
  ...all("GreaterOrEqual IsInf IsNaN Less LessOrEqual MatMulInteger NonMaxSuppression NonZero Not Or Shape", WHOLE),
  ...all("Size Xor SequenceLength OptionalHasElement", WHOLE),
  ...ml("OneHotEncoder", WHOLE),
  ...all("BlackmanWindow Constant ConstantOfShape EyeLike HammingWindow HannWindow MelWeightMatrix Range", CONSTANT),
  ...all("SequenceEmpty TfIdfVectorizer Unique", CONSTANT),
  ...microsoft("Range", CONSTANT),
  ...all("Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike", DRAWN),
  ...all("DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear", QUANTISED),
  ...microsoft("DequantizeLinear DynamicQuantizeMatMul GatherBlockQuantized MatMulIntegerToFloat", QUANTISED),
  ...microsoft("MatMulNBits NhwcMaxPool QAttention QGemm QLinearAdd QLinearAveragePool QLinearConcat", QUANTISED),
  ...microsoft("QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid", QUANTISED),
  ...microsoft("QLinearSoftmax QLinearWhere QuantizeLinear", QUANTISED),
  ...ml("TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor", TREES),
  ...all("SequenceConstruct SequenceInsert SequenceErase SequenceAt ConcatFromSequence SplitToSequence", SEQUENCE),
  ...all("SequenceMap", SEQUENCE),
  ...all("Optional OptionalGetElement", OPTIONAL),
  ["ai.onnx.preview.FlexAttention", "the operator has no gradient rule: export attention as separate operators"],
  ["BitCast", "it is not differentiable: it reads bits; use Cast"],
  ["DeformConv", "the operator has no gradient rule: gather the samples, and use MatMul"],
  ["RoiAlign", "the operator has no gradient rule: freeze what is before it"],
  ["com.microsoft.GroupQueryAttention", "the operator has no gradient rule: export attention as separate operators"],
  ["ai.onnx.ml.LinearClassifier", "the operator has no gradient rule: export the scores as Gemm"],
  ["ai.onnx.ml.SVMClassifier", "the operator has no gradient rule: export the decision function as Gemm"],
  ["ai.onnx.ml.SVMRegressor", "the operator has no gradient rule: export the kernel as separate operators"],
]);

/** Why a node on a path is refused, and what to do. */
export const whyNoRule = (node: Node): string =>
  WITHOUT_RULE.get(operatorKey(node)) ?? "the operator has no gradient rule";
