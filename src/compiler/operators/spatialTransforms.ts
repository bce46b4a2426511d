import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, digitAffine, scaleAffine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT } from "../expressions/expression.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf } from "../expressions/tensor.ts";
import { readAt, transposed } from "../steps/views.ts";
import { matrixProduct } from "./matmul.ts";

/** CenterCropPad: each dimension cropped, or padded with 0, alike on both sides; the odd element is at the end. */
export const centerCropPad: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const rank = x.shape.length;
  const target = context.constantInts(1, "shape") ?? context.fail("shape is missing");
  const axes = context.ints("axes")?.map((axis) => context.axis(axis, rank)) ?? identityOrder(rank);
  if (target.length !== axes.length || target.some((dim) => dim < 1))
    return context.fail(`[${target.join()}] for ${axes.length} axes`);
  const shape = [...x.shape];
  const shift = x.shape.map(() => 0);
  axes.forEach((axis, k) => {
    const [from, to] = [x.shape[axis]!, target[k]!];
    shape[axis] = to;
    shift[axis] = from >= to ? Math.floor((from - to) / 2) : -Math.floor((to - from) / 2);
  });
  const digits = plainDigits(shape);
  const indices = dimensionIndices(digits).map((index, d) => addAffine(index, constantAffine(shift[d]!)));
  const expr = readAt(e, builder.plain(x), indices, radixOf(digits));
  return [{ dtype: x.dtype, shape, digits, expr, order: identityOrder(rank) }];
};

/** Col2Im: each pixel sums, exactly, all block elements on the pixel. */
export const col2Im: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const image = context.constantInts(1, "image_shape") ?? context.fail("image_shape is missing");
  const block = context.constantInts(2, "block_shape") ?? context.fail("block_shape is missing");
  const rank = image.length;
  const ones = image.map(() => 1);
  const [strides, dilations] = [context.intsLike("strides", ones), context.intsLike("dilations", ones)];
  const pads = context.intsLike(
    "pads",
    [...ones, ...ones].map(() => 0),
  );
  const counts = image.map((size, d) => {
    const free = size + pads[d]! + pads[d + rank]! - dilations[d]! * (block[d]! - 1) - 1;
    return Math.floor(free / strides[d]!) + 1;
  });
  const [n = 0, width = 0, columns = 0] = x.shape;
  const channels = width / elementCount(block);
  if (x.shape.length !== 3 || block.length !== rank || columns !== elementCount(counts) || !Number.isInteger(channels))
    return context.fail(`[${x.shape.join()}] for blocks [${block.join()}] of an image [${image.join()}]`);
  if (x.dtype === DType.bool) return context.refuse("input 0", "is bool");
  const input = builder.plain(builder.reshape(x, [n, channels, ...block, ...counts]));
  const shape = [n, channels, ...image];
  const digits = plainDigits(shape);
  const radix = radixOf(digits, block);
  const all = dimensionIndices(digits);
  const kernel = block.map((_, d) => digitAffine(REDUCTION_DIGIT + d));
  const columnsAt = image.map((_, d) =>
    addAffine(addAffine(all[d + 2]!, constantAffine(pads[d]!)), scaleAffine(kernel[d]!, -dilations[d]!)),
  );
  const divs = [1, 1, ...ones, ...strides];
  const term = readAt(e, input, [all[0]!, all[1]!, ...kernel, ...columnsAt], radix, 0n, divs);
  const expr = e.accumulator(Reduce.sum, x.dtype, x.dtype, block, term);
  return [{ dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) }];
};

/** AffineGrid: multiplies, exactly, the coordinates in a plane (or space) with each example's matrix. */
export const affineGrid: Lower = (context) => {
  const { builder, expressions: e } = context;
  const theta = context.floatInput();
  const size = context.constantInts(1, "size") ?? context.fail("size is missing");
  const [n = 0, , ...space] = size;
  const rank = space.length;
  if ((rank !== 2 && rank !== 3) || theta.shape.join() !== [n, rank, rank + 1].join())
    return context.fail(`theta [${theta.shape.join()}] for a size of [${size.join()}]`);
  const corners = context.int("align_corners", 0) !== 0;
  if (corners && space.includes(1)) return context.refuse("align_corners", "of a dimension of 1 divides by 0");
  const coordinate = (d: number, i: number): number =>
    corners ? -1 + (2 * i) / (space[d]! - 1) : (2 * i + 1) / space[d]! - 1;
  // The coordinate of the fastest dimension comes first: (x, y, 1).
  const values = context.tabulate(elementCount(space) * (rank + 1), (at) => {
    const d = rank - 1 - (at % (rank + 1));
    if (d < 0) return 1;
    const position = Math.floor(at / (rank + 1) / elementCount(space.slice(d + 1)));
    return coordinate(d, position % space[d]!);
  });
  const coordinates = builder.constant(floatTensor(values, [1, elementCount(space), rank + 1]));
  const result = matrixProduct(context, coordinates, transposed(e, theta, [0, 2, 1]));
  return [builder.reshape(result, [n, ...space, rank])];
};
