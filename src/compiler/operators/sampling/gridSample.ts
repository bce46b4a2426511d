import type { Expr } from "../../expressions/expression.ts";
import type { Lower } from "../../lowering/nodeContext.ts";
import { component, padPosition, sampled, tapsAt, type Interpolation, type Padding } from "./taps.ts";
import { broadcast } from "../../lowering/broadcast.ts";

const MODES = new Map<string, Interpolation>([
  ["nearest", "nearest"],
  ["bilinear", "linear"],
  ["linear", "linear"],
  ["bicubic", "cubic"],
  ["cubic", "cubic"],
]);

/**
 * GridSample: mixes elements at a grid's positions, -1 .. 1 from one border to the other: the exact sum over the
 * neighbours times the products of neighbour weights.
 */
export const gridSample: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const grid = context.floatInput(1);
  const given = context.string("mode", context.opset < 20 ? "bilinear" : "linear");
  const interpolation = MODES.get(given) ?? context.refuse("mode", `is ${given}`);
  const padding = context.string("padding_mode", "zeros");
  if (padding !== "zeros" && padding !== "border" && padding !== "reflection")
    return context.refuse("padding_mode", `is ${padding}`);
  const corners = context.int("align_corners", 0) !== 0;
  const [n = 0, channels = 0, ...sizes] = x.shape;
  const rank = sizes.length;
  if (rank < 1 || grid.shape.length !== rank + 2 || grid.shape[0] !== n || grid.shape.at(-1) !== rank)
    return context.fail(`data [${x.shape.join()}] and a grid [${grid.shape.join()}]`);
  if (interpolation !== "nearest") context.floatInput(0);
  const taps = sizes.map((size, d) => {
    const coordinate = (value: Expr): Expr => {
      const moved = e.add(value, e.float(1));
      if (corners) return e.mul(e.div(moved, e.float(2)), e.float(size - 1));
      const scaled = e.sub(e.mul(moved, e.float(size)), e.float(1));
      return e.div(scaled, e.float(2));
    };
    // The grid names the fastest dimension first.
    const coordinates = broadcast(context, [component(context, grid, rank - 1 - d)], coordinate);
    builder.realise(coordinates);
    const pad = (at: Expr): Expr => padPosition(e, at, size, padding satisfies Padding, corners);
    return tapsAt(context, coordinates, size, interpolation, pad);
  });
  const shape = [n, channels, ...grid.shape.slice(1, -1)];
  return [
    sampled(context, x, shape, (all) => [
      all[0]!,
      all[1]!,
      ...taps.map((own) => ({ taps: own, at: [all[0]!, ...all.slice(2)] })),
    ]),
  ];
};
