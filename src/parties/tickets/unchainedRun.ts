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

/** An item of a run that a payer asked for alone. */
export type UnchainedItem = {
  /** Its number. */
  item: number;
  answered: Answered;
  /** Of the request, from which the answer can be computed again. */
  inputs: RunInputs;
};

type UnchainedOptions = {
  payer: Pick<Payer, "ask" | "pay">;
  program: KnownProgram;
  /** As a job of the whole run takes them. */
  inputs: RunInputs;
  /** Numbers of inputs, int64[1], for which a new number is drawn for each item: what its noise comes from. */
  seeds?: readonly number[];
  /** Whether an item's answer is to be executed here before it can be paid: then `look` must do that. */
  draw?: () => boolean;
  /** Looks at an answer before it is paid. It throws if nothing is to be paid, which ends the run. */
  look?: (item: UnchainedItem, isDrawn: boolean) => Promise<void>;
};

/**
 * A run of which each item is a request of its own, with a signed claim and a ticket of its own (docs/tickets.md,
 * "Unchained runs"). What an item takes from the one before are the outputs that the worker gave for that: the payer
 * sends them, and signs for the item only if the claim is about them. Where there is noise, the worker learns its seed
 * with the item, so that it can compute nothing before.
 * @returns the items in their order, each once it is paid
 * @throws UnchainedRunError, and as asking and paying do
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

/** What an item takes. Of the index there are no bytes: an item's request says its number. */
const ownInputs = (
  { model }: KnownProgram,
  inputs: RunInputs,
  item: number,
  state: ReadonlyMap<number, Uint8Array>,
): Uint8Array[] =>
  inputs
    .of(item, state)
    .map((bytes, k) => (model.program.inputs[k]!.source?.kind === "index" ? new Uint8Array(0) : bytes));

/** Of each input that is carried, the output that has what it is. @throws UnchainedRunError if there is none */
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
