import { cast } from "../../numerics/cast.ts";
import { DType, isFloat, isHalf } from "../../numerics/dtype.ts";
import { combine } from "../lowering/broadcast.ts";
import { NodeContext, type Lower } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import type { TensorRow } from "../table/row.ts";

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

/** Lowers a node whose tensors may be of 16 bits. The column `halves` of the operator's row says how. */
export function lowerInType(context: NodeContext, { lower, halves, statistics = [] }: TensorRow): ReturnType<Lower> {
  const { node, builder, opset, inputs } = context;
  const half = inputs.find((input) => input !== undefined && isHalf(input.dtype));
  if (half === undefined) return lower(context);
  const way = typeof halves === "function" ? halves(context) : halves;
  if (way === "aware") return lower(context);
  const floats = new Set(inputs.flatMap((input) => (input !== undefined && isFloat(input.dtype) ? [input.dtype] : [])));
  if (way === "own" && floats.size === 1 && !scales(context)) return lower(context);
  const widened = inputs.map((input) =>
    input !== undefined && isHalf(input.dtype) ? inType(context, input, DType.float32) : input,
  );
  const inner = new NodeContext(builder, node, opset, widened);
  const outputs = lower(inner);
  context.ignore(...node.attributes.keys());
  inner.checkAttributes();
  const own = inputs[0] !== undefined && isFloat(inputs[0].dtype) ? inputs[0].dtype : half.dtype;
  return outputs.map((output, k) =>
    output !== undefined && output.dtype === DType.float32 && !statistics.includes(k)
      ? inType(context, output, own)
      : output,
  );
}
