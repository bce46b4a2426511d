/** Fused operators from onnxruntime (domain com.microsoft), written like the bodies that onnxruntime documents. */
import { isFloat } from "../../../numerics/dtype.ts";
import type { Expr, Expressions } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";
import { activation } from "../elementwise.ts";
import { addBias, convolution } from "../conv.ts";
import { gemm, matrixProduct } from "../matmul.ts";
import { normalise } from "../normalisation.ts";
import { broadcast } from "../../lowering/broadcast.ts";

/** `x * ((erf(c * x) + 1) * 0.5)`, c = RN(sqrt(1 / 2)). */
export function geluOf(e: Expressions, x: Expr): Expr {
  const inner = e.erf(e.mul(e.float(Math.SQRT1_2), x));
  return e.mul(x, e.mul(e.add(inner, e.float(1)), e.float(0.5)));
}

/** Gelu. */
export const microsoftGelu = activation((e, x) => geluOf(e, x));

/** BiasGelu: Gelu of the sum. */
export const biasGelu: Lower = (context) => {
  const e = context.expressions;
  return [broadcast(context, [context.floatInput(0), context.floatInput(1)], (x, b) => geluOf(e, e.add(x, b)))];
};

/** FastGelu: `0.5 * (x * (1 + tanh(x * (0.797885 + 0.035677 * (x * x)))))`, x with the bias, if any. */
export const fastGelu: Lower = (context) => {
  const e = context.expressions;
  const inputs = [context.floatInput(0), ...(context.optional(1) ? [context.floatInput(1)] : [])];
  const build = (data: Expr, bias?: Expr): Expr => {
    const x = bias === undefined ? data : e.add(data, bias);
    const inner = e.add(e.float(0.797885), e.mul(e.float(0.035677), e.mul(x, x)));
    const outer = e.add(e.float(1), e.tanh(e.mul(x, inner)));
    return e.mul(e.float(0.5), e.mul(x, outer));
  };
  return [broadcast(context, inputs, build)];
};

/** QuickGelu: `x * sigmoid(alpha * x)`. */
export const quickGelu = activation((e, x, context) =>
  e.mul(x, e.sigmoid(e.mul(e.float(context.float("alpha", Math.fround(1.702))), x))),
);

/** FusedMatMul: `alpha * dot`, either factor transposed first. */
export const fusedMatMul: Lower = (context) => {
  const e = context.expressions;
  context.requireInt("transBatchA", 0);
  context.requireInt("transBatchB", 0);
  const factor = (index: number, flag: string): LazyTensor => {
    const tensor = context.floatInput(index);
    const rank = tensor.shape.length;
    if (rank < 2) return context.refuse(`input ${index}`, "is a vector");
    const perm = Array.from({ length: rank }, (_, d) => (d < rank - 2 ? d : 2 * rank - 3 - d));
    return context.int(flag, 0) === 0 ? tensor : transposed(e, tensor, perm);
  };
  const result = matrixProduct(context, factor(0, "transA"), factor(1, "transB"));
  const alpha = context.float("alpha", 1);
  return [alpha === 1 ? result : broadcast(context, [result], (x) => e.mul(e.float(alpha), x))];
};

/** A fused activation by its name. @param parameter its parameter `k` */
function fusedActivation(context: NodeContext, x: LazyTensor, parameter: (k: number) => Expr): LazyTensor {
  const e = context.expressions;
  const name = context.string("activation", "");
  const zero = e.float(0);
  const known = new Map<string, (v: Expr) => Expr>([
    ["Relu", (v) => e.max(v, zero)],
    ["Tanh", e.tanh],
    ["Sigmoid", e.sigmoid],
    ["LeakyRelu", (v) => e.select(e.lt(v, zero), e.mul(parameter(0), v), v)],
    ["Clip", (v) => e.clamp(v, parameter(0), parameter(1))],
    ["HardSigmoid", (v) => e.clamp(e.add(e.mul(parameter(0), v), parameter(1)), zero, e.float(1))],
  ]);
  if (name === "") return x;
  const build = known.get(name) ?? context.refuse("activation", `is ${name}`);
  return broadcast(context, [x], build);
}

/** FusedConv: Conv with bias, then `+ Z`, then an activation. */
export const fusedConv: Lower = (context) => {
  const e = context.expressions;
  const sum = addBias(context, convolution(context, context.floatInput(0), context.floatInput(1)), 2);
  const residual = context.optional(3);
  if (residual !== undefined && (!isFloat(residual.dtype) || residual.shape.join() !== sum.shape.join()))
    return context.fail(`Z of shape [${residual.shape.join()}] for [${sum.shape.join()}]`);
  const whole = residual === undefined ? sum : broadcast(context, [sum, residual], e.add);
  const parameters = context.floats("activation_params") ?? [];
  const parameter = (k: number): Expr =>
    e.float(parameters[k] ?? context.refuse("activation_params", `has no value ${k}`));
  return [fusedActivation(context, whole, parameter)];
};

/** FusedGemm: Gemm, then an activation. */
export const fusedGemm: Lower = (context) => {
  const names = ["activation_alpha", "activation_beta"] as const;
  const defaults = new Map([
    ["LeakyRelu", [0.01]],
    ["HardSigmoid", [0.2, 0.5]],
  ]);
  const otherwise = defaults.get(context.string("activation", "")) ?? [];
  const parameter = (k: number): Expr =>
    context.expressions.float(
      context.has(names[k]!) ? context.float(names[k]!, 0) : (otherwise[k] ?? context.refuse(names[k], "is missing")),
    );
  const [sum] = gemm(context.asOf(13));
  context.ignore("activation_gamma");
  return [fusedActivation(context, sum!, parameter)];
};

/** SkipLayerNormalization: `(x + skip) + bias`, then LayerNormalization over the last axis with gamma and beta. */
export const skipLayerNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  let sum = broadcast(context, [context.floatInput(0), context.floatInput(1)], e.add);
  if (context.optional(4)) sum = broadcast(context, [sum, context.floatInput(4)], e.add);
  if (sum.shape.join() !== context.input(0).shape.join()) return context.fail("skip is larger than the input");
  builder.realise(sum);
  const { normal, mean, root } = normalise(context, sum, [sum.shape.length - 1], context.float("epsilon", 1e-12));
  let result = broadcast(context, [normal, context.floatInput(2)], e.mul);
  if (context.optional(3)) result = broadcast(context, [result, context.floatInput(3)], e.add);
  return [result, mean, broadcast(context, [root], (r) => e.div(e.float(1), r)), sum];
};

/** ExpandDims: a dimension of 1 at an axis known at compile time. */
export const expandDims: Lower = (context) => {
  const { shape } = context.input(0);
  const axis = context.axis(context.constantInts(1, "axis")?.[0] ?? 0, shape.length + 1);
  return [context.builder.reshape(context.input(0), [...shape.slice(0, axis), 1, ...shape.slice(axis)])];
};
