/** Operators of com.microsoft on weights of few bits with a scale for each block. They stay packed as they are. */
import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import { int64Tensor } from "../../../model/onnx/tensorData.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { slicedAlong } from "../../lowering/slices.ts";
import { unpackedLast } from "../../steps/packedBits.ts";
import { transposed } from "../../steps/views.ts";
import { gatherAlong } from "../gather.ts";
import { matrixProduct } from "../matmul.ts";
import { plusInput } from "./products.ts";

/** Rows of numbers of few bits: how they are packed, and the blocks that share a scale. */
type Blocks = { bits: number; width: number; block: number; count: number };

/** The first `width` numbers that are packed in each row of a uint8 tensor. */
function rowsOfBits(context: NodeContext, bytes: LazyTensor, bits: number, width: number, what: string): LazyTensor {
  if (bytes.dtype !== DType.uint8) return context.refuse(what, "is not uint8");
  const last = bytes.shape.length - 1;
  const perByte = 8 / bits;
  const isWhole = width % perByte === 0;
  const used = isWhole ? slicedAlong(context, bytes, last, 0, width / perByte) : bytes;
  const numbers = unpackedLast(context.expressions, used, bits, false);
  return isWhole ? numbers : slicedAlong(context, numbers, last, 0, width);
}

/**
 * `RN((q - zero) * scale)` for rows of numbers.
 * @param q uint8 `[..., width]`.
 * @param scale float32 `[..., blocks]`.
 * @param zero `[..., blocks]`, packed and unpacked already, or floats; 2^(bits - 1) if left out.
 * @param groups The block of each number, if blocks do not follow each other.
 */
function dequantised(
  context: NodeContext,
  q: LazyTensor,
  scale: LazyTensor,
  zero: LazyTensor | undefined,
  { bits, width, block, count }: Blocks,
  groups?: LazyTensor,
): LazyTensor {
  const { builder, expressions: e } = context;
  const rows = q.shape.slice(0, -1);
  const isEven = groups === undefined && count * block === width;
  const own = (): LazyTensor =>
    groups ??
    builder.constant(
      int64Tensor(
        context.tabulate(width, (at) => Math.floor(at / block)),
        [width],
      ),
    );
  const index = isEven ? undefined : own();
  const spread = (tensor: LazyTensor): LazyTensor =>
    index === undefined
      ? builder.reshape(tensor, [...rows, count, 1])
      : gatherAlong(context, tensor, index, rows.length);
  const numbers = isEven ? builder.reshape(q, [...rows, count, block]) : q;
  const middle = e.constant(DType.int32, BigInt(2 ** (bits - 1)));
  const build = (x: Expr, s: Expr, z?: Expr): Expr => {
    const isExact = z?.dtype !== DType.float32;
    const whole = isExact ? e.sub(e.cast(x, DType.int32), z === undefined ? middle : e.cast(z, DType.int32)) : x;
    const difference = e.cast(whole, DType.float32);
    return e.mul(isExact ? difference : e.sub(difference, z), s);
  };
  const inputs = [numbers, spread(scale), ...(zero === undefined ? [] : [spread(zero)])];
  return builder.reshape(broadcast(context, inputs, build, true), q.shape);
}

/** The zero points of blocks, [..., blocks]: packed numbers whose rows begin at a byte, or floats. */
function zeroPoints(
  context: NodeContext,
  index: number,
  rows: readonly number[],
  { bits, count }: Blocks,
): LazyTensor | undefined {
  const given = context.optional(index);
  if (given === undefined) return undefined;
  if (given.dtype === DType.float32) return context.builder.reshape(given, [...rows, count]);
  const bytes = context.builder.reshape(given, [...rows, Math.ceil((count * bits) / 8)]);
  const zero = rowsOfBits(context, bytes, bits, count, `input ${index}`);
  context.builder.realise(zero);
  return zero;
}

/** MatMulNBits: weights [N, blocks, bytes] of few bits; `RN((q - zero) * scale)` for each block of a row. */
export const matMulNBits: Lower = (context) => {
  const { builder } = context;
  const [k, n] = [context.int("K", 0), context.int("N", 0)];
  const [bits, block] = [context.int("bits", 4), context.int("block_size", 0)];
  // The minimum accuracy of the product: it is exact here.
  context.ignore("accuracy_level", "weight_prepacked");
  if (![2, 4, 8].includes(bits) || block < 16) return context.refuse("bits", `is ${bits} in blocks of ${block}`);
  const blocks: Blocks = { bits, width: k, block, count: Math.ceil(k / block) };
  const [packed, scales] = [context.input(1), context.floatInput(2)];
  const blob = (block * bits) / 8;
  const [bytes, numbers] = [packed, scales].map(({ shape }) => elementCount(shape)) as [number, number];
  if (bytes !== n * blocks.count * blob || numbers !== n * blocks.count)
    return context.fail(`${bytes} bytes and ${numbers} scales for ${n} rows of ${blocks.count} blocks`);
  const rows = builder.reshape(packed, [n, blocks.count * blob]);
  const q = rowsOfBits(context, rows, bits, k, "B");
  builder.keepPacked(q);
  const scale = builder.reshape(scales, [n, blocks.count]);
  const weights = dequantised(context, q, scale, zeroPoints(context, 3, [n], blocks), blocks, context.optional(4));
  const a = context.floatInput();
  const row = a.shape.length === 1;
  const left = row ? builder.reshape(a, [1, ...a.shape]) : a;
  const product = matrixProduct(context, left, transposed(context.expressions, weights, [1, 0]));
  const result = plusInput(context, product, 5);
  return [row ? builder.reshape(result, [n]) : result];
};

/** GatherBlockQuantized for uint8 data: table rows with few bits per number, `RN((q - zero) * scale)`. */
export const gatherBlockQuantized: Lower = (context) => {
  const data = context.input(0);
  const [bits, block] = [context.int("bits", 4), context.int("block_size", 128)];
  const rank = data.shape.length;
  const along = context.axis(context.int("quantize_axis", 1), rank);
  const axis = context.axis(context.int("gather_axis", 0), rank);
  if (![4, 8].includes(bits)) return context.refuse("bits", `is ${bits}`);
  if (along !== rank - 1) return context.refuse("quantize_axis", "is not the last");
  if (axis === along) return context.refuse("gather_axis", "is the quantised one");
  const width = (data.shape[along]! * 8) / bits;
  const blocks: Blocks = { bits, width, block, count: Math.ceil(width / block) };
  const rows = data.shape.slice(0, -1);
  const scales = context.floatInput(2);
  if (elementCount(scales.shape) !== elementCount(rows) * blocks.count)
    return context.fail(
      `${elementCount(scales.shape)} scales for ${elementCount(rows)} rows of ${blocks.count} blocks`,
    );
  // Rows are chosen before rows are computed. An index out of range gives scale 0, and therefore 0.
  const chosen = (tensor: LazyTensor): LazyTensor => gatherAlong(context, tensor, context.input(1), axis);
  const q = rowsOfBits(context, chosen(data), bits, width, "data");
  const zero = zeroPoints(context, 3, rows, blocks);
  const scale = chosen(context.builder.reshape(scales, [...rows, blocks.count]));
  return [dequantised(context, q, scale, zero && chosen(zero), blocks)];
};
