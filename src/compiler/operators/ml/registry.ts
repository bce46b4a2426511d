import type { Entry } from "../entry.ts";
import { treeEnsemble, treeEnsembleClassifier, treeEnsembleRegressor } from "./ensembles.ts";
import { linearClassifier, linearRegressor } from "./linear.ts";
import * as preprocessing from "./preprocessing.ts";
import { svmClassifier, svmRegressor } from "./svm.ts";

/** The newest version of ai.onnx.ml whose meaning is known. */
const LATEST_ML = 5;

const OPERATORS: readonly (Pick<Entry, "operator" | "lower"> & { since?: number })[] = [
  { operator: "ArrayFeatureExtractor", lower: preprocessing.arrayFeatureExtractor },
  { operator: "Binarizer", lower: preprocessing.binarizer },
  { operator: "FeatureVectorizer", lower: preprocessing.featureVectorizer },
  { operator: "Imputer", lower: preprocessing.imputer },
  { operator: "LabelEncoder", since: 2, lower: preprocessing.labelEncoder },
  { operator: "LinearClassifier", lower: linearClassifier },
  { operator: "LinearRegressor", lower: linearRegressor },
  { operator: "Normalizer", lower: preprocessing.normalizer },
  { operator: "OneHotEncoder", lower: preprocessing.oneHotEncoder },
  { operator: "SVMClassifier", lower: svmClassifier },
  { operator: "SVMRegressor", lower: svmRegressor },
  { operator: "Scaler", lower: preprocessing.scaler },
  { operator: "TreeEnsemble", since: 5, lower: treeEnsemble },
  { operator: "TreeEnsembleClassifier", lower: treeEnsembleClassifier },
  { operator: "TreeEnsembleRegressor", lower: treeEnsembleRegressor },
];

/** The rows of ai.onnx.ml. */
export const ML_REGISTRY: readonly Entry[] = OPERATORS.map(({ since = 1, ...row }) => ({
  ...row,
  domain: "ai.onnx.ml",
  since,
  until: LATEST_ML,
  use: "memory",
}));
