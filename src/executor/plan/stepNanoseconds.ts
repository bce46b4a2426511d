import { ELEMENTARY } from "../../numerics/kernels/elementary/estimates.ts";
import { Op } from "../../program/operations.ts";
import type { Instruction, Step } from "../../program/types.ts";
import { TERM_NS } from "./stepPlan.ts";

/** The approximate nanoseconds of a read or a plain operation in a vector loop. */
const OPERATION_NS = 0.3;
const ELEMENTARY_NS = 5;
const elementary = new Set<number>(ELEMENTARY.map((name) => Op[name]));

const codeNanoseconds = (code: readonly Instruction[]): number =>
  code.reduce((sum, { op }) => sum + (elementary.has(op) ? ELEMENTARY_NS : OPERATION_NS), 0);

/**
 * Returns the approximate time one thread takes for a step. The precision suffices to distinguish microseconds from
 * milliseconds, which decides on splitting the work.
 * @param termNanoseconds The time to read an unchanged term.
 */
export function stepNanoseconds(step: Step, termNanoseconds = TERM_NS): number {
  const terms = step.redDigits.reduce((product, radix) => product * radix, step.count);
  const perTerm = step.redDigits.length === 0 ? 0 : termNanoseconds + codeNanoseconds(step.term.code);
  const perElement = OPERATION_NS * (1 + step.epilogueReads.length) + codeNanoseconds(step.epilogue.code);
  return terms * perTerm + step.count * perElement;
}
