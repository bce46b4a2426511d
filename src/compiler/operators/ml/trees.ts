import { DType, dtypeBytes, isFloat, type DType as DTypeCode, writeWord } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { Reduce } from "../../../program/types.ts";
import type { Affine } from "../../expressions/affine.ts";
import type { Expr, ReadExpr } from "../../expressions/expression.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import { readIndirect } from "../../lowering/readIndirect.ts";
import { readAt } from "../../steps/views.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";

/** How a node compares the feature with its value: true goes to the first branch. */
export const MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"] as const;
export type Mode = (typeof MODES)[number];

/** A forest's node. A leaf is the leaf's own branch on both sides. */
export type TreeNode = {
  feature: number;
  value: number;
  mode: Mode;
  /** Numbers of nodes in the forest. */
  yes: number;
  no: number;
  /** Whether NaN takes the first branch. */
  missing: boolean;
  /** The row of a leaf's weights; 0 for others. */
  row: number;
};

export type Forest = {
  nodes: readonly TreeNode[];
  roots: readonly number[];
  /** By leaf and target; undefined where a leaf says nothing of a target. */
  weights: readonly (readonly (number | undefined)[])[];
  targets: number;
};

/** The maximum depth of a tree: a level is a step. */
const MAX_DEPTH = 1024;

const isLeaf = ({ yes, no }: TreeNode, at: number): boolean => yes === at && no === at;

/** Returns bounds of a target's sum over all trees, with the base value. A tree that is no tree is left out. */
export function rangeOf({ nodes, roots, weights }: Forest, target: number, base: number): [number, number] {
  let [low, high] = [base, base];
  for (const root of roots) {
    const [seen, values] = [new Set([root]), [] as number[]];
    for (const at of seen) {
      const node = nodes[at]!;
      if (isLeaf(node, at)) values.push(weights[node.row]![target] ?? 0);
      else seen.add(node.yes).add(node.no);
    }
    low += values.reduce((a, b) => Math.min(a, b), Infinity);
    high += values.reduce((a, b) => Math.max(a, b), -Infinity);
  }
  return [low, high];
}

/** Returns the deepest tree's number of levels below the root. @returns undefined if a tree is no tree, or too deep */
function depthOf({ nodes, roots }: Forest): number | undefined {
  if (roots.length === 0) return undefined;
  const seen = new Uint8Array(nodes.length);
  let level = [...roots];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const next: number[] = [];
    for (const at of level) {
      const node = nodes[at];
      if (node === undefined) return undefined;
      if (isLeaf(node, at)) continue;
      if (seen[at]) return undefined;
      seen[at] = 1;
      next.push(node.yes, node.no);
    }
    if (next.length === 0) return depth;
    level = next;
  }
  return undefined;
}

/** Returns a number table, held by the program. */
function table(context: NodeContext, dtype: DTypeCode, values: readonly number[], shape = [values.length]): LazyTensor {
  context.builder.budget.computeElements(values.length);
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  values.forEach((value, i) => writeWord(bytes, i, dtype, numberWord(value, dtype)));
  return context.builder.constant({ dtype, shape, bytes });
}

/** The smallest type of whole numbers up to a bound: proofs open less of a smaller table. */
const indexType = (count: number): DTypeCode =>
  count <= 2 ** 8 ? DType.uint8 : count <= 2 ** 16 ? DType.uint16 : DType.int32;

/**
 * Finds each row's leaf in each tree, by node number. A level takes two steps: the feature that the node reads, and the
 * branch taken; the nodes' data lie in tables.
 */
function leaves(context: NodeContext, x: LazyTensor, forest: Forest): LazyTensor {
  const { builder, expressions: e } = context;
  const { nodes, roots } = forest;
  const [rows = 1, features = 1] = x.shape;
  const depth = depthOf(forest) ?? context.fail(`its nodes form no trees of at most ${MAX_DEPTH} levels`);
  const width = nodes.reduce((max, { feature }) => Math.max(max, feature + 1), 1);
  if (width > features) return context.fail(`its nodes read ${width} features, the input has ${features}`);
  const type = indexType(nodes.length);
  const column = (dtype: DTypeCode, of: (node: TreeNode) => number): LazyTensor => table(context, dtype, nodes.map(of));
  const inner = nodes.filter((node, k) => !isLeaf(node, k));
  const modes = MODES.filter((mode) => inner.some((node) => node.mode === mode));
  const tables = {
    feature: column(indexType(width), (node) => node.feature),
    value: column(x.dtype, (node) => node.value),
    yes: column(type, (node) => node.yes),
    no: column(type, (node) => node.no),
    ...(modes.length > 1 ? { mode: column(DType.uint8, (node) => MODES.indexOf(node.mode)) } : {}),
    ...(inner.some(({ missing }) => missing) ? { missing: column(DType.bool, (node) => Number(node.missing)) } : {}),
  };
  const shape = [rows, roots.length];
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const [row, tree] = dimensionIndices(digits) as [Affine, Affine];
  const start = table(context, type, roots);
  let at = (): ReadExpr => readAt(e, builder.plain(start), [tree], radix);
  let result: LazyTensor | undefined;
  for (let level = 0; level < depth; level++) {
    const node = at();
    const of = (name: keyof typeof tables): ReadExpr =>
      readIndirect(builder, tables[name]!, [{ indirect: node }], radix);
    // A read takes its place from memory, and not from another read that does: so this one is a step.
    const chosen: LazyTensor = {
      dtype: tables.feature.dtype,
      shape,
      digits,
      expr: of("feature"),
      order: identityOrder(2),
    };
    builder.store(chosen, chosen.order);
    const indirect = readAt(e, builder.plain(chosen), [row, tree], radix);
    const feature = readIndirect(builder, x, [row, { indirect }], radix);
    let goesFirst = compared(context, modes, feature, of("value"), () => of("mode"));
    if ("missing" in tables) goesFirst = e.or(goesFirst, e.and(e.isNaN(feature), of("missing")));
    const expr = e.select(goesFirst, of("yes"), of("no"));
    const next: LazyTensor = { dtype: type, shape, digits, expr, order: identityOrder(2) };
    builder.store(next, next.order);
    result = next;
    at = () => readAt(e, builder.plain(next), [row, tree], radix);
  }
  if (result !== undefined) return result;
  const expr = at();
  return { dtype: type, shape, digits, expr, order: identityOrder(2) };
}

/** Returns true if a comparison holds: in the only mode, or in the mode from the node's table. */
function compared(context: NodeContext, modes: readonly Mode[], feature: Expr, value: Expr, mode: () => Expr): Expr {
  const e = context.expressions;
  const holds: Record<Mode, () => Expr> = {
    BRANCH_LEQ: () => e.le(feature, value),
    BRANCH_LT: () => e.lt(feature, value),
    BRANCH_GTE: () => e.le(value, feature),
    BRANCH_GT: () => e.lt(value, feature),
    BRANCH_EQ: () => e.eq(feature, value),
    BRANCH_NEQ: () => e.not(e.eq(feature, value)),
  };
  const [first = "BRANCH_LEQ", ...others] = modes;
  return others.reduce(
    (rest, one) => e.select(e.eq(mode(), e.constant(DType.uint8, BigInt(MODES.indexOf(one)))), holds[one](), rest),
    holds[first](),
  );
}

/** Returns the leaves' rows in the weights' table, in memory. */
function rowsOfLeaves(context: NodeContext, found: LazyTensor, leafRow: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const digits = plainDigits(found.shape);
  const radix = radixOf(digits);
  const leaf = readAt(e, builder.plain(found), dimensionIndices(digits), radix);
  const expr = readIndirect(builder, leafRow, [{ indirect: leaf }], radix);
  const rows: LazyTensor = { dtype: leafRow.dtype, shape: found.shape, digits, expr, order: identityOrder(2) };
  builder.store(rows, rows.order);
  return rows;
}

/** The way in which the trees' leaves become a number per target. */
export type Aggregate = "SUM" | "AVERAGE" | "MIN" | "MAX";
export const AGGREGATES: readonly Aggregate[] = ["SUM", "AVERAGE", "MIN", "MAX"];

/**
 * For each row of x and each target the aggregate of the leaves' weights: the exact sum, rounded once (over the number
 * of trees for AVERAGE), the minimum or the maximum. [rows, targets]
 */
export function aggregated(context: NodeContext, x: LazyTensor, forest: Forest, aggregate: Aggregate): LazyTensor {
  const { builder, expressions: e } = context;
  const { nodes, roots, weights, targets } = forest;
  const isSum = aggregate === "SUM" || aggregate === "AVERAGE";
  if (!isSum && weights.some((row) => row.some((weight) => weight === undefined)))
    return context.refuse("aggregate_function", `is ${aggregate}, and a leaf has no weight for one of the targets`);
  if (!isFloat(x.dtype)) return context.refuse("input 0", "is not of floats");
  const leafRow = table(
    context,
    indexType(weights.length),
    nodes.map(({ row }) => row),
  );
  const found = rowsOfLeaves(context, leaves(context, x, forest), leafRow);
  const values = table(
    context,
    x.dtype,
    weights.flatMap((row) => row.map((weight) => weight ?? 0)),
    [weights.length, targets],
  );
  // First joins the weights from all trees: else a proof for the sum would open equally many table parts.
  const all = [x.shape[0]!, targets, roots.length];
  const digits = plainDigits(all);
  const radix = radixOf(digits);
  const [row, target, tree] = dimensionIndices(digits) as [Affine, Affine, Affine];
  const indirect = readAt(e, builder.plain(found), [row, tree], radix);
  const weight = readIndirect(builder, values, [{ indirect }, target], radix);
  const chosen: LazyTensor = { dtype: x.dtype, shape: all, digits, expr: weight, order: identityOrder(3) };
  builder.store(chosen, chosen.order);
  const reduce = isSum ? Reduce.sum : aggregate === "MIN" ? Reduce.min : Reduce.max;
  const sum = dropAxes(builder, reduceAxes(builder, chosen, [2], reduce), [2]);
  const result = aggregate === "AVERAGE" ? broadcast(context, [sum], (v) => e.div(v, e.like(v, roots.length))) : sum;
  builder.realise(result);
  return result;
}
