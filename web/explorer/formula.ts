import { dtypeName, type DType } from "../../src/numerics/dtype.ts";
import { Op, signature, type OpName } from "../../src/program/operations.ts";
import type { Instruction } from "../../src/program/types.ts";

/** A part of a formula: its text, and how firmly it holds together. */
type Part = { text: string; rank: number };

const [SELECT, COMPARE, SUM, PRODUCT, SIGN, ATOM] = [0, 1, 2, 3, 4, 5] as const;

/** Operations between two operands, with their sign and rank. */
const BETWEEN: Partial<Record<OpName, readonly [sign: string, rank: number]>> = {
  add: ["+", SUM],
  sub: ["−", SUM],
  mul: ["×", PRODUCT],
  div: ["/", PRODUCT],
  eq: ["=", COMPARE],
  lt: ["<", COMPARE],
  le: ["≤", COMPARE],
};

/** Characters of the longest formula that anybody reads. A value that is used often would make it much longer. */
const LONGEST = 400;

/**
 * Writes straight-line code as a formula: `1 / 3.749`, `max(sum + 0.5, 0)`.
 * @param slots What the code begins with, in words.
 * @param out The slot of the result.
 * @returns undefined if the code is no more than its first slots, or too long to be read
 */
export function formulaOf(
  code: readonly Instruction[],
  slots: readonly string[],
  out: number,
  digits: readonly number[],
): string | undefined {
  if (out < slots.length) return undefined;
  const parts: Part[] = slots.map((text) => ({ text, rank: text.startsWith("-") ? SELECT : ATOM }));
  for (const instruction of code) {
    const part = partOf(instruction, parts, digits);
    if (part.text.length > LONGEST && parts.length === out) return undefined;
    // A longer part may be unused; what reads it is longer still.
    parts.push(part.text.length > LONGEST ? { text: "…".repeat(LONGEST), rank: ATOM } : part);
  }
  const { text } = parts[out]!;
  return text.length > LONGEST ? undefined : text;
}

function partOf({ op, a, b, c }: Instruction, parts: readonly Part[], digits: readonly number[]): Part {
  const within = (slot: number, rank: number): string => {
    const { text, rank: own } = parts[slot]!;
    return own < rank ? `(${text})` : text;
  };
  if (op === Op.digit) return { text: String(digits[a]!), rank: ATOM };
  if (op === Op.cast) return { text: `${dtypeName(b as DType)}(${parts[a]!.text})`, rank: ATOM };
  if (op === Op.select)
    return { text: `${within(a, COMPARE)} ? ${within(b, COMPARE)} : ${within(c, SELECT)}`, rank: SELECT };
  const { name, arity } = signature(op)!;
  const [sign, rank] = BETWEEN[name] ?? [];
  if (sign !== undefined && rank !== undefined)
    return { text: `${within(a, rank)} ${sign} ${within(b, rank + 1)}`, rank };
  if (name === "neg") return { text: `−${within(a, ATOM)}`, rank: SIGN };
  return {
    text: `${name}(${[a, b, c]
      .slice(0, arity)
      .map((slot) => parts[slot]!.text)
      .join(", ")})`,
    rank: ATOM,
  };
}
