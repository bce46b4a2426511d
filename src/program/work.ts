import { getOrAdd } from "../base/getOrAdd.ts";
import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../numerics/dtype.ts";
import { countsAsDefined, isPlainFloatSum, staysInside } from "./loops.ts";
import { isElementary, Op } from "./operations.ts";
import { accumulatorTypes, isPartial } from "./reduction.ts";
import { sum } from "./sums.ts";
import { Reduce, type Instruction, type Program, type Step, type View } from "./types.ts";

/*
 * The work of a program is how long its slowest execution may take, in units of 10 ns of one core: a deployment's
 * `rate` is 10^8 of them a second. In the slowest execution every exact sum is in doubt, every elementary function gets
 * operands that its estimate does not settle, and reads miss the caches.
 *
 * Each weight is at least twice what is measured: `npm run measure -- speed worst` (docs/performance.md, "The worst
 * input").
 * The header has the work, so that a program's root depends on the weights.
 */
const WORK = {
  /** A step: calls, views of memory, the engine. */
  step: 4_000,
  /** An element in the step's tensor, and each element byte (bytes may need hashing). */
  element: 4,
  byte: 1,
  /** A reduction with any terms: an exact float sum, an exact sum given in words, the sum over words. */
  reduction: { sum: 600, words: 700, total: 2_000, other: 10 },
  /** A reduction term, besides the term's reads and operations. */
  term: { sum: 1, words: 8, total: 20, other: 1 },
  /** An element of an input, beside its bytes: looking for a second zero or NaN; float64 are compared as bigints. */
  input: { float64: 60, other: 2 },
  /** A read, each axis of a read, and a read whose position depends on another read. */
  read: 4,
  axis: 1,
  indirectRead: 40,
  /**
   * Repeating a 16-bit float sum, if terms are added as read. `axis` counts each axis in a view with possible reads
   * outside the tensor.
   */
  halfSum: { element: 600, term: 6, axis: 3 },
  /** An operation, and an operation that calls a function for each element. */
  operation: 1,
  call: 60,
  /** An elementary function, computed by its definition. */
  elementary: 6_000,
  /** The same of float64: 15 to 70 us, and up to 210 us for erf of 6. */
  elementary64: 45_000,
  /** Computation by the definition, without loops: an element or a term, and each part. */
  definition: { evaluation: 400, digit: 30, constant: 4, read: 200, axis: 120, coefficient: 60, operation: 400 },
} as const;

/**
 * The maximum operand count that an elementary function leaves to the definition. For float32: operands that the
 * estimate does not settle (about one in 2^19), with a constant exponent also products halfway between two numbers. For
 * 16 bits: all operands. Results are kept, and each is therefore computed once.
 */
const UNSETTLED = { float32: 2 ** 14, power: 2 ** 16, half: 2 ** 16 } as const;

/** A product gathers an element once if the product reads the element this often and has this many terms. */
const GATHERED = { uses: 4, terms: 2 ** 14 } as const;

/** Returns the number of terms in a program: the sum over steps of outputs x reduction size, 1 without a reduction. */
export const programTerms = (steps: readonly Step[]): bigint => steps.reduce((all, step) => all + termsOf(step), 0n);

const termsOf = ({ count, redDigits }: Step): bigint => productOf(redDigits) * BigInt(count);

const productOf = (radices: readonly number[]): bigint => radices.reduce((all, radix) => all * BigInt(radix), 1n);

type Worked = Pick<Program, "inputs" | "steps">;

/** Computing the work takes a millisecond or more, and every answer asks for it. */
const known = new WeakMap<Worked, bigint>();

/** Units of work in a second. */
export const WORK_PER_SECOND = 1e8;

/** Returns a program's work: the time for the slowest execution, in units of 10 ns on one core. */
export const programWork = (program: Worked): bigint => getOrAdd(known, program, () => workOf(program));

function workOf({ inputs, steps }: Worked): bigint {
  const unsettled = new Unsettled();
  const given = inputs.reduce((all, input) => all + inputWork(input), 0n);
  return steps.reduce((all, step) => all + stepWork(step, unsettled), given) + unsettled.work();
}

const inputWork = ({ dtype, count }: Program["inputs"][number]): bigint =>
  BigInt(count) *
  BigInt(WORK.byte * dtypeBytes(dtype) + (dtype === DType.float64 ? WORK.input.float64 : WORK.input.other));

/** Counts how often elementary functions are evaluated whose results are kept. */
class Unsettled {
  readonly #counts = new Map<string, { count: bigint; max: number }>();

  /** @param kept What has one store of results. */
  add(kept: string, count: bigint, max: number): void {
    const before = this.#counts.get(kept)?.count ?? 0n;
    this.#counts.set(kept, { count: before + count, max });
  }

  /** Adds another power: its results are kept with all other powers' results, and dropped when too many. */
  addPower(count: bigint): void {
    this.add(`power ${this.#counts.size}`, count, UNSETTLED.power);
  }

  work(): bigint {
    const definitions = [...this.#counts.values()].map(({ count, max }) => (count < max ? count : BigInt(max)));
    return definitions.reduce((all, count) => all + count * BigInt(WORK.elementary), 0n);
  }
}

function stepWork(step: Step, unsettled: Unsettled): bigint {
  const elements = BigInt(step.count);
  const terms = step.reduce === Reduce.none ? 0n : termsOf(step);
  const fixed = BigInt(WORK.step) + elements * BigInt(WORK.element + WORK.byte * dtypeBytes(step.dtype));
  if (countsAsDefined(step)) return fixed + definedWork(step, elements, terms);

  const { term, epilogue } = step;
  const kind = reductionKind(step);
  const first = step.termReads.length;
  const perTerm = WORK.term[kind] + codeWork(step, term.code, first, terms, unsettled);
  const reduced = terms === 0n ? 0n : elements * BigInt(WORK.reduction[kind]) + terms * BigInt(perTerm);
  const slots = step.epilogueReads.length + accumulatorTypes(step).length;
  const perElement = sum(step.epilogueReads.map(readWork)) + codeWork(step, epilogue.code, slots, elements, unsettled);
  const termReads = step.termReads.reduce((all, view) => all + readsOf(step, view, terms) * BigInt(readWork(view)), 0n);
  return fixed + reduced + termReads + elements * BigInt(perElement) + halfSumWork(step, elements, terms);
}

/** How a reduction is computed in the worst case. */
function reductionKind({ reduce, reduceType }: Step): keyof typeof WORK.term {
  if (isPartial(reduce)) return "words";
  if (reduce === Reduce.total) return "total";
  return isSum(reduce) && isFloat(reduceType!) ? "sum" : "other";
}

const isSum = (reduce: Reduce): boolean => reduce === Reduce.sum || reduce === Reduce.dot;

/**
 * Returns the work for a sum of 16-bit floats: if the float32 result lies halfway between two 16-bit floats, the whole
 * sum is computed once more.
 */
function halfSumWork(step: Step, elements: bigint, terms: bigint): bigint {
  if (!isSum(step.reduce) || !isHalf(step.reduceType!)) return 0n;
  if (!isPlainFloatSum(step)) {
    const accumulator: Step = { ...step, epilogueReads: [], epilogue: { code: [], out: 0 } };
    return definedWork(accumulator, elements, terms);
  }
  const radices = [...step.outDigits, ...step.redDigits];
  const axes = sum(step.termReads.map((view) => (staysInside(view, radices) ? 0 : view.axes.length)));
  return elements * BigInt(WORK.halfSum.element) + terms * BigInt(WORK.halfSum.term + WORK.halfSum.axis * axes);
}

const readWork = ({ axes }: View): number => {
  const isIndirect = axes.some(({ indirect }) => indirect !== undefined);
  return (isIndirect ? WORK.indirectRead : WORK.read) + WORK.axis * axes.length;
};

/** How often a view is read: once for each term, but a product gathers what it uses several times once. */
function readsOf({ reduce, termReads, outDigits, redDigits }: Step, view: View, terms: bigint): bigint {
  if (reduce !== Reduce.dot || terms < GATHERED.terms) return terms;
  const digits = new Set<number>();
  for (const { coeffs, indirect } of view.axes) {
    const index = indirect === undefined ? [] : termReads[indirect]!.axes.flatMap((axis) => axis.coeffs);
    for (const { digit } of [...coeffs, ...index]) digits.add(digit);
  }
  const radices = [...outDigits, ...redDigits];
  const gathered = productOf([...digits].map((digit) => radices[digit]!));
  return gathered * BigInt(GATHERED.uses) <= terms ? gathered : terms;
}

/** Returns the loops' work for one code run; counts its elementary functions for `times` runs. */
function codeWork(
  step: Step,
  code: readonly Instruction[],
  first: number,
  times: bigint,
  unsettled: Unsettled,
): number {
  const isConstant = (slot: number): boolean => {
    if (slot < first) return false;
    const made = code[slot - first - step.constants.length];
    return made === undefined || (made.op === Op.cast && isConstant(made.a));
  };
  return sum(
    code.map(({ op, dtype, b }) => {
      if (!isElementary(op)) return op === Op.fmod && isFloat(dtype) ? WORK.call : WORK.operation;
      if (op !== Op.pow) {
        unsettled.add(`${op} ${isHalf(dtype) ? dtype : DType.float32}`, times, unsettledOf(dtype));
      } else if (isConstant(b)) unsettled.addPower(times);
      else return WORK.call + WORK.elementary;
      return WORK.call;
    }),
  );
}

const unsettledOf = (dtype: DTypeCode): number => (isHalf(dtype) ? UNSETTLED.half : UNSETTLED.float32);

/** The work of evaluating a step's elements and terms by the definition. */
function definedWork(step: Step, elements: bigint, terms: bigint): bigint {
  const { outDigits, redDigits, constants, termReads, epilogueReads, term, epilogue } = step;
  const evaluation = (digits: number, reads: readonly View[], code: readonly Instruction[]): bigint =>
    BigInt(
      WORK.definition.evaluation +
        WORK.definition.digit * digits +
        WORK.definition.constant * constants.length +
        sum(reads.map(definedReadWork)) +
        sum(code.map(definedOperationWork)),
    );
  const perTerm = evaluation(outDigits.length + redDigits.length, termReads, term.code);
  return elements * evaluation(outDigits.length, epilogueReads, epilogue.code) + terms * perTerm;
}

function definedOperationWork({ op, dtype }: Instruction): number {
  if (!isElementary(op)) return WORK.definition.operation;
  return dtype === DType.float64 ? WORK.elementary64 : WORK.elementary;
}

function definedReadWork({ axes }: View): number {
  const { read, axis, coefficient } = WORK.definition;
  return read + axis * axes.length + coefficient * sum(axes.map(({ coeffs }) => coeffs.length));
}
