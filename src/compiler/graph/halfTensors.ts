import { cast } from "../../numerics/cast.ts";
import { DType, isFloat, isHalf } from "../../numerics/dtype.ts";
import { combine } from "../lowering/broadcast.ts";
import { NodeContext, type Lower } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";

/**
 * Operators that compute in the type of their tensors: one primitive rounded once, a choice, or a movement of data. On
 * tensors of 16 bits every other operator widens its operands exactly to float32, computes in float32, and rounds each
 * result once.
 */
const IN_OWN_TYPE: ReadonlySet<string> = new Set([
  ...[
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Clip",
    "Cos",
    "Cosh",
    "Div",
    "Erf",
    "Exp",
  ],
  ...[
    "Floor",
    "Log",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Pow",
    "Reciprocal",
    "Relu",
    "Round",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
  ],
  ...["Sqrt", "Sub", "Tan", "Tanh"],
  ...["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsInf", "IsNaN", "Where", "Cast"],
  ...["Conv", "ConvInteger", "Einsum", "Gemm", "MatMul", "CumSum", "ReduceMax", "ReduceMin", "ReduceSum"],
  ...["ArgMax", "ArgMin", "GlobalMaxPool", "Hardmax", "MaxPool", "MaxUnpool", "TopK"],
  ...["Compress", "Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Expand", "EyeLike", "Flatten", "Gather"],
  ...[
    "GatherElements",
    "GatherND",
    "Identity",
    "NonZero",
    "OneHot",
    "Pad",
    "Range",
    "Reshape",
    "ReverseSequence",
    "Scatter",
  ],
  ...[
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Size",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
  ],
  ...["Trilu", "Unique", "Unsqueeze"],
]);

/** Outputs that are float32 whatever the type of the data: statistics. */
const FLOAT32_OUTPUTS: ReadonlyMap<string, readonly number[]> = new Map([
  ["LayerNormalization", [1, 2]],
  ["SkipLayerNormalization", [1, 2]],
]);

/** The tensor in another type, lazily. */
function inType(context: NodeContext, tensor: LazyTensor, dtype: DType): LazyTensor {
  const { builder, expressions } = context;
  if (tensor.expr.kind === "constant")
    return { ...tensor, dtype, expr: expressions.constant(dtype, cast(tensor.expr.value, tensor.dtype, dtype)) };
  return combine(builder, [tensor], tensor.shape, (x) => expressions.cast(x, dtype));
}

/** Whether a node multiplies by attributes: they are float32 and would be rounded. */
const scales = ({ node }: NodeContext): boolean =>
  ["alpha", "beta"].some((name) => {
    const found = node.attributes.get(name);
    return found?.kind === "float" && found.value !== 1;
  });

/** Lowers a node whose tensors may be of 16 bits. */
export function lowerInType(context: NodeContext, lower: Lower): ReturnType<Lower> {
  const { node, builder, opset, inputs } = context;
  const half = inputs.find((input) => input !== undefined && isHalf(input.dtype));
  if (half === undefined) return lower(context);
  if (node.operator === "CastLike") return lower(context);
  const floats = new Set(inputs.flatMap((input) => (input !== undefined && isFloat(input.dtype) ? [input.dtype] : [])));
  // A power of an integer is not rounded to the type of its exponent.
  const ofInteger = node.operator === "Pow" && inputs[0] !== undefined && !isFloat(inputs[0].dtype);
  if (IN_OWN_TYPE.has(node.operator) && floats.size === 1 && !scales(context) && !ofInteger) return lower(context);
  const widened = inputs.map((input) =>
    input !== undefined && isHalf(input.dtype) ? inType(context, input, DType.float32) : input,
  );
  const inner = new NodeContext(builder, node, opset, widened);
  const outputs = lower(inner);
  context.ignore(...node.attributes.keys());
  inner.checkAttributes();
  const own = inputs[0] !== undefined && isFloat(inputs[0].dtype) ? inputs[0].dtype : half.dtype;
  const kept = FLOAT32_OUTPUTS.get(node.operator) ?? [];
  return outputs.map((output, k) =>
    output !== undefined && output.dtype === DType.float32 && !kept.includes(k) ? inType(context, output, own) : output,
  );
}
