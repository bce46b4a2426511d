import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

const turn = (k: number, j: number, length: number): number => (2 * Math.PI * ((k * j) % length)) / length;

/**
 * The matrix for a transform, [frequencies * 2, samples * parts]: the amount added by the real or imaginary part of a
 * sample to the real and imaginary part of a frequency.
 */
function transform(
  b: Backward,
  length: number,
  frequencies: number,
  samples: number,
  parts: number,
  inverse: boolean,
): string {
  const values: number[] = [];
  const sign = inverse ? 1 : -1;
  for (let k = 0; k < frequencies; k++)
    for (const to of [0, 1])
      for (let j = 0; j < samples; j++)
        for (let from = 0; from < parts; from++) {
          const angle = turn(k, j, length);
          const sine = (to === 1 ? sign : -sign) * Math.sin(angle);
          values.push((from === to ? Math.cos(angle) : sine) / (inverse ? length : 1));
        }
  return b.tensor(values, [frequencies * 2, samples * parts]);
}

/** A product with the matrix of the transform. */
export const dft: Rule = (b) => {
  const shape = b.shape();
  const [rank, parts] = [shape.length, shape.at(-1)!];
  const inverse = b.attributes.int("inverse", 0) !== 0;
  const onesided = b.attributes.int("onesided", 0) !== 0;
  const given = b.opset < 20 ? b.attributes.int("axis", 1) : (b.integersOf(2)?.[0] ?? -2);
  const axis = b.axis(given, rank);
  if (inverse && onesided) return b.refuse("has no gradient rule as the inverse of half of a spectrum");
  const length = b.integersOf(1)?.[0] ?? shape[axis]!;
  const samples = Math.min(length, shape[axis]!);
  const frequencies = onesided ? Math.floor(length / 2) + 1 : length;
  // [..., samples, parts]: the axis goes beside the last dimension, and back.
  const rest = shape.flatMap((_, d) => (d === axis || d === rank - 1 ? [] : [d]));
  const order = [...rest, axis, rank - 1];
  const outer = rest.map((d) => shape[d]!);
  const used = samples < shape[axis]! ? part(b, b.x(), axis, 0, samples) : b.x();
  const rows = b.shaped(b.transpose(used, order), [...outer, samples * parts]);
  const matrix = b.transpose(transform(b, length, frequencies, samples, parts, inverse), [1, 0]);
  const product = b.shaped(b.op("MatMul", rows, matrix), [...outer, frequencies, 2]);
  return [
    b.transpose(
      product,
      order.map((_, d) => order.indexOf(d)),
    ),
  ];
};

/** Frames of the signal times the window, and a product with the matrix of the transform. */
export const stft: Rule = (b) => {
  const [batch, length, parts = 1] = b.shape() as [number, number, number?];
  const step = b.integersOf(1)![0]!;
  const size = b.integersOf(3)?.[0] ?? b.shape(2)[0]!;
  const [, frames, frequencies] = b.outputShape as [number, number, number];
  const places = Array.from({ length: frames * size }, (_, i) => Math.floor(i / size) * step + (i % size));
  const signal = b.shaped(b.x(0), [batch, length, parts]);
  let cut = b.shaped(b.opWith("Gather", { axis: 1 }, signal, b.integers(...places)), [batch, frames, size, parts]);
  if (b.has(2)) cut = b.mul(cut, b.shaped(b.x(2), [size, 1]));
  const rows = b.shaped(cut, [batch, frames, size * parts]);
  const matrix = b.transpose(transform(b, size, frequencies, size, parts, false), [1, 0]);
  return [b.shaped(b.op("MatMul", rows, matrix), b.outputShape)];
};
