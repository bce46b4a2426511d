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
 * A part's inputs. In a chain, a later part's inputs are known once the part before is done, or was executed here and
 * found right: all right claims have the same states.
 * @returns undefined until then
 */
export function inputsOf(
  { parts, joins, isChained }: Batch,
  store: DispatchStore,
  { number, inputs }: BatchPart,
): readonly Uint8Array[] | undefined {
  if (!isChained || number === 0) return inputs;
  const before = parts[number - 1]!;
  const claim = store.rightClaim(before.number);
  if (claim === undefined) return undefined;
  const all = [...inputs];
  for (const { input, output } of joins) {
    const state = store.output(before.number, claim, before.items - 1, output);
    if (state === undefined) return undefined;
    all[input] = state;
  }
  return all;
}
