import { elementCount } from "../../../model/onnx/model.ts";
import type { AttributeValue } from "../../nodes.ts";
import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** Operators of com.microsoft, written in the operators of ai.onnx that they fuse. */

const gelu = (b: Backward, x: string): string =>
  b.mul(x, b.mul(b.f(0.5), b.add(b.f(1), b.op("Erf", b.mul(x, b.f(Math.SQRT1_2))))));

export const microsoftGelu: Rule = (b) => [gelu(b, b.x())];
export const biasGelu: Rule = (b) => [gelu(b, b.add(b.x(0), b.x(1)))];
export const biasAdd: Rule = (b) => [b.add(b.add(b.x(0), b.x(1)), b.x(2))];

/** x + bias, split along the last dimension: the first half times Gelu of the second half. */
export const biasSplitGelu: Rule = (b) => {
  const shape = b.shape();
  const [axis, half] = [shape.length - 1, shape.at(-1)! / 2];
  const sum = b.add(b.x(0), b.x(1));
  return [b.mul(part(b, sum, axis, 0, half), gelu(b, part(b, sum, axis, half, 2 * half)))];
};

export const fastGelu: Rule = (b) => {
  const x = b.has(1) ? b.add(b.x(0), b.x(1)) : b.x(0);
  const inner = b.add(b.f(0.797885), b.mul(b.f(0.035677), b.mul(x, x)));
  return [b.mul(b.f(0.5), b.mul(x, b.add(b.f(1), b.op("Tanh", b.mul(x, inner)))))];
};

export const quickGelu: Rule = (b) => {
  const alpha = b.attributes.float("alpha", 1.702);
  return [b.mul(b.x(), b.op("Sigmoid", b.mul(b.f(alpha), b.x())))];
};

/** FusedMatMul and TransposeMatMul. */
export const fusedMatMul: Rule = (b) => {
  const factor = (input: number, flag: string): string => {
    const rank = b.shape(input).length;
    const perm = Array.from({ length: rank }, (_, d) => (d < rank - 2 ? d : 2 * rank - 3 - d));
    return b.attributes.int(flag, 0) === 0 ? b.x(input) : b.transpose(b.x(input), perm);
  };
  const alpha = b.attributes.float("alpha", 1);
  const product = b.op("MatMul", factor(0, "transA"), factor(1, "transB"));
  return [alpha === 1 ? product : b.mul(b.f(alpha), product)];
};

/** A fused activation by its name. @param parameter its parameter `k` */
function activated(b: Backward, x: string, parameter: (k: number) => number): string {
  const name = b.attributes.string("activation", "");
  const float = (k: number): AttributeValue => ({ float: parameter(k) });
  switch (name) {
    case "":
      return x;
    case "Relu":
    case "Tanh":
    case "Sigmoid":
      return b.op(name, x);
    case "LeakyRelu":
      return b.opWith(name, { alpha: float(0) }, x);
    case "HardSigmoid":
      return b.opWith(name, { alpha: float(0), beta: float(1) }, x);
    case "Clip":
      return b.op(name, x, b.f(parameter(0)), b.f(parameter(1)));
    default:
      return b.refuse(`its activation ${name} has no gradient rule`);
  }
}

/** Returns a node's convolution attributes. */
function convAttributes(b: Backward): Record<string, AttributeValue> {
  const lists = ["kernel_shape", "strides", "pads", "dilations"] as const;
  const own = lists.flatMap((name) => (b.attributes.has(name) ? [[name, b.attributes.ints(name)!] as const] : []));
  return {
    ...Object.fromEntries(own),
    group: b.attributes.int("group", 1),
    auto_pad: b.attributes.string("auto_pad", "NOTSET"),
  };
}

export const fusedConv: Rule = (b) => {
  const inputs = [b.x(0), b.x(1), ...(b.has(2) ? [b.x(2)] : [])];
  const sum = b.opWith("Conv", convAttributes(b), ...inputs);
  const parameters = b.attributes.floats("activation_params") ?? [];
  return [activated(b, b.has(3) ? b.add(sum, b.x(3)) : sum, (k) => parameters[k] ?? 0)];
};

const FIRST = new Map([["LeakyRelu", 0.01], ["HardSigmoid", 0.2]]); // prettier-ignore

export const fusedGemm: Rule = (b) => {
  const floats = { alpha: b.attributes.float("alpha", 1), beta: b.attributes.float("beta", 1) };
  const inputs = [b.x(0), b.x(1), ...(b.has(2) ? [b.x(2)] : [])];
  const sum = b.opWith(
    "Gemm",
    {
      ...Object.fromEntries(Object.entries(floats).map(([name, float]) => [name, { float }])),
      ...{ transA: b.attributes.int("transA", 0), transB: b.attributes.int("transB", 0) },
    },
    ...inputs,
  );
  const first = b.attributes.float("activation_alpha", FIRST.get(b.attributes.string("activation", "")) ?? 0);
  const second = b.attributes.float("activation_beta", 0.5);
  return [activated(b, sum, (k) => (k === 0 ? first : second))];
};

/** LayerNormalization over the last axis; without a bias if that is undefined. */
function layerNorm(b: Backward, x: string, scale: string, bias: string | undefined, epsilon: number): string {
  const inputs = [x, scale, ...(bias === undefined ? [] : [bias])];
  return b.opWith("LayerNormalization", { axis: -1, epsilon: { float: epsilon } }, ...inputs);
}

const given = (b: Backward, input: number): string | undefined => (b.has(input) ? b.x(input) : undefined);

export const skipLayerNormalization: Rule = (b) => {
  const sum = b.add(b.x(0), b.x(1));
  const whole = b.has(4) ? b.add(sum, b.x(4)) : sum;
  const epsilon = b.attributes.float("epsilon", 1e-12);
  return [layerNorm(b, whole, b.x(2), given(b, 3), epsilon), undefined, undefined, whole];
};

export const skipSimplifiedLayerNormalization: Rule = (b) => {
  const sum = b.add(b.x(0), b.x(1));
  const whole = b.has(3) ? b.add(sum, b.x(3)) : sum;
  const axis = b.shape().length - 1;
  const root = b.op("Sqrt", b.add(b.mean(b.mul(whole, whole), [axis]), b.f(b.attributes.float("epsilon", 1e-5))));
  return [b.mul(b.div(whole, root), b.x(2)), undefined, undefined, whole];
};

export const embedLayerNormalization: Rule = (b) => {
  const [batch, length] = b.shape(0) as [number, number];
  const rows = (table: number, at: string): string => b.opWith("Gather", { axis: 0 }, b.x(table), at);
  const own = b.expand(b.integers(...Array.from({ length }, (_, i) => i)), [batch, length]);
  let sum = b.add(rows(2, b.x(0)), rows(3, given(b, 8) ?? own));
  if (b.has(4)) sum = b.add(sum, rows(4, b.x(1)));
  return [layerNorm(b, sum, b.x(5), b.x(6), b.attributes.float("epsilon", 1e-12)), undefined, sum];
};

const toSecond = (b: Backward, x: string, rank: number): string =>
  b.transpose(x, [0, rank - 1, ...Array.from({ length: rank - 2 }, (_, d) => d + 1)]);
const toLast = (b: Backward, x: string, rank: number): string =>
  b.transpose(x, [0, ...Array.from({ length: rank - 2 }, (_, d) => d + 2), 1]);

function groupNorm(b: Backward, data: string): string {
  const [last, given] = [b.attributes.int("channels_last", 1) !== 0, b.shape()];
  const rank = given.length;
  const shape = last ? [given[0]!, given[rank - 1]!, ...given.slice(1, -1)] : given;
  const groups = b.attributes.int("groups", 1);
  const flat = b.shaped(last ? toSecond(b, data, rank) : data, [
    shape[0]!,
    groups,
    elementCount(shape) / (shape[0]! * groups),
  ]);
  const d = b.sub(flat, b.mean(flat, [2]));
  const root = b.op("Sqrt", b.add(b.mean(b.mul(d, d), [2]), b.f(b.attributes.float("epsilon", 1e-5))));
  const column = (input: number): string => b.shaped(b.x(input), [shape[1]!, ...shape.slice(2).map(() => 1)]);
  const y = b.add(b.mul(b.shaped(b.div(d, root), shape), column(1)), column(2));
  const result = b.attributes.int("activation", 0) !== 0 ? b.mul(y, b.op("Sigmoid", y)) : y;
  return last ? toLast(b, result, rank) : result;
}

export const groupNormalised: Rule = (b) => [groupNorm(b, b.x())];

export const skipGroupNorm: Rule = (b) => {
  const [shape, skip] = [b.shape(), b.shape(3)];
  const spread = [shape[0]!, ...shape.slice(1, -1).map(() => 1), shape.at(-1)!];
  const sum = b.add(b.x(), skip.length === 2 ? b.shaped(b.x(3), spread) : b.x(3));
  const whole = b.has(4) ? b.add(sum, b.x(4)) : sum;
  return [groupNorm(b, whole), whole];
};

export const nhwcConv: Rule = (b) => {
  const rank = b.shape().length;
  const inputs = [toSecond(b, b.x(0), rank), toSecond(b, b.x(1), rank), ...(b.has(2) ? [b.x(2)] : [])];
  return [toLast(b, b.opWith("Conv", convAttributes(b), ...inputs), rank)];
};

/** Distances between the rows of two matrices. */
export const cDist: Rule = (b) => {
  const [[m, k], [n]] = [b.shape(0) as [number, number], b.shape(1) as [number]];
  const d = b.sub(b.shaped(b.x(0), [m, 1, k]), b.shaped(b.x(1), [1, n, k]));
  const sum = b.sum(b.mul(d, d), [2], 0);
  return [b.attributes.string("metric", "sqeuclidean") === "euclidean" ? b.op("Sqrt", sum) : sum];
};

export const expandDims: Rule = (b) => [b.shaped(b.x(), b.outputShape)];
