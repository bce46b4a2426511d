import { tokensGuess } from "../compiler/wraps/decoderInputs.ts";
import { programWork } from "../program/work.ts";
import type { Program } from "../program/types.ts";
import { carriedTensors, keptSteps, type Carried, type Guess } from "../program/trace/runItems.ts";
import { snapshotInterval } from "../dispute/run/storedRun.ts";
import { Ahead, type States } from "./ahead.ts";
import { MIN_ITEMS, type ExecutedItem, type Stretch, type ExecuteStretch, type StretchResult } from "./execute.ts";

/** An item, and the state taken from the previous item. */
export type Start = { from: number; carried: Carried };

/** A finished stretch of items from `from` to before `to`, with the state that item `to` takes. */
export type Done = { from: number; to: number; roots: Uint8Array; carried: Carried; last: ExecutedItem };

/** Maximum work in a stretch with several items: some seconds, and half a minute in the worst case. */
const STRETCH_WORK = 3_000_000_000n;
export const MAX_STRETCH = 256;

/** How many items of a program are executed in a stretch. */
const stretchLength = (program: Program): number =>
  Math.max(1, Math.min(MAX_STRETCH, Number(STRETCH_WORK / (programWork(program) || 1n))));

/**
 * Returns where a stretch ends, given its first item. A long enough stretch ends at a kept state, to let a dispute
 * execute the same stretches again.
 * @param to The latest end.
 * @param length Of a stretch, in items.
 * @param interval Items from one kept state to the next.
 */
export function stretchEnd(from: number, to: number, length: number, interval: number): number {
  const whole = length - (length % interval);
  if (whole > 0) return Math.min(to, from - (from % whole) + whole);
  return Math.min(to, from + length, from - (from % interval) + interval);
}

/** What somebody says about a run. */
export type Told = {
  /** The items' expected tokens, if more than a prompt are known. */
  guess?: Guess | undefined;
  /** Gives states for stretches to begin before earlier stretches have ended. */
  states?: States | undefined;
};

/** The length for stretches executed in a block: with a known text, these stretches end in some seconds too. */
const BLOCK = 16;

/** Counts the next items with a guess, up to a block; 0 for too few. */
function knownItems(guess: Guess | undefined, from: number, to: number): number {
  let known = 1;
  while (guess !== undefined && known < Math.min(BLOCK, to - from) && guess.of(from + known) !== undefined) known++;
  return known < MIN_ITEMS ? 0 : known;
}

/**
 * Has a run's items executed in stretches.
 * @param item The item before which the execution ends.
 * @param onStretch Called with each stretch, in order.
 * @param told What somebody says: wrong guesses cost time and change nothing.
 * @returns The state that the item takes from the previous item
 */
export async function executeStretches(
  { program, inputs }: Pick<Stretch, "program" | "inputs">,
  start: Start,
  item: number,
  execute: ExecuteStretch,
  onStretch: (done: Done) => Promise<void> = () => Promise.resolve(),
  told: Told = {},
): Promise<Carried> {
  const own = program.model.program;
  let { guess } = told;
  const interval = snapshotInterval(inputs.length.items);
  const length = stretchLength(own);
  const steps = [...keptSteps(own)].sort((a, b) => a - b);
  let { from, carried } = start;
  const endOf = (first: number): number => {
    const known = knownItems(guess ?? tokensGuess(program.model, inputs), first, item);
    return stretchEnd(first, item, Math.max(length, known), interval);
  };
  const executePart = (first: number, to: number, taken: Carried): Promise<StretchResult> => {
    const [text] = guess?.of(to - 1)?.values() ?? [];
    return execute({ program, inputs: inputs.part(first, to - first, taken), steps, ...(text && { text }) });
  };
  const ahead = told.states && new Ahead(own, told.states, executePart);
  void ahead?.begin(endOf(from), item, endOf);
  try {
    for (let to: number; from < item; from = to) {
      to = endOf(from);
      const { roots, tensors } = (await ahead?.take(from, to, carried)) ?? (await executePart(from, to, carried));
      const tensor = (step: number): Uint8Array => tensors[step]!;
      carried = carriedTensors(own, tensor);
      for (const [input, bytes] of guess?.of(to) ?? [])
        if (Buffer.compare(carried.get(input)!, bytes) !== 0) guess = undefined;
      await onStretch({ from, to, roots, carried, last: { program: own, tensor } });
    }
  } finally {
    ahead?.end();
  }
  return carried;
}
