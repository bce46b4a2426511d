import { int64Tensor } from "../../onnx/tensorData.ts";
import { digitAffine, type Affine } from "../affine.ts";
import type { Lower, NodeContext } from "../nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits } from "../tensor.ts";
import { readAt } from "../views.ts";
import { floatValue } from "../words.ts";
import { readIndirect, type Coordinate } from "./gather.ts";

const f32 = Math.fround;

/** The input coordinate of output `y`, in float32 operations in onnxruntime's order. */
function coordinate(mode: string, y: number, input: number, output: number, scale: number): number | undefined {
  switch (mode) {
    case "asymmetric":
      return f32(y / scale);
    case "half_pixel":
      return f32(f32(f32(y + 0.5) / scale) - 0.5);
    case "pytorch_half_pixel":
      return output > 1 ? f32(f32(f32(y + 0.5) / scale) - 0.5) : 0;
    case "align_corners":
      return output === 1 ? 0 : f32(f32(y * (input - 1)) / (output - 1));
    case "tf_half_pixel_for_nn":
      return f32(f32(y + 0.5) / scale);
    default:
      return undefined;
  }
}

const NEAREST: Record<string, (x: number) => number> = {
  round_prefer_floor: (x) => Math.ceil(f32(x - 0.5)),
  round_prefer_ceil: (x) => Math.floor(f32(x + 0.5)),
  floor: Math.floor,
  ceil: Math.ceil,
};

/** Output sizes and scales from the inputs `scales` or `sizes`. */
function targetOf(context: NodeContext, shape: readonly number[]): { sizes: number[]; scales: number[] } {
  const present = (index: number): boolean => context.optional(index)?.shape.includes(0) === false;
  if (present(3)) {
    const sizes = context.constantInts(3, "sizes")!;
    return { sizes, scales: sizes.map((size, d) => f32(size / shape[d]!)) };
  }
  if (!present(2)) return context.fail("neither scales nor sizes is given");
  const scales = context.constantWords(context.input(2), "scales").map(floatValue);
  return { scales, sizes: scales.map((scale, d) => Math.floor(f32(shape[d]! * scale))) };
}

/** Resize, mode nearest: each element is one of the input, at coordinates known at compile time. */
export const resize: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const mode = context.string("mode", "nearest");
  if (mode !== "nearest") return context.refuse("mode", `is ${mode}, only nearest is executed`);
  context.ignore("cubic_coeff_a", "extrapolation_value", "exclude_outside");
  context.requireInt("antialias", 0);
  for (const name of ["axes", "keep_aspect_ratio_policy"])
    if (context.has(name)) context.refuse(name, "is not executed");
  const transformation = context.string("coordinate_transformation_mode", "half_pixel");
  const nearestMode = context.string("nearest_mode", "round_prefer_floor");
  const nearest = NEAREST[nearestMode] ?? context.refuse("nearest_mode", `is ${nearestMode}`);
  const { sizes, scales } = targetOf(context, x.shape);
  if (sizes.length !== x.shape.length || sizes.some((size) => size < 1)) return context.fail(`sizes [${sizes.join()}]`);
  const positions = x.shape.map((input, d) =>
    Array.from({ length: sizes[d]! }, (_, y) => {
      const at =
        input === sizes[d] && scales[d] === 1 ? y : coordinate(transformation, y, input, sizes[d]!, scales[d]!);
      if (at === undefined) return context.refuse("coordinate_transformation_mode", `is ${transformation}`);
      return Math.min(input - 1, Math.max(0, nearest(at)));
    }),
  );

  // Whole factors that repeat each element are a view: one digit for the element, one for the repeat.
  const factors = x.shape.map((input, d) => sizes[d]! / input);
  if (
    factors.every(
      (factor, d) => positions[d]!.every((at, y) => at === Math.floor(y / factor)) && Number.isInteger(factor),
    )
  ) {
    builder.realise(x);
    const single = builder.singleDigits(x);
    const digits = x.shape.map((input, d) => [input, factors[d]!].filter((radix) => radix > 1));
    const target: Affine[] = [];
    let next = 0;
    single.digits.forEach((own, d) => {
      if (own.length === 1) target.push(digitAffine(next++));
      if (factors[d]! > 1) next++;
    });
    const expr = e.remap(single.expr, (digit) => target[digit]);
    return [{ dtype: x.dtype, shape: sizes, digits, expr, order: x.order }];
  }
  const digits = plainDigits(sizes);
  const radices = digits.flat();
  const radix = (digit: number): number => radices[digit]!;
  const coordinates = dimensionIndices(digits).map((index, d): Coordinate => {
    if (positions[d]!.length === x.shape[d] && positions[d]!.every((at, y) => at === y)) return index;
    const list = builder.plain(builder.constant(int64Tensor(positions[d]!)));
    return { indirect: readAt(e, list, [index], radix) };
  });
  const expr = readIndirect(builder, x, coordinates, radix);
  return [{ dtype: x.dtype, shape: sizes, digits, expr, order: identityOrder(sizes.length) }];
};
