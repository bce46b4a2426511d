import { promptGuess } from "../compiler/wraps/decoderInputs.ts";
import type { BlockResult } from "../executor/blocks/runBlock.ts";
import type { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { bytesOf, type RunInputs } from "../program/trace/runInputs.ts";
import type { Carried } from "../program/trace/runItems.ts";
import type { Execute } from "./execute.ts";
import type { Start } from "./stretches.ts";

/** What somebody expects items of a run to carry. A wrong guess costs time and changes nothing. */
export type Guess = {
  /** The checkpoints that are guessed. */
  checkpoints: readonly number[];
  /** What an item takes from the item before, by input; undefined where nothing is expected. */
  of: (item: number) => Carried | undefined;
};

/** With fewer items, a block takes as long as they take one by one. */
const MIN_ITEMS = 8;
/** No executor takes longer blocks. */
const MAX_ITEMS = 64;

/** What is known of a run before it is executed: a decoder's tokens, while they are those of the prompt. */
export const guessOf = (model: CompiledModel, inputs: RunInputs): Guess | undefined => promptGuess(model, inputs);

/**
 * Executes items of a run together, as far as guesses reach. Each item that counts has the bits that it has by itself.
 * @param run With `trees`, the items are hashed over those executed before.
 * @param to The item before which the block ends at the latest.
 * @returns undefined if the guesses do not reach far enough for a block
 */
export async function executeBlock(
  { model, inputs, trees }: { model: CompiledModel; inputs: RunInputs; trees?: SuccessiveTrees },
  { from, carried }: Start,
  to: number,
  { block }: Execute,
  guess: Guess,
): Promise<BlockResult | undefined> {
  const guesses: Carried[] = [];
  for (let item = from + 1; item < Math.min(to, from + MAX_ITEMS); item++) {
    const expected = guess.of(item);
    if (expected === undefined || !fits(model, guess, expected)) break;
    guesses.push(expected);
  }
  if (guesses.length < MIN_ITEMS - 1) return undefined;
  // What is carried may lie in the trees' memory, where the block puts its items.
  const own = new Map([...carried].map(([input, bytes]) => [input, Uint8Array.from(bytes)]));
  const items = [own, ...guesses].map((taken, k) => inputs.of(from + k, taken));
  return block?.({ model, items, guessed: guess.checkpoints, trees });
}

/** Whether a guess has a tensor of the right length for each input that is carried from a guessed checkpoint. */
const fits = ({ program }: CompiledModel, { checkpoints }: Guess, expected: Carried): boolean =>
  program.inputs.every(
    (input, k) =>
      input.source?.kind !== "carried" ||
      !checkpoints.includes(input.source.checkpoint) ||
      expected.get(k)?.length === bytesOf(input),
  );
