import { wordNumber } from "../../../numerics/numbers.ts";
import { readWord, isFloat } from "../../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../../model/onnx/model.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import { MODES, type Forest, type Mode, type TreeNode } from "./trees.ts";

/** The numbers of a list in an attribute: floats, or a tensor under the name with `_as_tensor`. */
export function numbersOf(context: NodeContext, name: string): readonly number[] | undefined {
  return context.floats(name) ?? tensorNumbers(context.tensor(`${name}_as_tensor`));
}

/** The numbers of a tensor attribute. */
function tensorNumbers(tensor: TensorData | undefined): number[] | undefined {
  if (tensor === undefined) return undefined;
  const { bytes, dtype, shape } = tensor;
  return Array.from({ length: elementCount(shape) }, (_, i) => {
    const word = readWord(bytes, i, dtype);
    return isFloat(dtype) ? wordNumber(word, dtype) : Number(word);
  });
}

/**
 * The trees of TreeEnsembleRegressor and TreeEnsembleClassifier: lists of nodes by tree and number.
 * @param role The prefix of the weights: "target" or "class".
 */
export function readForest(context: NodeContext, role: "target" | "class", targets: number): Forest {
  const ints = (name: string): number[] => context.ints(name) ?? context.fail(`${name} is missing`);
  const trees = ints("nodes_treeids");
  const [ids, features] = [ints("nodes_nodeids"), ints("nodes_featureids")];
  const [yes, no] = [ints("nodes_truenodeids"), ints("nodes_falsenodeids")];
  const values = numbersOf(context, "nodes_values") ?? context.fail("nodes_values is missing");
  const modes = context.strings("nodes_modes") ?? context.fail("nodes_modes is missing");
  const missing = context.ints("nodes_missing_value_tracks_true") ?? [];
  // The number of samples per node during fitting: not part of the computation.
  context.ignore("nodes_hitrates", "nodes_hitrates_as_tensor");
  const count = trees.length;
  const lists = [ids, features, yes, no, values, modes];
  if (lists.some((list) => list.length !== count) || (missing.length !== 0 && missing.length !== count) || count === 0)
    return context.fail("its lists of nodes differ in length");
  const numberOf = new Map(trees.map((tree, k) => [`${tree}.${ids[k]!}`, k] as const));
  if (numberOf.size !== count) return context.fail("two nodes have one number");
  const { rows, weights } = leafWeights(context, role, targets, numberOf);
  const at = (tree: number, id: number): number =>
    numberOf.get(`${tree}.${id}`) ?? context.fail(`tree ${tree} has no node ${id}`);
  const isChild = new Uint8Array(count);
  const nodes = trees.map((tree, k): TreeNode => {
    const mode = modes[k]!;
    const row = rows.get(k) ?? 0;
    if (mode === "LEAF") return { feature: 0, value: 0, mode: "BRANCH_LEQ", yes: k, no: k, missing: false, row };
    if (!(MODES as readonly string[]).includes(mode)) return context.refuse("nodes_modes", `has ${mode}`);
    const [first, second] = [at(tree, yes[k]!), at(tree, no[k]!)];
    if (first === k && second === k) return context.fail(`node ${ids[k]!} of tree ${tree} is its own branch`);
    isChild[first] = isChild[second] = 1;
    const feature = features[k]!;
    if (feature < 0) return context.fail(`feature ${feature}`);
    return { feature, value: values[k]!, mode: mode as Mode, yes: first, no: second, missing: missing[k] === 1, row };
  });
  const roots = nodes.flatMap((_, k) => (isChild[k] ? [] : [k]));
  return { nodes, roots, weights, targets };
}

/** The weights of leaves: row 0 is that of leaves without any. */
function leafWeights(
  context: NodeContext,
  role: "target" | "class",
  targets: number,
  numberOf: ReadonlyMap<string, number>,
): { rows: Map<number, number>; weights: (number | undefined)[][] } {
  const ints = (name: string): number[] =>
    context.ints(`${role}_${name}`) ?? context.fail(`${role}_${name} is missing`);
  const [trees, nodes, ids] = [ints("treeids"), ints("nodeids"), ints("ids")];
  const values = numbersOf(context, `${role}_weights`) ?? context.fail(`${role}_weights is missing`);
  if ([nodes, ids, values].some((list) => list.length !== trees.length))
    return context.fail("its lists of weights differ in length");
  context.builder.budget.computeElements(targets * (trees.length + 1));
  const empty = (): (number | undefined)[] => new Array<number | undefined>(targets).fill(undefined);
  const [rows, weights] = [new Map<number, number>(), [empty()]];
  trees.forEach((tree, k) => {
    const node = numberOf.get(`${tree}.${nodes[k]!}`) ?? context.fail(`tree ${tree} has no node ${nodes[k]!}`);
    const id = ids[k]!;
    if (!(id >= 0 && id < targets)) context.fail(`${role}_ids has ${id}, of ${targets}`);
    let row = rows.get(node);
    if (row === undefined) rows.set(node, (row = weights.push(empty()) - 1));
    weights[row]![id] = (weights[row]![id] ?? 0) + values[k]!;
  });
  // Every leaf has weights as a rule; then nothing reads the empty row, which must not stand against a minimum.
  const isFull = rows.size > 0 && weights.slice(1).every((row) => row.every((weight) => weight !== undefined));
  if (isFull) weights[0] = new Array<number>(targets).fill(0);
  return { rows, weights };
}

/** The sets of the nodes with BRANCH_MEMBER, in their order: NaN ends each. */
function memberSets(values: readonly number[]): number[][] {
  const sets: number[][] = [[]];
  for (const value of values)
    if (Number.isNaN(value)) sets.push([]);
    else sets.at(-1)!.push(value);
  return sets.filter((set) => set.length > 0);
}

/** The trees of TreeEnsemble of version 5: roots, inner nodes, and leaves with one weight each. */
export function readForest5(context: NodeContext, targets: number): Forest {
  const ints = (name: string): number[] => context.ints(name) ?? context.fail(`${name} is missing`);
  const tensor = (name: string): number[] => tensorNumbers(context.tensor(name)) ?? context.fail(`${name} is missing`);
  const [roots, features] = [ints("tree_roots"), ints("nodes_featureids")];
  const [splits, modes] = [tensor("nodes_splits"), tensor("nodes_modes")];
  const [yes, no] = [ints("nodes_truenodeids"), ints("nodes_falsenodeids")];
  const [yesLeaf, noLeaf] = [ints("nodes_trueleafs"), ints("nodes_falseleafs")];
  const [ids, weightsOf] = [ints("leaf_targetids"), tensor("leaf_weights")];
  const missing = context.ints("nodes_missing_value_tracks_true") ?? [];
  context.ignore("nodes_hitrates");
  const sets = memberSets(tensorNumbers(context.tensor("membership_values")) ?? []);
  const count = features.length;
  const lists = [splits, modes, yes, no, yesLeaf, noLeaf];
  if (count === 0 || lists.some((list) => list.length !== count) || ids.length !== weightsOf.length)
    return context.fail("its lists of nodes differ in length");
  const order: readonly Mode[] = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"];
  const MEMBER = order.length;
  if (modes.filter((mode) => mode === MEMBER).length !== sets.length)
    return context.fail(`membership_values has ${sets.length} sets, and its nodes with BRANCH_MEMBER are others`);
  /** Nodes that compare with a set's further members, numbered behind the leaves. */
  const more: TreeNode[] = [];
  const leaf = (at: number): number => {
    if (!(at >= 0 && at < ids.length)) return context.fail(`it has no leaf ${at}`);
    return count + at;
  };
  const inner = (at: number): number => (at >= 0 && at < count ? at : context.fail(`it has no node ${at}`));
  const nodes = features.map((feature, k): TreeNode => {
    if (feature < 0) return context.fail(`feature ${feature}`);
    const first = yesLeaf[k] === 0 ? inner(yes[k]!) : leaf(yes[k]!);
    const second = noLeaf[k] === 0 ? inner(no[k]!) : leaf(no[k]!);
    const own = { feature, yes: first, no: second, missing: missing[k] === 1, row: 0 };
    if (modes[k] !== MEMBER) {
      const mode = order[modes[k]!] ?? context.refuse("nodes_modes", `has ${modes[k]!}`);
      return { ...own, value: splits[k]!, mode };
    }
    // One comparison after the other: each comparison but the last continues where the value differs.
    const [value, ...others] = sets.shift()!;
    if (others.length > 0 && yesLeaf[k] === 0)
      return context.refuse("membership_values", "has a set of several values before an inner node: use BRANCH_EQ");
    const next = (at: number): number => (at < others.length ? count + ids.length + more.length : second);
    const head: TreeNode = { ...own, value: value!, mode: "BRANCH_EQ", no: next(0) };
    others.forEach((other, at) => {
      const place = more.push({ ...own, value: other, mode: "BRANCH_EQ" }) - 1;
      more[place]!.no = next(at + 1);
    });
    return head;
  });
  context.builder.budget.computeElements(targets * ids.length);
  const weights = ids.map((id, k) => {
    if (!(id >= 0 && id < targets)) context.fail(`leaf_targetids has ${id}, of ${targets}`);
    return Array.from({ length: targets }, (_, t) => (t === id ? weightsOf[k]! : undefined));
  });
  const ends = ids.map((_, k): TreeNode => {
    const at = count + k;
    return { feature: 0, value: 0, mode: "BRANCH_LEQ", yes: at, no: at, missing: false, row: k };
  });
  return { nodes: [...nodes, ...ends, ...more], roots: roots.map(inner), weights, targets };
}
