import { tokensGuess } from "../compiler/wraps/decoderInputs.ts";
import type { BlockInputs, BlockResult } from "../executor/blocks/runBlock.ts";
import type { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { carriesState } from "../program/run.ts";
import { bytesOf, type RunInputs } from "../program/trace/runInputs.ts";
import type { Carried, Guess } from "../program/trace/runItems.ts";
import type { RunExecution } from "../dispute/run/runExecution.ts";
import { snapshotInterval } from "../dispute/run/storedRun.ts";
import { around, MIN_ITEMS, type AskOutput, type Execute } from "./execute.ts";
import { lookUp, Purse } from "./lookup.ts";
import type { Start } from "./stretches.ts";

/** No executor takes longer blocks. */
const MAX_ITEMS = 64;
/** The longest first block by told tokens, and its largest part of a run: wrong tokens lose the block. */
const [FIRST_TOLD, FIRST_PART] = [32, 1 / 2];
/** Looked-up blocks grow by this factor while guesses are right, up to so many items. */
const [GROWTH, MAX_LOOKED_UP] = [4, 32];
/** The longest block without guesses, on a device that passes on what items carry. */
const MAX_CHAIN = 16;
const NO_GUESS: Guess = { checkpoints: [], of: () => new Map() };
/** After wrong guesses in a row, guessing rests for 1, 2, 4, .. up to so many items. */
const LONGEST_REST = 32;

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

/** Guesses a decoder's whole text, from somebody's outputs for the run. @returns undefined for other programs */
export function answerGuess(
  model: CompiledModel,
  inputs: RunInputs,
  outputs: readonly Uint8Array[],
): Guess | undefined {
  const checkpoint = tokensGuess(model, inputs)?.checkpoints[0];
  const { program } = model;
  const bytes = checkpoint === undefined ? undefined : outputs[program.outputs.indexOf(checkpoint)];
  // Where each item has the output, the last item's tensor comes last.
  return (
    bytes && tokensGuess(model, inputs, bytes.slice(-bytesOf(program.steps[program.checkpoints[checkpoint!]!.step]!)))
  );
}

/**
 * Guesses a run's carried tokens after an execution: from the run's last item, or from a kept state.
 * @param item The last item to guess for.
 */
export async function ownGuess(run: RunExecution, item: number): Promise<Guess | undefined> {
  const { inputs, program } = run;
  const { model } = program;
  const checkpoint = tokensGuess(model, inputs)?.checkpoints[0];
  if (checkpoint === undefined) return undefined;
  const { step } = model.program.checkpoints[checkpoint]!;
  const last = run.items - 1;
  const trace = run.missing([last]).length === 0 ? run.item(last).trace : undefined;
  if (trace?.missing([step]).length === 0) return tokensGuess(model, inputs, trace.tensor(step));
  const state = await run.stored.nearest(last, item - 1);
  const input = model.program.inputs.findIndex(
    ({ source }) => source?.kind === "carried" && source.checkpoint === checkpoint,
  );
  const text = state?.carried.get(input);
  return text && tokensGuess(model, inputs, text);
}

/** The same way to execute, with a guess for the items in one run. */
export const withGuess = (execute: Execute, guess: Guess | undefined): Execute =>
  Object.assign(same(execute), { guess });

/** The same way to execute, with a text's next tokens looked up in the text, while lookup pays. */
export const withLookup = (execute: Execute): Execute =>
  Object.assign(same(execute), { lookup: "where it pays" as const });

const same = (execute: Execute): Execute => around(execute, (action, order) => action(order));

/** Executes a run's items together, up to the last guess. Each item that counts has the bits it has by itself. */
export class Blocks {
  readonly #run: BlockedRun;
  readonly #block: Execute["block"];
  #guess: Guess | undefined;
  /** The looked-up tokens' checkpoint; undefined without lookup. */
  #lookedUp: Guess["checkpoints"] | undefined;
  /** The longest block by known tokens. */
  #most = MAX_ITEMS;
  #isThrifty = true;
  #chains = false;
  readonly #purse: Purse;
  #length = 2 * MIN_ITEMS;
  /** The items until tokens are looked up again, and after the next wrong guess. */
  #rest = 0;
  #nextRest = 1;
  /** When the latest single item began. */
  #began: number | undefined;

  /** @param guess By default, the guess that the run's inputs give: a decoder's tokens, up to the prompt's last. */
  constructor(run: BlockedRun, execute: Pick<Execute, "block" | "chains" | "guess" | "lookup">, guess?: Guess) {
    [this.#run, this.#block] = [run, execute.block];
    this.#purse = new Purse(run.inputs.length.items);
    if (execute.block === undefined) return;
    this.#chains = execute.chains === true && carriesState(run.model.program.inputs);
    const told = guess ?? execute.guess;
    this.#guess = told ?? tokensGuess(run.model, run.inputs);
    const part = Math.ceil(FIRST_PART * run.inputs.length.items);
    if (told !== undefined) this.#most = Math.min(FIRST_TOLD, Math.max(2 * MIN_ITEMS, part));
    if (execute.lookup !== undefined) this.#lookedUp = this.#guess?.checkpoints;
    this.#isThrifty = execute.lookup === "where it pays";
  }

  /**
   * Executes the next items together. After a wrong guess, no further guess is believed; lookup ends where the
   * looked-up tokens do not pay.
   * @param to The item before which the block ends at the latest.
   * @returns undefined if the next item is to be executed by itself
   */
  async next(start: Start, to: number): Promise<BlockResult | undefined> {
    const block = this.#block;
    if (block === undefined) return undefined;
    const now = performance.now();
    if (this.#began !== undefined) this.#purse.single(now - this.#began);
    this.#began = now;
    const { model, trees } = this.#run;
    const chained = this.#chains ? this.#itemsFrom(start, to, NO_GUESS, MAX_CHAIN) : undefined;
    if (chained !== undefined) {
      const result = await block({ model, items: chained, guessed: [], isChain: true, trees });
      this.#chains = result.items.length > 0;
      if (this.#chains) return this.#took(result);
    }
    const known = this.#guess && this.#itemsFrom(start, to, this.#guess, this.#most);
    if (known !== undefined) {
      const result = await block({ model, items: known, guessed: this.#guess!.checkpoints, trees });
      if (result.isWrong || result.items.length === 0) this.#guess = undefined;
      else this.#most = MAX_ITEMS;
      return this.#took(result);
    }
    if (this.#rest > 0) {
      this.#rest--;
      return undefined;
    }
    const length = this.#affordable();
    const guess = length === undefined ? undefined : this.#lookUp(start, length);
    const items = guess && this.#itemsFrom(start, to, guess, length!);
    if (items === undefined) return undefined;
    const result = await block({ model, items, guessed: guess!.checkpoints, trees, isUnsure: true });
    // Without any item, the executor has no blocks, or kept no states.
    if (result.items.length === 0) this.#lookedUp = undefined;
    this.#learn(result, items.length);
    this.#purse.block(performance.now() - now, items.length, result.items.length);
    return this.#took(result);
  }

  /** Blocks grow while guesses are right, and shrink to the right items. If most items were wrong, guessing rests. */
  #learn({ isWrong, items }: BlockResult, asked: number): void {
    this.#length = isWrong ? Math.max(MIN_ITEMS, items.length) : Math.min(MAX_LOOKED_UP, GROWTH * this.#length);
    if (2 * items.length >= asked) {
      this.#nextRest = 1;
      return;
    }
    this.#rest = this.#nextRest;
    this.#nextRest = Math.min(LONGEST_REST, 2 * this.#nextRest);
  }

  #took(result: BlockResult): BlockResult | undefined {
    if (result.items.length === 0) {
      this.#began = performance.now();
      return undefined;
    }
    this.#began = undefined;
    return result;
  }

  /** The length for a block with looked-up tokens, which may be lost; undefined for none. */
  #affordable(): number | undefined {
    if (this.#lookedUp === undefined) return undefined;
    let length = this.#length;
    while (this.#isThrifty && !this.#purse.allows(length)) {
      length = Math.floor(length / 2);
      if (length < MIN_ITEMS) return undefined;
    }
    return length;
  }

  /** Guesses the next tokens, where the text has the latest tokens at an earlier place. */
  #lookUp({ from, carried }: Start, length: number): Guess | undefined {
    const { model, inputs } = this.#run;
    const { program } = model;
    const input = program.inputs.findIndex(
      ({ source }) => source?.kind === "carried" && this.#lookedUp!.includes(source.checkpoint),
    );
    const text = carried.get(input) ?? inputs.bytes[input]!;
    const expected = lookUp(text, inputs.length.firstItem + from, length);
    return expected && tokensGuess(model, inputs, expected);
  }

  /** The known inputs for the next items. @returns undefined for too few */
  #itemsFrom({ from, carried }: Start, to: number, guess: Guess, most: number): BlockInputs | undefined {
    const { inputs } = this.#run;
    const guesses: Carried[] = [];
    for (let item = from + 1; item < Math.min(to, from + most); item++) {
      const expected = guess.of(item);
      if (expected === undefined || !this.#fits(expected, guess)) break;
      guesses.push(expected);
    }
    // States are kept before some items: a block that begins elsewhere ends at such an item, soon.
    const interval = snapshotInterval(inputs.length.items);
    const kept = Math.ceil((from + MIN_ITEMS) / interval) * interval;
    if (from % interval !== 0) guesses.splice(kept - from - 1);
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
