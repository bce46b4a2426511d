import { cast } from "../../../numerics/cast.ts";
import { DType, isHalf, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { attend } from "../attentionCore.ts";
import { isSequence, tensorOperand, type LowerControl } from "./types.ts";

/**
 * FlexAttention: like Attention, but a body of the node maps the scores before the softmax, and another body maps the
 * softmax's result before the values are weighed. Floats with 16 bits are widened to float32, and the result is
 * rounded.
 */
export const flexAttention: LowerControl = (control) => {
  const { context, run } = control;
  const { builder, expressions: e } = context;
  const given = [0, 1, 2].map((index) => tensorOperand(control, index));
  const own = given[0]!.dtype;
  if (given.some(({ dtype, shape }) => dtype !== own || shape.length !== 4))
    return context.fail("its inputs are not of one type and rank 4");
  const precision = context.int("softmax_precision", DType.float32);
  if (precision !== 0 && precision !== DType.float32) context.refuse("softmax_precision", "is not float32");
  const inType = (x: LazyTensor, dtype: DTypeCode): LazyTensor =>
    x.expr.kind === "constant"
      ? { ...x, dtype, expr: e.constant(dtype, cast(x.expr.value, x.dtype, dtype)) }
      : broadcast(context, [x], (v) => e.cast(v, dtype));
  const [q, k, v] = given.map((x) => (isHalf(own) ? inType(x, DType.float32) : x)) as [
    LazyTensor,
    LazyTensor,
    LazyTensor,
  ];
  const scale = context.float("scale", Math.fround(1 / Math.fround(Math.sqrt(q.shape[3]!))));
  const root = Math.fround(Math.sqrt(scale));
  const scaled = (x: LazyTensor): LazyTensor => broadcast(context, [x], (a) => e.mul(a, e.like(a, root)));
  const modified =
    (name: string) =>
    (x: LazyTensor): LazyTensor => {
      if (!context.has(name)) return x;
      builder.realise(x);
      const [result] = run(context.graph(name), [x]);
      if (result === undefined || isSequence(result) || result.shape.join() !== x.shape.join())
        return context.fail(`${name} gives no tensor [${x.shape.join()}]`);
      return result.dtype === x.dtype ? result : inType(result, x.dtype);
    };
  const mixed = attend(
    context,
    { q: scaled(q), k: scaled(k), v },
    { scores: modified("score_mod"), weights: modified("prob_mod") },
  );
  return [isHalf(own) ? inType(mixed, own) : mixed];
};
