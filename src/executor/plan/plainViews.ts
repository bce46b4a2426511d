import type { Axis, View } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";

/** Whether a view reads a whole tensor in row-major order. */
export function readsInOrder({ axes }: View, radices: readonly number[], count: number): boolean {
  const [{ extent, stride, base, div, indirect, coeffs }] = axes as [Axis];
  const strides = digitStrides(radices);
  const plain =
    axes.length === 1 && extent === count && stride === 1 && base === 0 && div === 1 && indirect === undefined;
  const total = radices.reduce((product, radix) => product * radix, 1);
  return (
    plain &&
    total === count &&
    radices.every((radix, digit) => radix === 1 || strides[digit] === coeffs.find((c) => c.digit === digit)?.coeff)
  );
}
