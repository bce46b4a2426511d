import { elementCount } from "../../../model/onnx/model.ts";
import { floatTensor } from "../../../model/onnx/tensorData.ts";
import { contract, labelSizes } from "../contract.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { addBias } from "../conv.ts";
import { readWindows } from "../window.ts";
import { component, padPosition, sampled, tapsAt } from "./taps.ts";
import { transposed } from "../../steps/views.ts";
import { broadcast } from "../../lowering/broadcast.ts";

/**
 * DeformConv: each kernel position reads at the position's offset, mixed linearly, times the mask; then a convolution.
 */
export const deformConv: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, w, offset] = [context.floatInput(0), context.floatInput(1), context.floatInput(2)];
  const [groups, fields] = [context.int("group", 1), context.int("offset_group", 1)];
  const [outputs = 0, perGroup = 0, ...kernel] = w.shape;
  const [n = 0, channels = 0, ...sizes] = x.shape;
  if (x.shape.length !== 4 || w.shape.length !== 4) return context.refuse("input 0", `has the rank ${x.shape.length}`);
  const windows = readWindows(context, sizes, kernel);
  const out = windows.map((window) => window.output);
  const taps = elementCount(kernel);
  if (perGroup * groups !== channels || outputs % groups !== 0 || channels % fields !== 0)
    return context.fail(`${channels} channels, weights [${w.shape.join()}], ${groups} groups, ${fields} of offsets`);
  if (offset.shape.join() !== [n, fields * taps * 2, ...out].join())
    return context.fail(`offsets of shape [${offset.shape.join()}]`);
  // [n, fields, taps, rows, columns, 2]
  const pairs = transposed(e, builder.reshape(offset, [n, fields, taps, 2, ...out]), [0, 1, 2, 4, 5, 3]);
  builder.realise(pairs);
  const fieldTaps = windows.map((window, d) => {
    const start = context.tabulate(taps * out[0]! * out[1]!, (flat) => {
      const [row, column] = [Math.floor(flat / out[1]!) % out[0]!, flat % out[1]!];
      const tap = Math.floor(flat / (out[0]! * out[1]!));
      const k = d === 0 ? Math.floor(tap / kernel[1]!) : tap % kernel[1]!;
      return (d === 0 ? row : column) * window.stride - window.padBegin + k * window.dilation;
    });
    const base = builder.constant(floatTensor(start, [taps, ...out]));
    const coordinates = broadcast(context, [component(context, pairs, d), base], (o, b) => e.add(b, o));
    builder.realise(coordinates);
    const pad = (at: Expr): Expr => padPosition(e, at, sizes[d]!, "zeros", false);
    return tapsAt(context, coordinates, sizes[d]!, "linear", pad);
  });
  const perField = channels / fields;
  const read = builder.reshape(x, [n, fields, perField, ...sizes]);
  const shape = [n, fields, perField, taps, ...out];
  let patches = sampled(context, read, shape, (all) => {
    const at = [all[0]!, all[1]!, all[3]!, all[4]!, all[5]!];
    return [all[0]!, all[1]!, all[2]!, { taps: fieldTaps[0]!, at }, { taps: fieldTaps[1]!, at }];
  });
  const mask = context.optional(4);
  if (mask !== undefined) {
    if (mask.shape.join() !== [n, fields * taps, ...out].join())
      return context.fail(`a mask of shape [${mask.shape.join()}]`);
    const shaped = builder.reshape(context.floatInput(4), [n, fields, 1, taps, ...out]);
    patches = broadcast(context, [patches, shaped], e.mul);
  }
  builder.realise(patches);
  const grouped: LazyTensor = builder.reshape(patches, [n, groups, perGroup, taps, ...out]);
  const weights = builder.reshape(w, [groups, outputs / groups, perGroup, taps]);
  const operands = [
    { tensor: grouped, labels: ["n", "g", "c", "k", "h", "w"] },
    { tensor: weights, labels: ["g", "o", "c", "k"] },
  ] as const;
  const sizesOf = labelSizes(operands) ?? context.fail("its weights do not fit");
  const sum = contract(builder, operands, ["n", "g", "o", "h", "w"], sizesOf);
  builder.realise(sum);
  return [addBias(context, builder.reshape(sum, [n, outputs, ...out]), 3)];
};
