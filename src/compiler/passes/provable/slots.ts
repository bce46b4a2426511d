import { Op, signature } from "../../../program/operations.ts";
import type { Instruction } from "../../../program/types.ts";

const arityOf = ({ op }: Instruction): number => (op === Op.digit ? 0 : signature(op)!.arity);

/** The slots that an instruction uses. */
export const operandSlots = (instruction: Instruction): number[] =>
  [instruction.a, instruction.b, instruction.c].slice(0, arityOf(instruction));

/** An instruction over renumbered slots. */
export function withSlots(instruction: Instruction, slot: (old: number) => number): Instruction {
  const arity = arityOf(instruction);
  const { a, b, c } = instruction;
  return { ...instruction, a: arity > 0 ? slot(a) : a, b: arity > 1 ? slot(b) : b, c: arity > 2 ? slot(c) : c };
}
