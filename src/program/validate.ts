import {
  canonicalWord,
  dtypeBytes,
  DType,
  isDType,
  isFloat,
  isInteger,
  isSigned,
  type DType as DTypeCode,
} from "../numerics/dtype.ts";
import { FLOAT64_LIMBS, LIMBS } from "../numerics/exactSum.ts";
import { CHUNK_BYTES, depthOf } from "./merkle/sizes.ts";
import { ProgramFormatError } from "./errors.ts";
import { LIMITS, MAX_COUNT, MAX_LEVELS, MAX_STEP_BYTES, MAX_STEP_GAS } from "./limits.ts";
import { Op, signature } from "./operations.ts";
import { accumulatorTypes, hasTwoResults, isPartial, isTotal, limbsOf, termType } from "./reduction.ts";
import { product } from "./sums.ts";
import { Reduce, type Axis, type Instruction, type Program, type Step, type View } from "./types.ts";

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ProgramFormatError(message);
}

/**
 * Checks that a step is well-formed: limits, slots, digits, types and bounds (docs/program.md).
 * @throws ProgramFormatError that names what is wrong.
 */
export function validateStep(step: Step): void {
  const { inputs, outDigits, redDigits, reduce } = step;
  check(inputs.length <= LIMITS.inputs, `${inputs.length} inputs, at most ${LIMITS.inputs}`);
  check(step.constants.length <= LIMITS.constants, `${step.constants.length} constants, at most ${LIMITS.constants}`);
  for (const [i, ref] of inputs.entries())
    check(ref.count >= 1 && ref.count < MAX_COUNT, `input ${i} has ${ref.count} elements`);
  for (const { dtype, value } of step.constants) checkWord(value, dtype, "constant");
  check(outDigits.length >= 1 && outDigits.length <= LIMITS.digits, `${outDigits.length} out digits`);
  check(redDigits.length <= LIMITS.digits, `${redDigits.length} reduction digits`);
  check((reduce === Reduce.none) === (redDigits.length === 0), "reduction digits without a reduction, or the reverse");
  check((reduce === Reduce.none) === (step.reduceType === undefined), "a reduction has a type, none has not");
  check(
    [...outDigits, ...redDigits].every((radix) => Number.isInteger(radix) && radix >= 1),
    "a radix is at least 1",
  );
  check(
    product(outDigits) === step.count && step.count < MAX_COUNT,
    `digits give ${product(outDigits)} elements, not ${step.count}`,
  );
  check(product(redDigits) < MAX_COUNT, "a reduction of 2^32 terms or more");

  const digits = outDigits.length + redDigits.length;
  checkReads(step, step.termReads, digits);
  checkReads(step, step.epilogueReads, outDigits.length);
  checkReduction(step);
  checkTerm(step, digits);
  const accumulators = accumulatorTypes(step);
  const slots = [...readTypes(step, step.epilogueReads), ...accumulators, ...step.constants.map((c) => c.dtype)];
  checkCode(slots, step.epilogue.code, outDigits.length);
  checkSlot(slots, step.epilogue.out, step.dtype, "the epilogue's result");
}

/** Checks every step, its references, the checkpoints' ranges and the header's limits. */
export function validateProgram(program: Program): void {
  const { inputs, steps, checkpoints, outputs } = program;
  check(
    steps.length >= 1 && checkpoints.length >= 1 && outputs.length >= 1,
    "a program has steps, checkpoints and outputs",
  );
  check(program.maxStepGas <= MAX_STEP_GAS, `a step proof of ${program.maxStepGas} gas, at most ${MAX_STEP_GAS}`);
  check(
    program.maxStepBytes <= MAX_STEP_BYTES,
    `a step proof of ${program.maxStepBytes} bytes, at most ${MAX_STEP_BYTES}`,
  );
  checkLevels(checkpoints.length, MAX_LEVELS.trace, "checkpoints");
  const checkpointed = new Set(checkpoints.map((c) => c.step));
  steps.forEach((step, s) => {
    try {
      validateStep(step);
      checkLevels(Math.ceil((step.count * dtypeBytes(step.dtype)) / CHUNK_BYTES), MAX_LEVELS.tensor, "chunks");
      for (const ref of step.inputs) {
        if (ref.kind === "constant") continue;
        check(ref.kind === "input" || ref.index < s, `reads step ${ref.index}, which is not earlier`);
        const source = (ref.kind === "input" ? inputs : steps)[ref.index];
        check(
          source?.dtype === ref.dtype && source.count === ref.count,
          `reads ${ref.kind} ${ref.index} as another tensor`,
        );
      }
    } catch (error) {
      throw new ProgramFormatError(`step ${s}: ${(error as Error).message}`, { cause: error });
    }
  });
  checkpoints.forEach(({ first, step }, j) => {
    check(step < steps.length && first >= 0 && first <= step, `checkpoint ${j}: range [${first}..${step}]`);
    checkLevels(step - first + 1, MAX_LEVELS.interior, `steps in the range of checkpoint ${j}`);
    check(j === 0 || checkpoints[j - 1]!.step < step, `checkpoint ${j}: steps must increase`);
    for (let s = first; s <= step; s++) {
      for (const ref of steps[s]!.inputs) {
        const closed = ref.kind !== "step" || ref.index >= first || checkpointed.has(ref.index);
        check(closed, `checkpoint ${j}: step ${s} reads step ${ref.kind === "step" ? ref.index : 0} outside the range`);
      }
    }
  });
  outputs.forEach((checkpoint, o) =>
    check(checkpoint < checkpoints.length, `output ${o} names checkpoint ${checkpoint}`),
  );
  checkRun(program);
}

/** Checks the sources for the items' inputs in a run, and the list of each item's outputs. */
function checkRun({ inputs, steps, checkpoints, outputs, each = [] }: Program): void {
  inputs.forEach(({ dtype, count, source }, i) => {
    if (source?.kind === "index")
      check(dtype === DType.int64 && count === 1, `input ${i} is an item's number, which is one int64`);
    if (source?.kind !== "carried") return;
    const from = checkpoints[source.checkpoint];
    check(from !== undefined, `input ${i} is carried from checkpoint ${source.checkpoint}`);
    const { dtype: made, count: length } = steps[from.step]!;
    check(
      made === dtype && length === count,
      `input ${i} is carried from checkpoint ${source.checkpoint}, which is another tensor`,
    );
  });
  each.forEach((output, k) =>
    check(
      outputs[output] !== undefined && (k === 0 || each[k - 1]! < output),
      `output ${output} is named as one of each item`,
    ),
  );
}

function checkLevels(width: number, levels: number, what: string): void {
  check(depthOf(width) <= levels, `${width} ${what}, at most ${2 ** levels}`);
}

const readTypes = (step: Step, reads: readonly View[]): DTypeCode[] =>
  reads.map((view) => step.inputs[view.input]!.dtype);

function checkWord(value: bigint, dtype: DTypeCode, what: string): void {
  const bits = BigInt(dtypeBytes(dtype) * 8);
  const low = isSigned(dtype) ? -(1n << (bits - 1n)) : 0n;
  // A word is written in 64 bits; the highest bit is a sign, except for float64.
  const inRange = value >= low && value < low + (1n << bits) && (value < 1n << 63n || dtype === DType.float64);
  check(inRange && canonicalWord(value, dtype) === value, `${what} ${value} is not a canonical word of type ${dtype}`);
}

function checkReads(step: Step, reads: readonly View[], digits: number): void {
  check(reads.length <= LIMITS.reads, `${reads.length} reads, at most ${LIMITS.reads}`);
  reads.forEach((view, n) => {
    const input = step.inputs[view.input];
    check(input !== undefined, `read ${n} names input ${view.input}`);
    checkWord(view.fill, input.dtype, "fill");
    check(view.axes.length <= LIMITS.axes, `read ${n} has ${view.axes.length} axes, at most ${LIMITS.axes}`);
    for (const axis of view.axes) checkAxis(step, reads, n, axis, digits);
    const last = view.axes.reduce((sum, axis) => sum + (axis.extent - 1) * axis.stride, 0);
    check(last < input.count, `read ${n} reaches element ${last} of ${input.count}`);
  });
}

function checkAxis(step: Step, reads: readonly View[], n: number, axis: Axis, digits: number): void {
  check(axis.extent >= 1 && axis.div >= 1, `read ${n}: extent ${axis.extent}, divisor ${axis.div}`);
  axis.coeffs.forEach(({ digit }, k) => {
    check(digit < digits && (k === 0 || axis.coeffs[k - 1]!.digit < digit), `read ${n}: digit ${digit}`);
  });
  if (axis.indirect === undefined) return;
  const index = reads[axis.indirect];
  check(
    axis.indirect < n && index !== undefined,
    `read ${n} takes an index from read ${axis.indirect}, which is not earlier`,
  );
  check(isInteger(step.inputs[index.input]!.dtype), `read ${n} takes an index from a tensor that is not of integers`);
  check(
    index.axes.every((a) => a.indirect === undefined),
    `read ${n}: an index read is itself indirect`,
  );
}

/** Checks the types that a reduction takes, and the digit that numbers limbs. */
function checkReduction(step: Step): void {
  const { reduce, reduceType, outDigits, redDigits } = step;
  const isPartialTotal = reduce === Reduce.partialTotal;
  check(reduceType !== DType.bool || reduce === Reduce.last, "a reduction over bool: cast first");
  check((reduceType === DType.limb) === isPartialTotal, "a partial total is of limbs, and nothing else is");
  if (!isPartial(reduce) && !isTotal(reduce)) return;
  check(isPartialTotal || isFloat(reduceType!), "only sums of floats have limbs");
  const limbs = limbsOf(step);
  if (isPartialTotal)
    check(limbs === LIMBS || limbs === FLOAT64_LIMBS, "the last out digit of a partial total has radix 4 or 18");
  if (isPartial(reduce))
    check(outDigits.at(-1) === limbs, `the last out digit of a partial sum numbers its limbs: radix ${limbs}`);
  if (isTotal(reduce))
    check(redDigits.at(-1)! % limbs === 0, `the last digit of a total counts limbs: a multiple of ${limbs}`);
}

function checkTerm(step: Step, digits: number): void {
  const { code, outA, outB } = step.term;
  if (step.reduceType === undefined) {
    check(step.termReads.length === 0 && code.length === 0 && outA === 0 && outB === 0, "a term without a reduction");
    return;
  }
  const slots = [...readTypes(step, step.termReads), ...step.constants.map((c) => c.dtype)];
  checkCode(slots, code, digits);
  const { reduce } = step;
  checkSlot(slots, outA, reduce === Reduce.last ? DType.bool : termType(step), "the term's first result");
  if (hasTwoResults(reduce)) checkSlot(slots, outB, termType(step), "the term's second result");
  else check(outB === 0, "an unused second result is 0");
}

function checkSlot(slots: readonly DTypeCode[], slot: number, dtype: DTypeCode, what: string): void {
  check(slots[slot] === dtype, `${what}: slot ${slot} has type ${slots[slot]}, expected ${dtype}`);
}

/** Checks operands and appends each instruction's type to `slots`. */
function checkCode(slots: DTypeCode[], code: readonly Instruction[], digits: number): void {
  check(code.length <= LIMITS.instructions, `${code.length} instructions, at most ${LIMITS.instructions}`);
  for (const { op, dtype, a, b, c } of code) {
    const sig = signature(op);
    check(sig !== undefined && sig.accepts(dtype), `operation 0x${op.toString(16)} on type ${dtype}`);
    const operands = [a, b, c];
    if (op === Op.digit) {
      check(a < digits && b === 0 && c === 0, `digit ${a} of ${digits}`);
    } else if (op === Op.cast) {
      checkSlot(slots, a, dtype, "cast");
      check(c === 0, "an unused operand is 0");
    } else {
      operands.forEach((slot, k) => {
        if (k >= sig.arity) check(slot === 0, "an unused operand is 0");
        else checkSlot(slots, slot, op === Op.select && k === 0 ? DType.bool : dtype, sig.name);
      });
    }
    if (op === Op.cast) {
      check(isDType(b), `cast to type ${b}`);
      slots.push(b);
    } else {
      slots.push(sig.bool ? DType.bool : dtype);
    }
  }
}
