import type { Word } from "../numerics/dtype.ts";
import { runCode } from "./expression.ts";
import { hasTwoResults, startReduction } from "./reduction.ts";
import type { Step, View } from "./types.ts";
import { splitDigits, viewOffset } from "./view.ts";

/** Reads element `offset` of the step's input `input`, canonicalised. */
export type ReadElement = (input: number, offset: number) => Word;

/**
 * The definition of a step: the exact value of output element `index`. Mirrored by contracts/verifier/StepVerifier.sol.
 * @param index Flat index, below `step.count`.
 */
export function evaluateElement(step: Step, index: number, read: ReadElement): Word {
  const constants = step.constants.map((c) => c.value);
  const outDigits = splitDigits(index, step.outDigits);
  const slots: Word[] = readAll(step.epilogueReads, outDigits, read);
  if (step.reduceType !== undefined) {
    const reduction = startReduction(step, outDigits.at(-1)!);
    const twoResults = hasTwoResults(step.reduce);
    const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
    for (let r = 0; r < terms; r++) {
      const digits = [...outDigits, ...splitDigits(r, step.redDigits)];
      const termSlots = [...readAll(step.termReads, digits, read), ...constants];
      runCode(step.term.code, termSlots, digits);
      reduction.add(termSlots[step.term.outA]!, twoResults ? termSlots[step.term.outB]! : 0n, r);
    }
    slots.push(...reduction.result());
  }
  slots.push(...constants);
  runCode(step.epilogue.code, slots, outDigits);
  return slots[step.epilogue.out]!;
}

/** Reads the views at the given digits, in order: a view's position may depend on words read by earlier views. */
export function readAll(views: readonly View[], digits: readonly number[], read: ReadElement): Word[] {
  const words: Word[] = [];
  for (const view of views) {
    const offset = viewOffset(view, digits, words);
    words.push(offset === undefined ? view.fill : read(view.input, offset));
  }
  return words;
}
