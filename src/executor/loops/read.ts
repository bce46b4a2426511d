import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import type { Axis, View } from "../../program/types.ts";
import type { Emitter, Value } from "./emitter.ts";

/** What a digit is called in the generated loops, its level and radix; undefined if it is always 0. */
export type DigitName = { name: string; level: number; radix: number };

type Context = {
  emitter: Emitter;
  digits: ReadonlyMap<number, DigitName>;
  /** Slots emitted so far, and their types. */
  slots: readonly (Value | undefined)[];
  types: readonly DTypeCode[];
};

/** Coordinates below this size are exact in float64, sums of them included. */
export const REACH = 2 ** 51;

/** The least and greatest value of an axis' affine part. */
export function axisRange({ base, coeffs }: Axis, radixOf: (digit: number) => number): [number, number] {
  let low = base;
  let high = base;
  for (const { digit, coeff } of coeffs) {
    const most = coeff * (radixOf(digit) - 1);
    if (most < 0) low += most;
    else high += most;
  }
  return [low, high];
}

/** Emits a view's offset and bounds check; the result is the element or the fill value. */
export function emitRead(context: Context, view: View, array: string, fill: string): Value {
  const { emitter, digits } = context;
  const conditions: Value[] = [];
  const offsets: Value[] = [];
  const unchecked = new Map<number, number>();
  let start = 0;
  for (const axis of view.axes) {
    const [low, high] = axisRange(axis, (digit) => digits.get(digit)?.radix ?? 1);
    if (axis.indirect === undefined && axis.div === 1 && low >= 0 && high < axis.extent) {
      start += axis.base * axis.stride;
      for (const { digit, coeff } of axis.coeffs)
        unchecked.set(digit, (unchecked.get(digit) ?? 0) + coeff * axis.stride);
    } else {
      const coordinate = emitCoordinate(context, axis);
      conditions.push(coordinate.inside);
      offsets.push({ ...coordinate.value, source: `${coordinate.value.source} * ${axis.stride}` });
    }
  }
  const terms = [...unchecked].flatMap(([digit, coeff]) => named(digits, digit, coeff));
  const offset = emitter.fold([emitter.linear(start, terms), ...offsets], "+");
  if (conditions.length === 0) return emitter.define({ ...offset, source: `${array}[${offset.source}]` });
  const inside = emitter.fold(conditions, "&&");
  return emitter.define({
    source: `${inside.source} ? ${array}[${offset.source}] : ${fill}`,
    level: Math.max(inside.level, offset.level),
  });
}

function emitCoordinate(context: Context, axis: Axis): { value: Value; inside: Value } {
  const { emitter, digits } = context;
  const terms = axis.coeffs.flatMap(({ digit, coeff }) => named(digits, digit, coeff));
  let c = emitter.linear(axis.base, terms);
  if (axis.indirect !== undefined) {
    const index = context.slots[axis.indirect]!;
    const wide = context.types[axis.indirect] === DType.int64 || context.types[axis.indirect] === DType.uint64;
    const number = emitter.define(wide ? { ...index, source: `Number(${index.source})` } : index);
    const once = emitter.define({
      ...number,
      source: `${number.source} < 0 ? ${number.source} + ${axis.extent} : ${number.source}`,
    });
    c = emitter.fold([c, once], "+");
  }
  const { source, level } = emitter.define(c);
  const divides = axis.div === 1 ? "" : `${source} % ${axis.div} === 0 && `;
  const inside = emitter.define({ level, source: `${divides}${source} >= 0 && ${source} < ${axis.extent * axis.div}` });
  const value = axis.div === 1 ? { source, level } : emitter.define({ source: `${source} / ${axis.div}`, level });
  return { value, inside };
}

function named(
  digits: ReadonlyMap<number, DigitName>,
  digit: number,
  coeff: number,
): (DigitName & { coeff: number })[] {
  const known = digits.get(digit);
  return known === undefined ? [] : [{ ...known, coeff }];
}
