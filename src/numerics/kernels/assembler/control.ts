import { unsigned, type Code } from "./encoding.ts";

export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

const TYPE_CODES: Record<ValueType, number> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** The byte of a value type. */
export const typeCode = (type: ValueType): number => TYPE_CODES[type];

const EMPTY = 0x40;
const END = 0x0b;
const blockType = (result: ValueType | undefined): number => (result === undefined ? EMPTY : typeCode(result));

export const block = (...body: Code[]): Code => [0x02, EMPTY, ...body, END];
export const loop = (...body: Code[]): Code => [0x03, EMPTY, ...body, END];
export const branchIf = (depth: number, condition: Code): Code => [condition, 0x0d, unsigned(depth)];
export const returned = (...values: Code[]): Code => [...values, 0x0f];
export const drop = (value: Code): Code => [value, 0x1a];

/** An if-else over statements, or over two expressions with the given result type. */
export function ifElse(condition: Code, then: Code, otherwise: Code = [], result?: ValueType): Code {
  const alternative: Code = otherwise.length === 0 ? [] : [0x05, otherwise];
  return [condition, 0x04, blockType(result), then, alternative, END];
}

/** `a` if the condition is not 0, else `b`; both are evaluated. */
export const select = (a: Code, b: Code, condition: Code): Code => [a, b, condition, 0x1b];

/** Calls the function with this number. */
export const call = (index: number, ...operands: Code[]): Code => [...operands, 0x10, unsigned(index)];

/** `do body while (condition)`. */
export const doWhile = (condition: Code, ...body: Code[]): Code => loop(...body, branchIf(0, condition));

/** `while (condition) body`. */
export const whileLoop = (condition: Code, ...body: Code[]): Code => ifElse(condition, doWhile(condition, ...body));
