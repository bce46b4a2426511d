import { axisRange } from "../../../program/loops.ts";
import type { Axis, View } from "../../../program/types.ts";

/**
 * A tensor with a row for each example of a batch: element `(outer * batch + example) * inner + rest`, where `rest` is
 * below `inner`.
 */
export type Rows = { batch: number; inner: number };

/** The digit that counts examples: its value modulo `batch * below`, divided by `below`. */
export type ExampleDigit = { digit: number; below: number };

/** Returns whether an axis moves by whole batches, which a smaller batch makes shorter. */
const isOuter = ({ stride, extent }: Axis, { batch, inner }: Rows): boolean =>
  extent > 1 && stride % (batch * inner) === 0;

/**
 * Returns the digit counting a tensor's examples in a view.
 * @param radices of all digits of the view's step
 * @returns undefined if no single digit counts all examples from first to last: the view mixes or picks examples
 */
export function exampleDigit({ axes }: View, rows: Rows, radices: readonly number[]): ExampleDigit | undefined {
  const { inner } = rows;
  let found: ExampleDigit | undefined;
  // The least and the greatest place within an example that the view reaches.
  let [low, high] = [0, 0];
  for (const axis of axes) {
    if (isOuter(axis, rows)) continue;
    const reach = (axis.extent - 1) * axis.stride;
    if (reach < inner) {
      high += reach;
      continue;
    }
    const counted = found === undefined ? countedBy(axis, rows, radices) : undefined;
    if (counted === undefined) return undefined;
    found = counted.digit;
    low += counted.low;
    high += counted.high;
  }
  return low >= 0 && high < inner ? found : undefined;
}

/** The example-counting digit on an axis, and the range within an example reached by the axis' other digits. */
function countedBy(
  axis: Axis,
  { batch, inner }: Rows,
  radices: readonly number[],
): { digit: ExampleDigit; low: number; high: number } | undefined {
  const [least, greatest] = axisRange(axis, (digit) => radices[digit]!);
  if (axis.indirect !== undefined || axis.div !== 1 || least < 0 || greatest >= axis.extent) return undefined;
  const start = axis.base * axis.stride;
  if (Math.floor(start / inner) % batch !== 0) return undefined;
  let found: ExampleDigit | undefined;
  let [low, high] = [start % inner, start % inner];
  for (const { digit, coeff } of axis.coeffs) {
    const [weight, radix] = [coeff * axis.stride, radices[digit]!];
    const reach = weight * (radix - 1);
    if (Math.abs(reach) < inner) {
      low += Math.min(0, reach);
      high += Math.max(0, reach);
    } else if (weight % (batch * inner) !== 0) {
      const below = Math.max(1, inner / weight);
      const counts = weight > 0 && weight <= inner && Number.isInteger(below) && radix % (below * batch) === 0;
      if (!counts || found !== undefined) return undefined;
      found = { digit, below };
      high += (below - 1) * weight;
    }
  }
  return found && { digit: found, low, high };
}

/** Returns a view of a tensor with fewer examples: of `examples` in place of the batch. */
export function withExamples(view: View, rows: Rows, examples: number, radices: readonly number[]): View {
  const { batch, inner } = rows;
  const fewer = (whole: number): number => (whole / batch) * examples;
  const axes = view.axes.map((axis): Axis => {
    if (isOuter(axis, rows)) return { ...axis, stride: fewer(axis.stride) };
    if ((axis.extent - 1) * axis.stride < inner) return axis;
    const period = (batch * inner) / axis.stride;
    const rest = axis.base % period;
    const coeffs = axis.coeffs.map(({ digit, coeff }) => ({
      digit,
      coeff: coeff % period === 0 && radices[digit]! > 1 ? fewer(coeff) : coeff,
    }));
    const moved = { ...axis, base: fewer(axis.base - rest) + rest, coeffs };
    return { ...moved, extent: axisRange(moved, (digit) => radices[digit]!)[1] + 1 };
  });
  return { ...view, axes };
}
