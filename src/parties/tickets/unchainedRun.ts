import { randomBytes } from "node:crypto";
import { errorWithCode } from "../../base/errors.ts";
import { DType } from "../../numerics/dtype.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { RunLength } from "../../program/run.ts";
import type { Program } from "../../program/types.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { Answered, Payer } from "./payer.ts";

/** A program whose run cannot be broken into requests. */
export class UnchainedRunError extends errorWithCode("UNCHAINED_RUN") {}

/** An item of a run, requested separately by the payer. */
export type UnchainedItem = {
  /** Its number. */
  item: number;
  answered: Answered;
  /** The inputs of the request: the answer can be computed again from them. */
  inputs: RunInputs;
};

type UnchainedOptions = {
  payer: Pick<Payer, "ask" | "pay">;
  program: KnownProgram;
  /** The inputs of the whole run, in a job's format. */
  inputs: RunInputs;
  /** Numbers of inputs, int64[1], with a new random number for each item: the seed of the item's noise. */
  seeds?: readonly number[];
  /** True if the payer must execute an item's answer locally before paying: `look` must then run the execution. */
  draw?: () => boolean;
  /** Looks at an answer before payment. Throwing prevents payment and ends the run. */
  look?: (item: UnchainedItem, isDrawn: boolean) => Promise<void>;
};

/**
 * A run with a separate request, signed claim and ticket for each item (docs/tickets.md, "Unchained runs"). An item
 * takes the worker's outputs for the previous item: the payer sends the outputs, and pays for the item only if the
 * claim covers them. With noise, the worker learns the seed together with the item and can compute nothing before.
 * @returns the items in order, each after payment
 * @throws UnchainedRunError, and the errors of asking and paying
 */
export async function* unchainedRun(options: UnchainedOptions): AsyncGenerator<UnchainedItem, void, undefined> {
  const { payer, program, inputs, seeds = [], draw, look } = options;
  const { items, firstItem } = inputs.length;
  const carried = carriedOutputs(program.model.program);
  requireSeeds(program, seeds);
  let state: ReadonlyMap<number, Uint8Array> = new Map();
  for (let k = 0; k < items; k++) {
    const length: RunLength = { items: 1, firstItem: firstItem + k };
    const bytes = ownInputs(program, inputs, k, state);
    for (const seed of seeds) bytes[seed] = randomBytes(SEED_BYTES);
    const own = new RunInputs(program.model.program.inputs, length, bytes);
    const isDrawn = draw?.() ?? false;
    const answered = await payer.ask(program, own, isDrawn);
    const item = { item: firstItem + k, answered, inputs: own };
    await look?.(item, isDrawn);
    await payer.pay(answered.digest);
    state = new Map([...carried].map(([input, output]) => [input, answered.outputs[output]!]));
    yield item;
  }
}

/** An int64. */
const SEED_BYTES = 8;

/** Returns an item's inputs. An index input has no bytes: the request states the item's number. */
const ownInputs = (
  { model }: KnownProgram,
  inputs: RunInputs,
  item: number,
  state: ReadonlyMap<number, Uint8Array>,
): Uint8Array[] =>
  inputs
    .of(item, state)
    .map((bytes, k) => (model.program.inputs[k]!.source?.kind === "index" ? new Uint8Array(0) : bytes));

/**
 * Returns for each carried input the output with the carried value. @throws UnchainedRunError if no such output exists
 */
function carriedOutputs({ inputs, outputs }: Program): Map<number, number> {
  const found = new Map<number, number>();
  for (const [k, { source }] of inputs.entries()) {
    if (source?.kind !== "carried") continue;
    const output = outputs.indexOf(source.checkpoint);
    if (output < 0)
      throw new UnchainedRunError(
        `input ${k} takes a value of the item before that is no output, so that nobody but the worker has it: make ` +
          "it an output of the last item (--last-output)",
      );
    found.set(k, output);
  }
  return found;
}

function requireSeeds({ model }: KnownProgram, seeds: readonly number[]): void {
  for (const seed of seeds) {
    const input = model.program.inputs[seed];
    if (input?.dtype !== DType.int64 || input.count !== 1)
      throw new UnchainedRunError(`input ${seed} takes no seed: a seed is one int64`);
  }
}
