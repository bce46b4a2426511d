import { FLOATS, JUMPING, moves } from "../../model/decision/operatorClass.ts";
import { DISCRETE, STEPS, TREES } from "../gradients/refusals.ts";
import * as tablesRules from "../gradients/rules/tables.ts";
import { treeEnsemble, treeEnsembleClassifier, treeEnsembleRegressor } from "../operators/ml/ensembles.ts";
import { linearClassifier, linearRegressor } from "../operators/ml/linear.ts";
import * as preprocessing from "../operators/ml/preprocessing.ts";
import { svmClassifier, svmRegressor } from "../operators/ml/svm.ts";
import { ML, type Row } from "./row.ts";

/** Models of tables, and what prepares their columns. */
const TABLE = { ...ML, use: "memory", decision: JUMPING, halves: "float32" } as const;

/** Ensembles of trees. */
const TREE = {
  ...TABLE,
  gradient: TREES,
  computes:
    "two steps a level of the trees, which read the node's feature, value and branches from tables; then the " +
    "exact sum of the leaves' weights over all trees, rounded once (or its AVERAGE, MIN, MAX), with the base " +
    "values and the post transform. Two classes have weights of class 0 only: probabilities of weights that are not " +
    "negative (NONE), or LOGISTIC; where ONNX's reference and onnxruntime differ, the node is refused. BRANCH_MEMBER " +
    "becomes one comparison after the other; a set of several values is before a leaf",
} as const;

/** Operators of ai.onnx.ml. */
export const ML_ROWS: readonly Row[] = [
  {
    ...TABLE,
    operator: "ArrayFeatureExtractor",
    since: 1,
    lower: preprocessing.arrayFeatureExtractor,
    decision: moves(0),
    gradient: { composition: tablesRules.arrayFeatureExtractor },
    computes: "Gather along the last dimension",
  },
  {
    ...TABLE,
    operator: "Binarizer",
    since: 1,
    lower: preprocessing.binarizer,
    gradient: STEPS,
    computes: "x > threshold ? 1 : 0",
  },
  {
    ...TABLE,
    operator: "FeatureVectorizer",
    since: 1,
    lower: preprocessing.featureVectorizer,
    decision: FLOATS,
    gradient: { composition: tablesRules.featureVectorizer },
    computes: "joins the columns of all inputs, as float32",
  },
  {
    ...TABLE,
    operator: "Imputer",
    since: 1,
    lower: preprocessing.imputer,
    gradient: tablesRules.imputer,
    computes: "a missing value (NaN or a number) becomes the number of its column",
  },
  {
    ...TABLE,
    operator: "LabelEncoder",
    since: 2,
    lower: preprocessing.labelEncoder,
    gradient: STEPS,
    computes: "the place of the key by ArgMax, then reads; numbers only. Keys may be NaN",
  },
  {
    ...TABLE,
    operator: "LinearClassifier",
    since: 1,
    lower: linearClassifier,
    gradient: { refused: "the operator has no gradient rule: export the scores as Gemm" },
    computes:
      "RN(RN(dot) + intercept), then the post transform; the label of the greatest score. One row for two classes " +
      "gives scores -s and s, as ONNX's reference (onnxruntime without a post transform: 1 - s and s)",
  },
  {
    ...TABLE,
    operator: "LinearRegressor",
    since: 1,
    lower: linearRegressor,
    decision: FLOATS,
    gradient: { composition: tablesRules.linearRegressor, limits: "its coefficients are no weights" },
    computes: "RN(RN(dot) + intercept), then the post transform; the label of the greatest score",
  },
  {
    ...TABLE,
    operator: "Normalizer",
    since: 1,
    lower: preprocessing.normalizer,
    decision: FLOATS,
    gradient: { composition: tablesRules.normalizer },
    computes: "x over the greatest x, over RN(sum abs x), or over sqrt(RN(dot(x, x))); a row over 0 stays",
  },
  {
    ...TABLE,
    operator: "OneHotEncoder",
    since: 1,
    lower: preprocessing.oneHotEncoder,
    gradient: DISCRETE,
    computes: "x == category ? 1 : 0; a row of an unknown category is 0",
  },
  {
    ...TABLE,
    operator: "Scaler",
    since: 1,
    lower: preprocessing.scaler,
    decision: FLOATS,
    gradient: { composition: tablesRules.scaler },
    computes: "RN(RN(x - offset) * scale)",
  },
  {
    ...TABLE,
    operator: "SVMClassifier",
    since: 1,
    lower: svmClassifier,
    gradient: { refused: "the operator has no gradient rule: export the decision function as Gemm" },
    computes:
      "the score of a pair of classes is RN(RN(dot of coefficients and kernels) + rho); above 0 it votes for " +
      "the first, else for the second; the label has the most votes. Scores are the scores of the pairs (with " +
      "two classes -s and s), or with `prob_a` and `prob_b` probabilities: r = 1 - sigmoid((s * a) + b), " +
      "coupled by at most 8 rounds of Wu, Lin and Weng's second method " +
      "(`src/compiler/operators/ml/coupling.ts`). Without support vectors a score for each class",
  },
  {
    ...TABLE,
    operator: "SVMRegressor",
    since: 1,
    lower: svmRegressor,
    decision: FLOATS,
    gradient: { refused: "the operator has no gradient rule: export the kernel as separate operators" },
    computes:
      "kernels LINEAR, POLY, RBF, SIGMOID; RN(RN(dot of coefficients and kernels) + rho); with `one_class` 1 " +
      "if that is above 0, else -1",
  },

  { ...TREE, operator: "TreeEnsemble", since: 5, lower: treeEnsemble },
  { ...TREE, operator: "TreeEnsembleClassifier", since: 1, lower: treeEnsembleClassifier },
  { ...TREE, operator: "TreeEnsembleRegressor", since: 1, lower: treeEnsembleRegressor },
];
