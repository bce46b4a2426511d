import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { Op, signature } from "../../program/operations.ts";
import type { Constant, Instruction, View } from "../../program/types.ts";

/** An expression over digits: reads, constants and instructions share one numbering. */
export type Expression = {
  reads: readonly View[];
  constants: readonly Constant[];
  code: readonly Instruction[];
};

/** The slots that an instruction takes as operands. */
export function operands({ op, a, b, c }: Instruction): number[] {
  if (op === Op.digit) return [];
  if (op === Op.cast) return [a];
  return [a, b, c].slice(0, signature(op)!.arity);
}

/** The type of every slot. */
export function slotTypes(expression: Expression, sourceTypes: readonly DTypeCode[]): DTypeCode[] {
  return [
    ...expression.reads.map(({ input }) => sourceTypes[input]!),
    ...expression.constants.map(({ dtype }) => dtype),
    ...expression.code.map(({ op, dtype, b }) => {
      if (op === Op.cast) return b as DTypeCode;
      return signature(op)!.bool ? DType.bool : dtype;
    }),
  ];
}

/** Returns the slots needed by the results `outs`, including indices of indirect reads. */
export function neededSlots({ reads, constants, code }: Expression, outs: readonly number[]): Set<number> {
  const needed = new Set<number>();
  const firstInstruction = reads.length + constants.length;
  const visit = (slot: number): void => {
    if (needed.has(slot)) return;
    needed.add(slot);
    if (slot < reads.length) {
      for (const { indirect } of reads[slot]!.axes) if (indirect !== undefined) visit(indirect);
    } else if (slot >= firstInstruction) {
      operands(code[slot - firstInstruction]!).forEach(visit);
    }
  };
  outs.forEach(visit);
  return needed;
}

/** Returns the digits with radix above 1 that influence a result slot. */
export function neededDigits(expression: Expression, out: number, radices: readonly number[]): Set<number> {
  const { reads, constants, code } = expression;
  const digits = new Set<number>();
  const add = (digit: number): void => void (radices[digit]! > 1 && digits.add(digit));
  for (const slot of neededSlots(expression, [out])) {
    if (slot < reads.length) {
      for (const { coeffs } of reads[slot]!.axes) for (const { digit, coeff } of coeffs) if (coeff !== 0) add(digit);
    }
    const instruction = code[slot - reads.length - constants.length];
    if (instruction?.op === Op.digit) add(instruction.a);
  }
  return digits;
}
