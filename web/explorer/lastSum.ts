import { decodeFunctionData, hexToBytes, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import type { StepProof } from "../../src/chain/structs.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { isElementType, dtypeBytes, dtypeName, readWord, type DType, type Word } from "../../src/numerics/dtype.ts";
import { decodeStepBody } from "../../src/program/decode.ts";
import { evaluateElement, readAll, type ReadElement } from "../../src/program/evaluate.ts";
import { runCode } from "../../src/program/expression.ts";
import { accumulatorTypes, hasTwoResults, termType } from "../../src/program/reduction.ts";
import { Reduce, type Step } from "../../src/program/types.ts";
import { splitDigits } from "../../src/program/view.ts";
import { valueText } from "../value.ts";
import { formulaOf } from "./formula.ts";

/** The one number that the chain recomputed, written out. */
export type LastSum = {
  dtype: string;
  elementBytes: number;
  /** How the terms are taken together: "sum", "dot", ... or "none" if there is one expression only. */
  reduce: string;
  /** The first terms, each with one factor or two, and how many there are. */
  terms: { factors: string[] }[];
  count: number;
  /** The other numbers that were read, a bias for example. */
  others: string[];
  /** What is done with the reduction's result, or with the numbers that were read: `sum + 0.5`, `1 / 3.75`. */
  formula?: string;
  claimed: string;
  exact: string;
  /** The same two as the contract tells them: the bits of their type. */
  words: { claimed: bigint; exact: bigint };
};

/** A transaction, as far as it says what was called. */
export type Call = { to: Address | null; input: Hex };
type ProvedElement = { element: bigint; claimed: bigint; exact: bigint };

const REDUCTIONS = Object.keys(Reduce);

/** Terms that are written out. */
export const MAX_TERMS = 256;

/** Terms of the longest sum that is computed again here: no proof that a chain accepts has more. */
const LONGEST_SUM = 65_536;

/**
 * Reads the last sum of a dispute out of the call that proved it. Whoever sends a transaction chooses its bytes: they
 * are believed only where they were sent to the game, and give the values that it told.
 * @param proved What the game told.
 * @returns undefined if it is no such call: a contract may have made it
 */
export function lastSumOf(call: Call, game: Address, proved: ProvedElement): LastSum | undefined {
  if (call.to?.toLowerCase() !== game.toLowerCase()) return undefined;
  try {
    const { functionName, args } = decodeFunctionData({ abi: disputeGameAbi, data: call.input });
    if (functionName !== "prove" || args[2].element !== proved.element) return undefined;
    const sum = writtenOut(args[2]);
    const isKnown = sum?.words.claimed === proved.claimed && sum.words.exact === proved.exact;
    return isKnown ? sum : undefined;
  } catch {
    // The bytes come from the chain: what they hold need not be a proof.
    return undefined;
  }
}

/** The same from the proof itself. @throws the errors of decoding, if it is none */
export function writtenOut(proof: StepProof): LastSum | undefined {
  const { dtype, count } = proof.pick.step;
  if (!isElementType(dtype)) return undefined;
  const step = decodeStepBody(hexToBytes(proof.body), { dtype, count: Number(count) });
  if (step.redDigits.reduce((product, radix) => product * radix, 1) > LONGEST_SUM) return undefined;
  const read = readOpened(step, proof);
  const element = Number(proof.element);
  const bytes = hexToBytes(proof.chunk);
  const claimed = readWord(bytes, element % (CHUNK_BYTES / dtypeBytes(dtype)), dtype);
  const outDigits = splitDigits(element, step.outDigits);
  const exact = evaluateElement(step, element, read);
  const bits = (word: Word): bigint => BigInt.asUintN(8 * dtypeBytes(dtype), word);
  const others = readAll(step.epilogueReads, outDigits, read).map((word, k) =>
    valueText(word, step.inputs[step.epilogueReads[k]!.input]!.dtype),
  );
  const formula = epilogueOf(step, outDigits, others);
  return {
    dtype: dtypeName(dtype),
    elementBytes: dtypeBytes(dtype),
    reduce: REDUCTIONS[step.reduce]!,
    ...termsOf(step, outDigits, read),
    others,
    ...(formula !== undefined && { formula }),
    claimed: valueText(claimed, dtype),
    exact: valueText(exact, dtype),
    words: { claimed: bits(claimed), exact: bits(exact) },
  };
}

/** How the reduction's result is called in a formula. */
export const resultName = (reduce: string): string => (/sum|dot|total/i.test(reduce) ? "sum" : reduce);

function epilogueOf(step: Step, outDigits: readonly number[], others: readonly string[]): string | undefined {
  const { reduce, constants, epilogue } = step;
  const name = resultName(REDUCTIONS[reduce]!);
  const named = accumulatorTypes(step).map((_, k) => (k === 0 ? name : `${name} ${k}`));
  const written = constants.map(({ value, dtype }) => (isElementType(dtype) ? valueText(value, dtype) : String(value)));
  return formulaOf(epilogue.code, [...others, ...named, ...written], epilogue.out, outDigits);
}

function termsOf(step: Step, outDigits: readonly number[], read: ReadElement): Pick<LastSum, "terms" | "count"> {
  if (step.reduceType === undefined) return { terms: [], count: 0 };
  const type = termType(step);
  const count = step.redDigits.reduce((product, radix) => product * radix, 1);
  const constants = step.constants.map(({ value }) => value);
  const isPair = hasTwoResults(step.reduce);
  const terms = Array.from({ length: Math.min(count, MAX_TERMS) }, (_, r) => {
    const digits = [...outDigits, ...splitDigits(r, step.redDigits)];
    const slots = [...readAll(step.termReads, digits, read), ...constants];
    runCode(step.term.code, slots, digits);
    const words = isPair ? [slots[step.term.outA]!, slots[step.term.outB]!] : [slots[step.term.outA]!];
    return { factors: words.map((word) => valueText(word, type)) };
  });
  return { terms, count };
}

/** Reads from the chunks that the proof opened. */
function readOpened(step: Step, { openings }: StepProof): ReadElement {
  const chunks = openings.map(({ indices, chunks }) => {
    const bytes = hexToBytes(chunks);
    return new Map(indices.map((index, k) => [Number(index), bytes.subarray(k * CHUNK_BYTES, (k + 1) * CHUNK_BYTES)]));
  });
  return (input, offset): Word => {
    const dtype: DType = step.inputs[input]!.dtype;
    const each = CHUNK_BYTES / dtypeBytes(dtype);
    return readWord(chunks[input]!.get(Math.floor(offset / each))!, offset % each, dtype);
  };
}
