import type { Hex } from "viem";
import type { Batch, BatchPart } from "./batch.ts";
import { DispatchJoinError } from "./errors.ts";
import type { DispatchStore } from "./store.ts";

/**
 * Checks that a part's final states equal the next part's initial states. In a chain, the states are equal by
 * construction.
 * @param claim The claim over the part's outputs.
 * @throws DispatchJoinError
 */
export function requireJoin(
  { parts, joins, isChained, description }: Batch,
  store: DispatchStore,
  part: BatchPart,
  claim: Hex,
): void {
  const next = parts[part.number + 1];
  for (const { input, output } of next === undefined || isChained ? [] : joins) {
    const ends = store.output(part.number, claim, part.items - 1, output)!;
    if (Buffer.from(ends).equals(next!.inputs[input]!)) continue;
    const { name } = description.inputs[input]!;
    throw new DispatchJoinError(
      `part ${part.number} ends with another state than part ${next!.number} begins with (input "${name}"): the ` +
        "states that were given are not those of one run",
    );
  }
}

/**
 * Whether a part's inputs are known. In a chain, a later part's inputs are known once the part before is done, or was
 * executed here and found right: all right claims have the same states.
 */
export function hasInputs({ parts, joins, isChained }: Batch, store: DispatchStore, { number }: BatchPart): boolean {
  if (!isChained || number === 0) return true;
  const before = parts[number - 1]!;
  const claim = store.rightClaim(before.number);
  const last = before.items - 1;
  return claim !== undefined && joins.every(({ output }) => store.hasOutput(before.number, claim, last, output));
}

/** A part's inputs, which must be known: see {@link hasInputs}. Reads the whole states of a chain. */
export function inputsOf(
  { parts, joins, isChained }: Batch,
  store: DispatchStore,
  { number, inputs }: BatchPart,
): readonly Uint8Array[] {
  if (!isChained || number === 0) return inputs;
  const before = parts[number - 1]!;
  const claim = store.rightClaim(before.number)!;
  const all = [...inputs];
  for (const { input, output } of joins) all[input] = store.output(before.number, claim, before.items - 1, output)!;
  return all;
}
