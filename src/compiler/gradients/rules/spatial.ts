import { elementCount } from "../../../model/onnx/model.ts";
import type { Rule } from "../backward.ts";
import { padded } from "./movement.ts";

/** The grid is a product: theta times constants. Its gradient is the product's gradient. */
export const affineGrid: Rule = (b) => {
  const [n = 0, , ...space] = b.integersOf(1)!;
  const rank = space.length;
  const corners = b.attributes.int("align_corners", 0) !== 0;
  const coordinate = (d: number, i: number): number =>
    corners ? -1 + (2 * i) / (space[d]! - 1) : (2 * i + 1) / space[d]! - 1;
  const count = elementCount(space);
  const steps = space.map((_, d) => elementCount(space.slice(d + 1)));
  // The coordinate of the fastest dimension comes first: (x, y, 1).
  const rows = Array.from({ length: count }, (_, flat) => [
    ...space.map((_, k) => rank - 1 - k).map((d) => coordinate(d, Math.floor(flat / steps[d]!) % space[d]!)),
    1,
  ]);
  const base = b.tensor(rows.flat(), [count, rank + 1]);
  const dy = b.transpose(b.shaped(b.dy, [n, count, rank]), [0, 2, 1]);
  return [b.op("MatMul", dy, base)];
};

/** Each block reads the gradient of the pixels to which the forward pass added the block. */
export const col2Im: Rule = (b) => {
  const [image, block] = [b.integersOf(1)!, b.integersOf(2)!];
  const rank = image.length;
  const fill = (value: number): number[] => image.map(() => value);
  const strides = b.attributes.intsLike("strides", fill(1));
  const dilations = b.attributes.intsLike("dilations", fill(1));
  const pads = b.attributes.intsLike("pads", [...fill(0), ...fill(0)]);
  const whole = image.map((size, d) => size + pads[d]! + pads[d + rank]!);
  const counts = whole.map((size, d) => Math.floor((size - dilations[d]! * (block[d]! - 1) - 1) / strides[d]!) + 1);
  const upTo = (length: number): number[] => Array.from({ length }, (_, i) => i);
  const digitsOf = (flat: number, sizes: readonly number[]): number[] =>
    sizes.map((size, d) => Math.floor(flat / elementCount(sizes.slice(d + 1))) % size);
  const steps = whole.map((_, d) => elementCount(whole.slice(d + 1)));
  const places = upTo(elementCount(block)).flatMap((k) => {
    const inBlock = digitsOf(k, block);
    return upTo(elementCount(counts)).map((column) =>
      digitsOf(column, counts).reduce(
        (sum, at, d) => sum + (at * strides[d]! + inBlock[d]! * dilations[d]!) * steps[d]!,
        0,
      ),
    );
  });
  const [n, channels] = b.outputShape as [number, number];
  const framed = padded(b, b.dy, [0, 0, ...pads.slice(0, rank), 0, 0, ...pads.slice(rank)]);
  const flat = b.shaped(framed, [n, channels, elementCount(whole)]);
  return [b.shaped(b.opWith("Gather", { axis: 2 }, flat, b.integers(...places)), b.shape())];
};
