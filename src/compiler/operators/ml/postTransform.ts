import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import { softmaxOver } from "../reduction.ts";

const TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"] as const;
/** The function applied to scores: nothing, softmax over the row, sigmoid, or softmax without scores of 0. */
export type PostTransform = (typeof TRANSFORMS)[number];

export function readTransform(context: NodeContext): PostTransform {
  const name = context.string("post_transform", "NONE");
  return TRANSFORMS.find((known) => known === name) ?? context.refuse("post_transform", `is ${name}`);
}

/** The scores [rows, targets] after the transform. */
export function transformed(context: NodeContext, scores: LazyTensor, transform: PostTransform): LazyTensor {
  const { builder, expressions: e } = context;
  if (transform === "NONE") return scores;
  if (transform === "LOGISTIC") return broadcast(context, [scores], e.sigmoid);
  builder.realise(scores);
  if (transform === "SOFTMAX") return softmaxOver(context, scores, [1], false);
  const away = broadcast(context, [scores], (s) => e.select(e.eq(s, e.like(s, 0)), e.like(s, -Infinity), s));
  builder.realise(away);
  const soft = softmaxOver(context, away, [1], false);
  return broadcast(context, [scores, soft], (s, x) => e.select(e.eq(s, e.like(s, 0)), e.like(s, 0), x));
}
