import { narrowLayout, type NarrowType } from "../../numerics/narrow.ts";
import { elementTypeName } from "../../model/onnx/narrow.ts";
import type { NodeContext, Lower } from "../lowering/nodeContext.ts";
import { asBytes } from "../operators/narrow.ts";
import type { TensorRow } from "../table/row.ts";

/**
 * Lowers a node whose tensors may be of narrow types. Their elements are bytes. An operator moves the bytes, or its
 * lowering knows the types, or the operator refuses such tensors: the column `narrow` of its row says which.
 */
export function lowerNarrow(context: NodeContext, row: TensorRow, lower: Lower): ReturnType<Lower> {
  const { inputs } = context;
  const at = inputs.findIndex((input) => input?.narrow !== undefined);
  if (at < 0 || row.narrow === "aware") return lower(context);
  const narrow: NarrowType = inputs[at]!.narrow!;
  if (row.narrow !== "moved") context.refuse(`input ${at}`, `is of ${narrow}: cast it to another type first`);
  const { storage } = narrowLayout(narrow);
  for (const [k, input] of inputs.entries())
    if (input !== undefined && input.narrow !== narrow && (input.narrow !== undefined || input.dtype === storage))
      context.fail(`input ${k} is of ${elementTypeName(input)}, input ${at} of ${narrow}`);
  const outputs = lower(context.withInputs(inputs.map((input) => input && asBytes(input))));
  return outputs.map((output) => (output?.dtype === storage ? { ...output, narrow } : output));
}
