import type { Code } from "../assembler/encoding.ts";
import { f64x2 as floats, i32, i32x4 as words, i64x2 as integers, v128 as vectors } from "../assembler/instructions.ts";
import { relaxedMadd } from "../assembler/relaxed.ts";

/** Four 64-bit lanes, in two vectors computed side by side: constants are loaded once for both. */
export type Wide = readonly [Code, Code];

type Operation = (...operands: Wide[]) => Wide;

const lift =
  (operation: (...operands: Code[]) => Code): Operation =>
  (...operands) => [operation(...operands.map(([low]) => low)), operation(...operands.map(([, high]) => high))];

type Names = "abs" | "neg" | "sqrt" | "nearest" | "add" | "sub" | "mul" | "div" | "pmin" | "pmax";
type Comparisons = "eq" | "ne" | "lt" | "gt";
const FLOAT_NAMES: readonly (Names | Comparisons)[] = [
  ...(["abs", "neg", "sqrt", "nearest", "add", "sub", "mul", "div", "pmin", "pmax"] as const),
  ...(["eq", "ne", "lt", "gt"] as const),
];

/** Instructions on float64 lanes. */
export const f64x4 = {
  ...(Object.fromEntries(FLOAT_NAMES.map((name) => [name, lift(floats[name])])) as Record<
    Names | Comparisons,
    Operation
  >),
  /** `a * b + c`; see {@link relaxedMadd}. */
  madd: lift(relaxedMadd),
  convertLowI32S: lift(floats.convertLowI32S),
};

const shift =
  (operation: (a: Code, by: Code) => Code) =>
  (a: Wide, by: number): Wide =>
    lift((x) => operation(x, i32.const(by)))(a);

export const i64x4 = {
  add: lift(integers.add),
  sub: lift(integers.sub),
  shl: shift(integers.shl),
  shrS: shift(integers.shrS),
  shrU: shift(integers.shrU),
};

export const v256 = {
  and: lift(vectors.and),
  andNot: lift(vectors.andNot),
  or: lift(vectors.or),
  xor: lift(vectors.xor),
  bitselect: lift(vectors.bitselect),
};

/** The lower words of the 64-bit lanes, in the lower half. */
export const lowerWords: Operation = lift((a) =>
  vectors.shuffle(a, a, [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]),
);

/** Returns the lower words from one vector's lanes, in scalars. */
export const indices = (a: Wide, half: 0 | 1): readonly [Code, Code] => [
  words.extract(a[half], 0),
  words.extract(a[half], 2),
];
