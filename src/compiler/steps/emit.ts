import { DType } from "../../numerics/dtype.ts";
import { LIMITS } from "../../program/limits.ts";
import { Op } from "../../program/operations.ts";
import {
  Reduce,
  type Axis,
  type Constant,
  type Instruction,
  type Step,
  type TensorRef,
  type View,
} from "../../program/types.ts";
import { StepLimitError } from "../errors.ts";
import {
  REDUCTION_DIGIT,
  type AccumulatorExpr,
  type ConstantExpr,
  type Expr,
  type ReadAxis,
  type ReadExpr,
} from "../expressions/expression.ts";
import { fewestDigits, type DigitMap } from "./fewestDigits.ts";
import { simplifyAxes } from "../expressions/simplify.ts";

/** The distinct parts of a step's side (term or epilogue), operands before users. */
type Side = { reads: ReadExpr[]; constants: ConstantExpr[]; code: Expr[] };

function collect(roots: readonly Expr[]): Side {
  const side: Side = { reads: [], constants: [], code: [] };
  const seen = new Set<Expr>();
  const visitRead = (read: ReadExpr): void => {
    if (seen.has(read)) return;
    seen.add(read);
    for (const axis of read.axes) if (axis.indirect) visitRead(axis.indirect);
    side.reads.push(read);
  };
  const visit = (e: Expr): void => {
    if (e.kind === "read") return visitRead(e);
    if (seen.has(e)) return;
    seen.add(e);
    if (e.kind === "constant") side.constants.push(e);
    else if (e.kind === "digit") side.code.push(e);
    else if (e.kind === "operation") {
      e.args.forEach(visit);
      side.code.push(e);
    }
  };
  roots.forEach(visit);
  return side;
}

/** How much of a step's limits an expression uses. */
export function expressionSize(expr: Expr): { reads: number; constants: number; instructions: number; inputs: number } {
  const epilogue = collect([expr]);
  const acc = expr.accumulators[0];
  const term = collect(acc ? [acc.a, ...(acc.b ? [acc.b] : [])] : []);
  const reads = [...epilogue.reads, ...term.reads];
  return {
    reads: Math.max(epilogue.reads.length, term.reads.length),
    constants: new Set([...epilogue.constants, ...term.constants]).size,
    instructions: Math.max(epilogue.code.length, term.code.length),
    inputs: new Set(reads.map((read) => JSON.stringify(read.source))).size,
  };
}

class Emitter {
  readonly inputs: TensorRef[] = [];
  readonly #inputNumbers = new Map<string, number>();
  readonly constants: Constant[] = [];
  readonly #constantNumbers = new Map<ConstantExpr, number>();
  readonly #digits: DigitMap;
  readonly #axes: (read: ReadExpr) => readonly ReadAxis[];

  constructor(digits: DigitMap, axes: (read: ReadExpr) => readonly ReadAxis[]) {
    this.#digits = digits;
    this.#axes = axes;
  }

  addConstants(constants: readonly ConstantExpr[]): void {
    for (const constant of constants) {
      if (this.#constantNumbers.has(constant)) continue;
      this.#constantNumbers.set(constant, this.constants.length);
      this.constants.push({ dtype: constant.dtype, value: constant.value });
    }
  }

  #input(ref: TensorRef): number {
    const key = JSON.stringify(ref);
    let number = this.#inputNumbers.get(key);
    if (number === undefined) {
      number = this.inputs.push(ref) - 1;
      this.#inputNumbers.set(key, number);
    }
    return number;
  }

  views(reads: readonly ReadExpr[]): View[] {
    const numbers = new Map(reads.map((read, n) => [read, n] as const));
    return reads.map((read) => ({
      input: this.#input(read.source),
      fill: read.fill,
      axes: this.#axes(read).map((axis): Axis => {
        const coeffs = this.#digits.coeffs(axis.index);
        const indirect = axis.indirect === undefined ? {} : { indirect: numbers.get(axis.indirect)! };
        return {
          extent: axis.extent,
          stride: axis.stride,
          base: axis.index.base,
          div: axis.div ?? 1,
          ...indirect,
          coeffs,
        };
      }),
    }));
  }

  /** Instructions and the slot of each expression. `accumulator`, if any, has the slot after the reads. */
  code(side: Side, accumulator?: AccumulatorExpr): { code: Instruction[]; slot: (e: Expr) => number } {
    const slots = new Map<Expr, number>(side.reads.map((read, n) => [read, n] as const));
    let next = side.reads.length;
    if (accumulator) slots.set(accumulator, next++);
    // The slot after `last`'s value holds the second result: the flag for a value.
    if (accumulator?.reduce === Reduce.last) next++;
    for (const [constant, number] of this.#constantNumbers) slots.set(constant, next + number);
    next += this.constants.length;
    const slot = (e: Expr): number => (e.kind === "found" ? slots.get(e.of)! + 1 : slots.get(e)!);
    const code = side.code.map((e): Instruction => {
      slots.set(e, next++);
      if (e.kind === "digit") return { op: Op.digit, dtype: DType.int64, a: this.#digits.number(e.digit), b: 0, c: 0 };
      if (e.kind !== "operation") throw new StepLimitError(`an expression of kind ${e.kind} is no instruction`);
      if (e.op === Op.cast) return { op: e.op, dtype: e.type, a: slot(e.args[0]!), b: e.dtype, c: 0 };
      const [a = 0, b = 0, c = 0] = e.args.map(slot);
      return { op: e.op, dtype: e.type, a, b, c };
    });
    return { code, slot };
  }
}

/**
 * Returns the step that computes `expr` for all values of the given digits.
 * @param outDigits Digit numbers and radices, slowest first: the result's storage order.
 * @throws StepLimitError
 */
export function emitStep(expr: Expr, outDigits: readonly { digit: number; radix: number }[]): Step {
  const [acc, other] = expr.accumulators;
  if (other !== undefined) throw new StepLimitError("an expression over two reductions");
  const redDigits = (acc?.radices ?? []).map((radix, k) => ({ digit: REDUCTION_DIGIT + k, radix }));
  const radices = new Map([...outDigits, ...redDigits].map(({ digit, radix }) => [digit, radix] as const));
  const radix = (digit: number): number => radices.get(digit) ?? 1;

  const epilogueSide = collect([expr]);
  const termSide = collect(acc ? [acc.a, ...(acc.b ? [acc.b] : [])] : []);
  const allReads = [...new Set([...epilogueSide.reads, ...termSide.reads])];
  const axes = new Map(allReads.map((read) => [read, simplifyAxes(read.axes, radix)] as const));
  const used = [...epilogueSide.code, ...termSide.code].flatMap((e) => (e.kind === "digit" ? [e.digit] : []));
  const indices = [...axes.values()].flat().map((axis) => axis.index);
  const digits = fewestDigits(outDigits, redDigits, indices, used);

  const emitter = new Emitter(digits, (read) => axes.get(read)!);
  emitter.addConstants([...termSide.constants, ...epilogueSide.constants]);
  const termReads = emitter.views(termSide.reads);
  const epilogueReads = emitter.views(epilogueSide.reads);
  const term = emitter.code(termSide);
  const epilogue = emitter.code(epilogueSide, acc);
  const step: Step = {
    dtype: expr.dtype,
    count: outDigits.reduce((product, d) => product * d.radix, 1),
    inputs: emitter.inputs,
    outDigits: digits.out,
    redDigits: acc ? digits.red : [],
    reduce: acc?.reduce ?? Reduce.none,
    ...(acc ? { reduceType: acc.type } : {}),
    constants: emitter.constants,
    termReads,
    epilogueReads,
    term: { code: term.code, outA: acc ? term.slot(acc.a) : 0, outB: acc?.b ? term.slot(acc.b) : 0 },
    epilogue: { code: epilogue.code, out: epilogue.slot(expr) },
  };
  if (digits.out.length > LIMITS.digits || digits.red.length > LIMITS.digits)
    throw new StepLimitError(
      `a step of ${digits.out.length} and ${digits.red.length} digits, at most ${LIMITS.digits}`,
    );
  return step;
}
