import { DType } from "../numerics/dtype.ts";
import { Op, signature } from "./operations.ts";
import { accumulatorTypes, hasTwoResults } from "./reduction.ts";
import { Reduce, type Instruction, type Step } from "./types.ts";

/** Returns the term of a step with results widened to float32, and float32 as the reduction's type. */
export function widenedTerm(step: Step): Pick<Step, "reduceType" | "term"> {
  const { code, outA, outB } = step.term;
  const dtype = step.reduceType!;
  const first = step.termReads.length + step.constants.length + code.length;
  const widen = (slot: number): Instruction => ({ op: Op.cast, dtype, a: slot, b: DType.float32, c: 0 });
  const isLast = step.reduce === Reduce.last;
  const results = isLast ? [outB] : hasTwoResults(step.reduce) && outB !== outA ? [outA, outB] : [outA];
  const slot = (own: number): number => first + results.indexOf(own);
  const term = {
    code: [...code, ...results.map(widen)],
    outA: isLast ? outA : slot(outA),
    outB: hasTwoResults(step.reduce) ? slot(outB) : 0,
  };
  return { reduceType: DType.float32, term };
}

/**
 * Returns the step with its reduction over float32. The accumulator is first narrowed to its original type, before
 * anything else reads the accumulator.
 */
export function widenedReduction(step: Step): Step {
  const widened = { ...step, ...widenedTerm(step) };
  const narrow = accumulatorTypes(step)[0]!;
  if (narrow !== step.reduceType) return widened;
  const accumulator = step.epilogueReads.length;
  const first = accumulator + accumulatorTypes(step).length + step.constants.length;
  const moved = (slot: number): number => (slot === accumulator ? first : slot < first ? slot : slot + 1);
  const narrowing: Instruction = { op: Op.cast, dtype: DType.float32, a: accumulator, b: narrow, c: 0 };
  const code = step.epilogue.code.map((instruction): Instruction => {
    const { op, a, b, c } = instruction;
    const { arity } = signature(op)!;
    const operand = (slot: number, k: number): number => (k < arity ? moved(slot) : slot);
    return { ...instruction, a: operand(a, 0), b: operand(b, 1), c: operand(c, 2) };
  });
  return { ...widened, epilogue: { code: [narrowing, ...code], out: moved(step.epilogue.out) } };
}
