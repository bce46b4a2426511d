import { DType, isFloat } from "../../../numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import { digitAffine, type Affine } from "../../expressions/affine.ts";
import { combine } from "../../lowering/broadcast.ts";
import { REDUCTION_DIGIT, type Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../../expressions/tensor.ts";
import { readAt } from "../../steps/views.ts";
import { floatWord } from "../../../numerics/numbers.ts";
import {
  antialiasTaps,
  COORDINATES,
  cubicTaps,
  evenTaps,
  linearTaps,
  nearestTap,
  ROUNDINGS,
  type CoordinateMode,
  type ResizeAxis,
  type Rounding,
  type ResizeTaps,
} from "./coordinates.ts";
import { readIndirect } from "../../lowering/readIndirect.ts";

const choice = <T extends string>(context: NodeContext, name: string, choices: readonly T[], otherwise: T): T => {
  const given = context.string(name, otherwise);
  return choices.find((known) => known === given) ?? context.refuse(name, `is ${given}`);
};

function floatList(context: NodeContext, index: number, name: string): number[] | undefined {
  const tensor = context.optional(index);
  if (tensor === undefined || tensor.shape.includes(0)) return undefined;
  if (!isFloat(tensor.dtype)) context.fail(`${name} is not of floats`);
  return context.constantNumbers(tensor, name);
}

/** The dimensions to resize, by number, from scales or sizes. */
function readAxes(context: NodeContext, x: LazyTensor): Map<number, ResizeAxis> {
  const rank = x.shape.length;
  const upsample = context.node.operator === "Upsample";
  const later = context.opset >= 11 && !upsample;
  const attribute = upsample && context.opset < 9 ? context.floats("scales")?.map(Math.fround) : undefined;
  const scales = attribute ?? floatList(context, later ? 2 : 1, "scales");
  const roi = later ? floatList(context, 1, "roi") : undefined;
  const wanted =
    later && context.optional(3)?.shape.includes(0) === false ? context.constantInts(3, "sizes") : undefined;
  const given = context.opset >= 18 ? context.ints("axes") : undefined;
  const axes = given?.map((axis) => context.axis(axis, rank)) ?? identityOrder(rank);
  const policy = choice(context, "keep_aspect_ratio_policy", ["stretch", "not_larger", "not_smaller"], "stretch");
  const list = wanted ?? scales ?? context.fail("neither scales nor sizes are given");
  if (list.length !== axes.length || (wanted && scales))
    return context.fail(`[${list.join()}] for ${axes.length} axes`);
  let ratios = wanted?.map((size, k) => Math.fround(size / x.shape[axes[k]!]!)) ?? scales!;
  if (wanted !== undefined && policy !== "stretch") {
    const one = policy === "not_larger" ? Math.min(...ratios) : Math.max(...ratios);
    ratios = ratios.map(() => one);
  }
  const size = (k: number): number => {
    const input = x.shape[axes[k]!]!;
    if (wanted === undefined) return Math.floor(Math.fround(input * ratios[k]!));
    return policy === "stretch" ? wanted[k]! : Math.floor(Math.fround(ratios[k]! * input) + 0.5);
  };
  return new Map(
    axes.map((axis, k) => {
      const output = size(k);
      if (!(output >= 1) || !(ratios[k]! > 0)) context.fail(`dimension ${axis} becomes ${output}`);
      const [start, end] = roi === undefined ? [0, 1] : [roi[k]!, roi[k + axes.length]!];
      const input = x.shape[axis]!;
      const length = wanted === undefined ? Math.fround(input * ratios[k]!) : output;
      return [axis, { input, output, length, scale: ratios[k]!, start, end }] as const;
    }),
  );
}

/** A nearest upscaling by a whole number that repeats each element is a view. */
export function repetition(axis: ResizeAxis, taps: readonly ResizeTaps[]): number | undefined {
  const times = axis.output / axis.input;
  const repeats = Number.isInteger(times) && taps.every((tap, o) => tap.positions[0] === Math.floor(o / times));
  return repeats ? times : undefined;
}

/** A resized dimension, and the taps for each output position. */
type ResizedAxis = { axis: ResizeAxis; taps: ResizeTaps[] };

/** Reads one position a dimension: through digits where elements repeat, else through lists of indices. */
function resizeNearest(context: NodeContext, x: LazyTensor, resizedAxes: ReadonlyMap<number, ResizedAxis>): LazyTensor {
  const { builder, expressions: e } = context;
  const shape = x.shape.map((dim, d) => resizedAxes.get(d)?.axis.output ?? dim);
  const times = x.shape.map((_, d) =>
    resizedAxes.has(d) ? repetition(resizedAxes.get(d)!.axis, resizedAxes.get(d)!.taps) : 1,
  );
  const digits = shape.map((dim, d) => [dim / (times[d] ?? 1), times[d] ?? 1].filter((radix) => radix > 1));
  const radix = radixOf(digits);
  let next = 0;
  const coordinates = dimensionIndices(digits).map((index, d) => {
    const first = next;
    next += digits[d]!.length;
    if (times[d] === 1) return index;
    if (times[d] !== undefined)
      return x.shape[d] === 1 ? { base: 0, coeffs: new Map<number, number>() } : digitAffine(first);
    const list = builder.constant(int64Tensor(resizedAxes.get(d)!.taps.map((tap) => tap.positions[0]!)));
    return { indirect: readAt(e, builder.plain(list), [index], radix) };
  });
  const expr = readIndirect(builder, x, coordinates, radix);
  return { dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** Returns an exact dot over the neighbours in all resized dimensions; a weight multiplies the dimensions' weights. */
function resizeWeighted(
  context: NodeContext,
  x: LazyTensor,
  resizedAxes: ReadonlyMap<number, ResizedAxis>,
): LazyTensor {
  const { builder, expressions: e } = context;
  const shape = x.shape.map((dim, d) => resizedAxes.get(d)?.axis.output ?? dim);
  const digits = plainDigits(shape);
  const resized = [...resizedAxes.keys()];
  const radices = resized.map((d) => resizedAxes.get(d)!.taps[0]!.positions.length);
  const radix = radixOf(digits, radices);
  const indices = dimensionIndices(digits);
  const table = (d: number): { position: LazyTensor; weight: LazyTensor; at: Affine[] } => {
    const { taps, axis } = resizedAxes.get(d)!;
    const dims = [axis.output, radices[resized.indexOf(d)]!];
    return {
      position: builder.constant(
        int64Tensor(
          taps.flatMap((tap) => tap.positions),
          dims,
        ),
      ),
      weight: builder.constant(
        floatTensor(
          taps.flatMap((tap) => tap.weights),
          dims,
        ),
      ),
      at: [indices[d]!, digitAffine(REDUCTION_DIGIT + resized.indexOf(d))],
    };
  };
  const tables = new Map(resized.map((d) => [d, table(d)] as const));
  const coordinates = indices.map((index, d) => {
    const own = tables.get(d);
    return own === undefined ? index : { indirect: readAt(e, builder.plain(own.position), own.at, radix) };
  });
  const value = readIndirect(builder, x, coordinates, radix);
  const weight = [...tables.values()]
    .map((own): Expr => readAt(e, builder.plain(own.weight), own.at, radix))
    .reduce(e.mul);
  const expr = e.accumulator(Reduce.dot, x.dtype, x.dtype, radices, value, weight);
  return { dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** Positions that lie outside the input in some dimension become `value` (tf_crop_and_resize). */
function extrapolate(
  context: NodeContext,
  y: LazyTensor,
  resizedAxes: ReadonlyMap<number, ResizedAxis>,
  value: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const fill = e.constant(DType.float32, floatWord(value));
  return [...resizedAxes].reduce((tensor, [d, { taps }]) => {
    if (!taps.some((tap) => tap.outOfRange)) return tensor;
    const shape = y.shape.map((dim, k) => (k === d ? dim : 1));
    const bytes = Uint8Array.from(taps, (tap) => Number(tap.outOfRange));
    const mask = builder.constant({ dtype: DType.bool, shape, bytes });
    return combine(builder, [mask, tensor], y.shape, (outOfRange, v) => e.select(outOfRange, fill, v));
  }, y);
}

/**
 * Returns the resizing for each dimension that changes, in float32 in onnxruntime's order; other dimensions are left
 * out.
 */
export function resizedAxesOf(context: NodeContext, x: LazyTensor): Map<number, ResizedAxis> {
  const upsample = isUpsample(context);
  const mode = modeOf(context);
  const coordinates: CoordinateMode = upsample
    ? "asymmetric"
    : choice(context, "coordinate_transformation_mode", COORDINATES, "half_pixel");
  const rounding: Rounding = upsample ? "simple" : choice(context, "nearest_mode", ROUNDINGS, "round_prefer_floor");
  const antialias = context.int("antialias", 0) !== 0;
  const a = context.float("cubic_coeff_a", -0.75);
  const exclude = context.int("exclude_outside", 0) !== 0;
  const resizedAxes = new Map<number, ResizedAxis>();
  for (const [d, axis] of readAxes(context, x)) {
    if (axis.scale === 1 && axis.input === axis.output) {
      // Engines ignore the region here, the specification does not.
      if (coordinates === "tf_crop_and_resize" && (axis.start !== 0 || axis.end !== 1))
        return context.refuse("roi", `crops dimension ${d}, whose size stays`);
      continue;
    }
    const tap = (o: number): ResizeTaps => {
      if (mode === "nearest") return nearestTap(coordinates, rounding, axis, o);
      // The filter reaches over all positions that the output position stands for.
      if (antialias) context.builder.budget.computeElements(4 / Math.min(1, axis.scale));
      if (antialias) return antialiasTaps(coordinates, mode === "cubic" ? Math.fround(a) : undefined, exclude, axis, o);
      return mode === "linear" ? linearTaps(coordinates, axis, o) : cubicTaps(coordinates, a, exclude, axis, o);
    };
    resizedAxes.set(d, {
      axis,
      taps: evenTaps(context.tabulate(axis.output, tap), axis.input),
    });
  }
  return resizedAxes;
}

/** Upsample, and Resize in operator set 10, which has only the mode attribute. */
const isUpsample = (context: NodeContext): boolean => context.node.operator === "Upsample" || context.opset < 11;

const modeOf = (context: NodeContext): "nearest" | "linear" | "cubic" =>
  choice(context, "mode", isUpsample(context) ? ["nearest", "linear"] : ["nearest", "linear", "cubic"], "nearest");

/** Whether positions outside the input are filled. */
export const isCropped = (context: NodeContext): boolean =>
  !isUpsample(context) && context.string("coordinate_transformation_mode", "half_pixel") === "tf_crop_and_resize";

/** Resize and Upsample: positions and weights are known. */
export const resize: Lower = (context) => {
  const x = context.input(0);
  const mode = modeOf(context);
  const resizedAxes = resizedAxesOf(context, x);
  const extrapolation = context.float("extrapolation_value", 0);
  if (resizedAxes.size === 0) return [x];
  if (mode !== "nearest" && !isFloat(x.dtype)) return context.refuse("mode", `is ${mode} of integers`);
  const y = mode === "nearest" ? resizeNearest(context, x, resizedAxes) : resizeWeighted(context, x, resizedAxes);
  return [isCropped(context) && isFloat(x.dtype) ? extrapolate(context, y, resizedAxes, extrapolation) : y];
};
