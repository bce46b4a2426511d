/** Random experiments for ai.onnx.ml's operators. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";
import { RandomTensors } from "../random/tensors.ts";
import { F, type Make } from "./makers.ts";

type Attributes = Readonly<Record<string, AttributeValue>>;

const DOMAIN = "ai.onnx.ml";

function ml(
  op: string,
  operands: readonly TensorData[],
  attributes: Attributes,
  outputs: readonly DType[],
  version = 3,
): Experiment {
  const named = operands.map((tensor, k) => [`x${k}`, tensor] as const);
  const names = outputs.map((_, k) => `y${k}`);
  return {
    opset: 17,
    imports: { [DOMAIN]: version },
    operands: Object.fromEntries(named),
    nodes: [{ op, domain: DOMAIN, inputs: named.map(([name]) => name), outputs: names, attributes }],
    outputs: Object.fromEntries(names.map((name, k) => [name, outputs[k]!])),
    atol: 1e-5,
  };
}

const numbers = (r: RandomTensors, count: number, low = -2, high = 2): number[] =>
  Array.from({ length: count }, () => r.int(low * 64, high * 64) / 64);

const MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"];

/** Returns node lists for random trees in version 3's format, and the leaves by tree and number. */
function randomTrees(
  r: RandomTensors,
  count: number,
  depth: number,
  features: number,
  modes: readonly string[],
  isFull = false,
) {
  const lists = {
    nodes_treeids: [] as number[],
    nodes_nodeids: [] as number[],
    nodes_featureids: [] as number[],
    nodes_truenodeids: [] as number[],
    nodes_falsenodeids: [] as number[],
    nodes_missing_value_tracks_true: [] as number[],
  };
  const [values, names, leaves] = [[] as number[], [] as string[], [] as [number, number][]];
  for (let tree = 0; tree < count; tree++) {
    let next = 1;
    const add = (id: number, left: number): void => {
      const isLeaf = left === 0 || (!isFull && left < depth && r.int(0, 5) === 0);
      const [yes, no] = isLeaf ? [0, 0] : [next++, next++];
      lists.nodes_treeids.push(tree);
      lists.nodes_nodeids.push(id);
      lists.nodes_featureids.push(isLeaf ? 0 : r.int(0, features - 1));
      lists.nodes_truenodeids.push(yes);
      lists.nodes_falsenodeids.push(no);
      lists.nodes_missing_value_tracks_true.push(isLeaf ? 0 : r.int(0, 1));
      values.push(isLeaf ? 0 : r.int(-64, 64) / 64);
      names.push(isLeaf ? "LEAF" : r.pick(modes));
      if (isLeaf) return void leaves.push([tree, id]);
      add(yes, left - 1);
      add(no, left - 1);
    };
    add(0, depth);
  }
  return { lists: { ...lists, nodes_values: { floats: values }, nodes_modes: { strings: names } }, leaves };
}

const ints = (values: readonly number[]): readonly number[] => values;

/** An ensemble as attributes: each leaf has a weight for each of the targets. */
function ensemble(
  r: RandomTensors,
  role: "target" | "class",
  targets: readonly number[],
  features: number,
  low = -2,
): Attributes {
  const modes = r.int(0, 1) === 0 ? ["BRANCH_LEQ"] : MODES;
  return weighted(r, role, targets, randomTrees(r, r.int(1, 4), r.int(1, 4), features, modes), low);
}

/** Trees with a weight for each leaf and target. */
function weighted(
  r: RandomTensors,
  role: "target" | "class",
  targets: readonly number[],
  { lists, leaves }: ReturnType<typeof randomTrees>,
  low: number,
): Attributes {
  const all = leaves.flatMap(([tree, id]) => targets.map((target) => [tree, id, target] as const));
  return {
    ...lists,
    [`${role}_treeids`]: ints(all.map(([tree]) => tree)),
    [`${role}_nodeids`]: ints(all.map(([, id]) => id)),
    [`${role}_ids`]: ints(all.map(([, , target]) => target)),
    [`${role}_weights`]: { floats: numbers(r, all.length, low) },
  };
}

/** Version 5: two trees with one or two inner nodes each. */
const ensemble5: Make = (r) => {
  const targets = r.int(1, 2);
  const tensor = (values: readonly number[]): AttributeValue => ({ tensor: floatTensor(values) });
  const modes: TensorData = { dtype: DType.uint8, shape: [3], bytes: Uint8Array.from([r.int(0, 3), r.int(0, 3), 0]) };
  const attributes: Attributes = {
    tree_roots: [0, 2],
    nodes_featureids: [0, 1, 1],
    nodes_splits: tensor(numbers(r, 3, -1, 1)),
    nodes_modes: { tensor: modes },
    nodes_truenodeids: [1, 0, 3],
    nodes_trueleafs: [0, 1, 1],
    nodes_falsenodeids: [2, 1, 4],
    nodes_falseleafs: [1, 1, 1],
    leaf_targetids: Array.from({ length: 5 }, () => r.int(0, targets - 1)),
    leaf_weights: tensor(numbers(r, 5)),
    n_targets: targets,
    aggregate_function: r.int(0, 1),
    post_transform: 0,
  };
  return ml("TreeEnsemble", [r.float([3, 2], -1, 1)], attributes, [F], 5);
};

const features = (r: RandomTensors): TensorData => {
  const x = r.float([r.int(1, 4), r.int(2, 4)], -1, 1);
  if (r.int(0, 2) === 0) new DataView(x.bytes.buffer, x.bytes.byteOffset).setFloat32(0, NaN, true);
  return x;
};

const regressor: Make = (r) => {
  const x = features(r);
  const targets = r.int(1, 3);
  const attributes = {
    ...ensemble(
      r,
      "target",
      Array.from({ length: targets }, (_, k) => k),
      x.shape[1]!,
    ),
    n_targets: targets,
    aggregate_function: r.pick(["SUM", "AVERAGE", "MIN", "MAX"]),
    ...(r.int(0, 1) ? { base_values: { floats: numbers(r, targets) } } : {}),
  };
  return ml("TreeEnsembleRegressor", [x], attributes, [F]);
};

const TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC"];

const classifier: Make = (r) => {
  const x = features(r);
  const count = r.int(3, 4);
  const attributes = {
    ...ensemble(
      r,
      "class",
      Array.from({ length: count }, (_, k) => k),
      x.shape[1]!,
    ),
    classlabels_int64s: Array.from({ length: count }, (_, k) => 10 - k),
    post_transform: r.pick(TRANSFORMS),
  };
  return ml("TreeEnsembleClassifier", [x], attributes, [DType.int64, F]);
};

/** Two classes with one score: a probability, or LOGISTIC after a negative weight. */
const twoClasses =
  (transform: "NONE" | "LOGISTIC"): Make =>
  (r) => {
    const x = features(r);
    const made = ensemble(r, "class", [0], x.shape[1]!, transform === "NONE" ? 0 : -2);
    const { floats } = made["class_weights"] as { floats: readonly number[] };
    const weights = transform === "NONE" ? floats : [-0.25, ...floats.slice(1)];
    const own = { class_weights: { floats: weights }, classlabels_int64s: [7, 9], post_transform: transform };
    return ml("TreeEnsembleClassifier", [x], { ...made, ...own }, [DType.int64, F]);
  };

/** A classifier of full random trees, for measuring: each leaf has a weight for each class. */
export function forestOf(trees: number, depth: number, columns: number, classes: number, rows: number): Experiment {
  const r = new RandomTensors(new Prng(11));
  const targets = Array.from({ length: classes }, (_, k) => k);
  const made = randomTrees(r, trees, depth, columns, ["BRANCH_LEQ"], true);
  const x = r.float([rows, columns], -1, 1);
  const attributes = { ...weighted(r, "class", targets, made, 0), classlabels_int64s: targets };
  return ml("TreeEnsembleClassifier", [x], attributes, [DType.int64, F]);
}

const scaler: Make = (r) => {
  const x = r.float([2, r.int(1, 4)]);
  const count = r.int(0, 1) ? 1 : x.shape[1]!;
  const own = (): AttributeValue => ({ floats: numbers(r, count) });
  return ml("Scaler", [x], { offset: own(), scale: own() }, [F]);
};

const linear =
  (op: "LinearRegressor" | "LinearClassifier"): Make =>
  (r) => {
    const [rows, columns, count] = [r.int(1, 3), r.int(1, 4), r.int(2, 4)];
    const common = {
      coefficients: { floats: numbers(r, columns * count) },
      intercepts: { floats: numbers(r, count) },
    };
    const x = [r.float([rows, columns])];
    if (op === "LinearRegressor") return ml(op, x, { ...common, targets: count }, [F]);
    const labels = {
      classlabels_ints: Array.from({ length: count }, (_, k) => 3 * k),
      post_transform: r.pick(TRANSFORMS),
    };
    return ml(op, x, { ...common, ...labels }, [DType.int64, F]);
  };

const svm: Make = (r) => {
  const [columns, count] = [r.int(1, 4), r.int(1, 4)];
  const attributes = {
    kernel_type: r.pick(["LINEAR", "RBF", "SIGMOID", "POLY"]),
    kernel_params: { floats: [0.25, 0.5, 2] },
    n_supports: count,
    coefficients: { floats: numbers(r, count) },
    support_vectors: { floats: numbers(r, count * columns) },
    rho: { floats: numbers(r, 1) },
  };
  return ml("SVMRegressor", [r.float([2, columns], -1, 1)], attributes, [F]);
};

/** Machines of pairs, with scores or probabilities. */
const svmPairs =
  (hasProbabilities: boolean): Make =>
  (r) => {
    const [columns, classes] = [r.int(1, 4), r.int(2, 4)];
    const perClass = Array.from({ length: classes }, () => r.int(1, 3));
    const count = perClass.reduce((sum, each) => sum + each, 0);
    const pairs = (classes * (classes - 1)) / 2;
    const list = (length: number, low?: number, high?: number) => ({ floats: numbers(r, length, low, high) });
    const attributes: Attributes = {
      kernel_type: r.pick(["LINEAR", "RBF", "SIGMOID", "POLY"]),
      kernel_params: { floats: [0.25, 0.5, 2] },
      vectors_per_class: perClass,
      coefficients: list((classes - 1) * count),
      support_vectors: list(count * columns),
      rho: list(pairs),
      classlabels_ints: Array.from({ length: classes }, (_, k) => 5 - 2 * k),
      post_transform: r.pick(TRANSFORMS),
      ...(hasProbabilities ? { prob_a: list(pairs, -4, -1), prob_b: list(pairs, -1, 1) } : {}),
    };
    return ml("SVMClassifier", [r.float([r.int(1, 3), columns], -1, 1)], attributes, [DType.int64, F]);
  };

/** Without support vectors: a score for each class. */
const svmLinear: Make = (r) => {
  const [columns, classes] = [r.int(1, 4), r.int(2, 4)];
  const attributes: Attributes = {
    kernel_type: "LINEAR",
    kernel_params: { floats: [0, 0, 0] },
    coefficients: { floats: numbers(r, columns * classes, r.int(0, 1) ? -2 : 0) },
    rho: { floats: numbers(r, 1) },
    classlabels_ints: Array.from({ length: classes }, (_, k) => k),
    post_transform: r.pick(TRANSFORMS),
  };
  return ml("SVMClassifier", [r.float([3, columns], -1, 1)], attributes, [DType.int64, F]);
};

const oneClass: Make = (r) => {
  const made = svm(r);
  const [node] = made.nodes;
  return { ...made, nodes: [{ ...node!, attributes: { ...node!.attributes, one_class: 1 } }] };
};

const encoder: Make = (r) => {
  const x = r.integer(DType.int64, [3, 2], 0, 6);
  const values: Attributes = { values_floats: { floats: numbers(r, 4) }, default_float: { float: -5 } };
  return ml("LabelEncoder", [x], { keys_int64s: [1, 5, 2, 4], ...values }, [F]);
};

const floatEncoder: Make = (r) => {
  const x = floatTensor([1.5, NaN, 2.5, r.int(0, 3)]);
  const attributes = { keys_floats: { floats: [1.5, NaN, 3] }, values_int64s: [10, 20, 30], default_int64: -7 };
  // Before version 4 onnxruntime finds no NaN.
  return ml("LabelEncoder", [x], attributes, [DType.int64], 4);
};

export const ML_CASES: Record<string, readonly Make[]> = {
  ArrayFeatureExtractor: [(r) => ml("ArrayFeatureExtractor", [r.float([3, 4]), int64Tensor([2, 0])], {}, [F])],
  Binarizer: [(r) => ml("Binarizer", [r.float([3, 4])], { threshold: { float: 0.5 } }, [F])],
  FeatureVectorizer: [
    (r) => ml("FeatureVectorizer", [r.float([3, 2]), r.float([3, 1])], { inputdimensions: [2, 1] }, [F]),
  ],
  Imputer: [
    (r) =>
      ml(
        "Imputer",
        [floatTensor([1, NaN, 2, NaN], [2, 2])],
        { imputed_value_floats: { floats: numbers(r, r.int(1, 2)) }, replaced_value_float: { float: NaN } },
        [F],
      ),
  ],
  LabelEncoder: [encoder, floatEncoder],
  LinearClassifier: [linear("LinearClassifier")],
  LinearRegressor: [linear("LinearRegressor")],
  Normalizer: [(r) => ml("Normalizer", [r.float([2, 3], 0, 4)], { norm: r.pick(["MAX", "L1", "L2"]) }, [F])],
  OneHotEncoder: [
    (r) => ml("OneHotEncoder", [r.integer(DType.int64, [2, 3], 0, 4)], { cats_int64s: [1, 3, 0], zeros: 1 }, [F]),
  ],
  SVMClassifier: [svmPairs(true), svmPairs(false), svmLinear],
  SVMRegressor: [svm, oneClass],
  Scaler: [scaler],
  TreeEnsemble: [ensemble5],
  TreeEnsembleClassifier: [classifier, twoClasses("LOGISTIC"), twoClasses("NONE")],
  TreeEnsembleRegressor: [regressor],
};
