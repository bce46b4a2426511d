import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** A position read along one dimension, int64, and the position's weight. */
type Tap = { position: string; weight: string };

const CUBIC = -0.75;

/** The index that a position reads, inside the dimension; for zeros the weight of one outside becomes 0. */
function padded(b: Backward, { position, weight }: Tap, size: number, corners: boolean): Tap {
  const whole = (value: number): string => b.whole(value);
  const inside = b.op("Clip", position, whole(0), whole(size - 1));
  const mode = b.attributes.string("padding_mode", "zeros");
  if (mode === "border") return { position: inside, weight };
  if (mode === "zeros") {
    const isInside = b.op("Equal", position, inside);
    return { position: inside, weight: b.where(isInside, weight, b.f(0)) };
  }
  const period = corners ? 2 * (size - 1) : 2 * size;
  const folded = b.op("Mod", position, whole(period));
  const back = b.sub(whole(corners ? period : period - 1), folded);
  return { position: b.where(b.op("LessOrEqual", folded, whole(size - 1)), folded, back), weight };
}

/** Weights of the cubic convolution at a distance up to 1, or from 1 to 2. */
function cubicWeight(b: Backward, d: string, isNear: boolean): string {
  const [f, mul] = [(value: number): string => b.f(value), b.mul];
  if (isNear) return b.add(mul(mul(b.sub(mul(f(CUBIC + 2), d), f(CUBIC + 3)), d), d), f(1));
  return b.add(mul(b.add(mul(b.add(mul(f(CUBIC), d), f(-5 * CUBIC)), d), f(8 * CUBIC)), d), f(-4 * CUBIC));
}

/** Returns the taps along one dimension, at coordinates in a shape. */
function tapsAt(b: Backward, at: string, shape: readonly number[], mode: string): Tap[] {
  const integer = (x: string): string => b.opWith("Cast", { to: DType.int64 }, x);
  if (mode === "nearest") return [{ position: integer(b.op("Round", at)), weight: b.expand(b.f(1), shape) }];
  const first = integer(b.op("Floor", at));
  // A whole number has no gradient: the fraction's is the coordinate's.
  const fraction = b.sub(at, b.opWith("Cast", { to: b.dtype() }, first));
  const shifted = (by: number): string => b.add(first, b.whole(by));
  if (mode.endsWith("linear")) {
    return [
      { position: first, weight: b.sub(b.f(1), fraction) },
      { position: shifted(1), weight: fraction },
    ];
  }
  return [-1, 0, 1, 2].map((by) => ({
    position: shifted(by),
    weight: cubicWeight(b, by <= 0 ? b.sub(fraction, b.f(by)) : b.sub(b.f(by), fraction), by === 0 || by === 1),
  }));
}

/** Mixes the elements around the positions of a grid, each times the product of the element's weights. */
export const gridSample: Rule = (b) => {
  const [n, channels, ...sizes] = b.shape() as [number, number, ...number[]];
  const corners = b.attributes.int("align_corners", 0) !== 0;
  const mode = b.attributes.string("mode", "linear");
  const [rank, spatial] = [sizes.length, b.outputShape.slice(2)];
  const [places, size] = [elementCount(spatial), elementCount(sizes)];
  const grid = b.shaped(b.x(1), [n, places, rank]);
  const taps = sizes.map((own, d) => {
    // The grid names the fastest dimension first.
    const moved = b.add(b.shaped(part(b, grid, 2, rank - 1 - d, rank - d), [n, places]), b.f(1));
    const at = corners
      ? b.mul(b.div(moved, b.f(2)), b.f(own - 1))
      : b.div(b.sub(b.mul(moved, b.f(own)), b.f(1)), b.f(2));
    return tapsAt(b, at, [n, places], mode).map((tap) => padded(b, tap, own, corners));
  });
  const rows = b.transpose(b.shaped(b.x(0), [n, channels, size]), [0, 2, 1]);
  const combined = taps.reduce<Tap[]>(
    (all, own, d) =>
      all.flatMap((before) =>
        own.map(({ position, weight }) => ({
          position: d === 0 ? position : b.add(b.mul(before.position, b.whole(sizes[d]!)), position),
          weight: d === 0 ? weight : b.mul(before.weight, weight),
        })),
      ),
    [{ position: "", weight: "" }],
  );
  const terms = combined.map(({ position, weight }) => {
    const read = b.opWith("GatherND", { batch_dims: 1 }, rows, b.shaped(position, [n, places, 1]));
    return b.mul(read, b.shaped(weight, [n, places, 1]));
  });
  const sum = terms.reduce((total, term) => b.add(total, term));
  return [b.shaped(b.transpose(sum, [0, 2, 1]), b.outputShape)];
};
