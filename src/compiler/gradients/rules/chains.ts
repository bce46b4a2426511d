import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";
import { axesOf } from "./reductions.ts";

/** Multiplies all columns of [rows, columns], in pairs: [rows, 1]. */
function productOf(b: Backward, x: string, columns: number): string {
  let [rest, count] = [x, columns];
  while (count > 1) {
    const half = Math.floor(count / 2);
    const pairs = b.mul(part(b, rest, 1, 0, half), part(b, rest, 1, half, 2 * half));
    rest = count % 2 === 0 ? pairs : b.opWith("Concat", { axis: 1 }, pairs, part(b, rest, 1, count - 1, count));
    count = half + (count % 2);
  }
  return rest;
}

/** Multiplies in pairs: no gradient divides by a factor, which may be 0. */
export const reduceProd: Rule = (b) => {
  const shape = b.shape();
  const axes = axesOf(b);
  const kept = shape.flatMap((_, d) => (axes.includes(d) ? [] : [d]));
  const count = elementCount(axes.map((d) => shape[d]!));
  if (count === 0) return b.refuse("it multiplies no factors");
  const last = b.transpose(b.x(), [...kept, ...axes]);
  const rows = elementCount(kept.map((d) => shape[d]!));
  return [b.shaped(productOf(b, b.shaped(last, [rows, count]), count), b.outputShape)];
};

/** Each round forms products with twice as many factors. */
export const cumProd: Rule = (b) => {
  const shape = b.shape();
  const axis = b.axis(b.integersOf(1)![0] ?? 0, shape.length);
  const length = shape[axis]!;
  const reverse = b.attributes.int("reverse", 0) !== 0;
  /** The elements `steps` places before each, and ones where there are none. */
  const moved = (x: string, steps: number): string => {
    const ones = b.expand(
      b.f(1),
      shape.map((dim, d) => (d === axis ? steps : dim)),
    );
    const rest = reverse ? part(b, x, axis, steps, length) : part(b, x, axis, 0, length - steps);
    return steps === length ? ones : b.opWith("Concat", { axis }, ...(reverse ? [rest, ones] : [ones, rest]));
  };
  let product = b.attributes.int("exclusive", 0) === 0 ? b.op("Identity", b.x()) : moved(b.x(), 1);
  for (let steps = 1; steps < length; steps *= 2) product = b.mul(product, moved(product, steps));
  return [product];
};

/** The expansion along the first row. */
export const det: Rule = (b) => {
  const shape = b.shape();
  const [rank, order, batch] = [shape.length, shape.at(-1)!, shape.slice(0, -2)];
  const minors = new Map<string, string>();
  const element = (row: number, column: number): string =>
    b.shaped(part(b, part(b, b.x(), rank - 2, row, row + 1), rank - 1, column, column + 1), batch);
  /** The determinant of the last rows over the given columns. */
  const minor = (columns: readonly number[]): string => {
    const known = minors.get(columns.join());
    if (known !== undefined) return known;
    const products = columns.map((column) => {
      const rest = columns.filter((other) => other !== column);
      const own = element(order - columns.length, column);
      return rest.length === 0 ? own : b.mul(own, minor(rest));
    });
    const result = products.reduce((sum, product, k) => (k % 2 === 1 ? b.sub(sum, product) : b.add(sum, product)));
    minors.set(columns.join(), result);
    return result;
  };
  return [minor(shape.slice(-1).flatMap((size) => Array.from({ length: size }, (_, column) => column)))];
};
