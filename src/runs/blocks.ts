import { tokensGuess } from "../compiler/wraps/decoderInputs.ts";
import type { BlockInputs, BlockResult } from "../executor/blocks/runBlock.ts";
import type { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { bytesOf, type RunInputs } from "../program/trace/runInputs.ts";
import type { Carried, Guess } from "../program/trace/runItems.ts";
import type { Execute } from "./execute.ts";
import type { Start } from "./stretches.ts";

/** With fewer items, a block takes as long as they take one by one. */
const MIN_ITEMS = 8;
/** No executor takes longer blocks. */
const MAX_ITEMS = 32;

/** Asks for an output of an item of a run: somebody's answer, perhaps a wrong one. */
export type AskOutput = (item: number, output: number) => Promise<Uint8Array | undefined>;

/**
 * A guess of a decoder's whole text, from somebody who says that he has executed the run: only the last output is asked
 * for.
 * @returns undefined for other programs, for texts too short for a block, and without an answer
 */
export async function textGuess(model: CompiledModel, inputs: RunInputs, ask: AskOutput): Promise<Guess | undefined> {
  const { items } = inputs.length;
  const guess = tokensGuess(model, inputs);
  const output = model.program.outputs.indexOf(guess?.checkpoints[0] ?? -1);
  // The last item is executed by itself.
  if (output < 0 || items <= MIN_ITEMS || guess?.of(items - 2) !== undefined) return undefined;
  const text = await ask(items - 1, output);
  return text && tokensGuess(model, inputs, text);
}

/** Executes items of a run together, as far as guesses reach. Each item that counts has the bits it has by itself. */
export class Blocks {
  readonly #run: BlockedRun;
  readonly #block: Execute["block"];
  #guess: Guess | undefined;

  /** @param guess By default, the guess that the run's inputs give: a decoder's tokens, up to the prompt's last. */
  constructor(run: BlockedRun, { block }: Pick<Execute, "block">, guess?: Guess) {
    [this.#run, this.#block] = [run, block];
    if (block !== undefined) this.#guess = guess ?? tokensGuess(run.model, run.inputs);
  }

  /**
   * Executes the next items together. After a wrong guess, no further guess is believed.
   * @param to The item before which the block ends at the latest.
   * @returns undefined if the next item is to be executed by itself
   */
  async next(start: Start, to: number): Promise<BlockResult | undefined> {
    const [block, guess] = [this.#block, this.#guess];
    const items = guess && this.#itemsFrom(start, to, guess);
    if (items === undefined || block === undefined) return undefined;
    const { model, trees } = this.#run;
    const result = await block({ model, items, guessed: guess!.checkpoints, trees });
    if (result.isWrong || result.items.length === 0) this.#guess = undefined;
    return result.items.length === 0 ? undefined : result;
  }

  /** The inputs of the next items, as far as they are known. @returns undefined for too few */
  #itemsFrom({ from, carried }: Start, to: number, guess: Guess): BlockInputs | undefined {
    const { inputs } = this.#run;
    const guesses: Carried[] = [];
    for (let item = from + 1; item < Math.min(to, from + MAX_ITEMS); item++) {
      const expected = guess.of(item);
      if (expected === undefined || !this.#fits(expected, guess)) break;
      guesses.push(expected);
    }
    if (guesses.length < MIN_ITEMS - 1) return undefined;
    // What is carried may lie in the trees' memory, where the block puts its items.
    const own = new Map([...carried].map(([input, bytes]) => [input, Uint8Array.from(bytes)]));
    return [own, ...guesses].map((taken, k) => inputs.of(from + k, taken));
  }

  /** Whether a guess has a tensor of the right length for each input that is carried from a guessed checkpoint. */
  #fits(expected: Carried, { checkpoints }: Guess): boolean {
    return this.#run.model.program.inputs.every(
      (input, k) =>
        input.source?.kind !== "carried" ||
        !checkpoints.includes(input.source.checkpoint) ||
        expected.get(k)?.length === bytesOf(input),
    );
  }
}

/** With `trees`, the items of blocks are hashed over the items executed before. */
type BlockedRun = { model: CompiledModel; inputs: RunInputs; trees?: SuccessiveTrees };
