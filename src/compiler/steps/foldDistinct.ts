import { dtypeBytes, readWord, writeWord, type Word } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { countUp, linearWalk, type LinearWalk } from "./linearWalk.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import { evaluateElement } from "../../program/evaluate.ts";

/** The maximum number of combinations: their table has 64 MiB. */
const MAX_COMBINATIONS = 2 ** 24;

/** One operand: a narrow operand's value is known by the word, any other by the offset. */
type Operand = LinearWalk & { input: number; axes: string; narrow: boolean; radix: number };

const digitStride = (radices: readonly number[], digit: number): number =>
  radices.slice(digit + 1).reduce((product, radix) => product * radix, 1);

function operandOf(step: Step, view: View): Operand | undefined {
  const walk = linearWalk(view, step.outDigits);
  if (walk === undefined) return undefined;
  const { dtype, count } = step.inputs[view.input]!;
  const words = dtypeBytes(dtype) <= 2 ? 2 ** (8 * dtypeBytes(dtype)) : Infinity;
  const narrow = words <= count;
  return { ...walk, input: view.input, axes: JSON.stringify(view.axes), narrow, radix: Math.min(words, count) };
}

/**
 * Computes an elementwise step with few combinations of operand values, for example weights of 8 bits and channel
 * scales: each combination once, by the definition. The bytes equal the bytes computed element by element.
 * @param sources The canonical bytes of the step's inputs.
 * @returns false, having done nothing, if this way would save nothing
 */
export function foldDistinct(step: Step, sources: readonly Uint8Array[], into: Uint8Array): boolean {
  const { epilogueReads: reads, epilogue, outDigits, count, dtype } = step;
  if (step.reduce !== Reduce.none) return false;
  // Reads at equal offsets in equally long sources (a scale and a zero point) share one digit of the key.
  const operands: Operand[] = [];
  for (const view of reads) {
    const operand = operandOf(step, view);
    if (operand === undefined) return false;
    const same = ({ axes, input, narrow }: Operand): boolean =>
      axes === operand.axes && (input === operand.input || (!narrow && !operand.narrow));
    if (!operands.some(same)) operands.push(operand);
  }
  // Digits that are operands themselves: the place of a number in its byte.
  const used = new Set(epilogue.code.filter(({ op }) => op === Op.digit).map(({ a }) => a));
  const places = [...used].map((digit) => ({ radix: outDigits[digit]!, stride: digitStride(outDigits, digit) }));
  const combinations = [...operands, ...places].reduce((product, { radix }) => product * radix, 1);
  if (combinations > count || combinations > MAX_COMBINATIONS) return false;

  const read = (input: number, offset: number): Word => readWord(sources[input]!, offset, step.inputs[input]!.dtype);
  const size = dtypeBytes(dtype);
  /** For each combination, 1 plus the first element with the combination; 0 if none. */
  const firsts = new Uint32Array(combinations);
  const offsets = operands.map(({ offset }) => offset);
  countUp(outDigits, (i, counted) => {
    let key = 0;
    operands.forEach(({ carry, input, narrow, radix }, k) => {
      if (counted >= 0) offsets[k]! += carry[counted]!;
      const offset = offsets[k]!;
      const source = sources[input]!;
      if (!narrow) key = key * radix + offset;
      else if (radix === 256) key = key * radix + source[offset]!;
      else key = key * radix + source[2 * offset]! + 256 * source[2 * offset + 1]!;
    });
    for (const { radix, stride } of places) key = key * radix + (Math.floor(i / stride) % radix);
    const first = firsts[key]!;
    if (first === 0) {
      firsts[key] = i + 1;
      writeWord(into, i, dtype, evaluateElement(step, i, read));
    } else for (let b = 0; b < size; b++) into[i * size + b] = into[(first - 1) * size + b]!;
  });
  return true;
}
