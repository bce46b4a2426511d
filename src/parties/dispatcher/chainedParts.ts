import type { Hex } from "viem";
import type { Batch, BatchPart } from "./batch.ts";
import { DispatchJoinError } from "./errors.ts";
import type { DispatchStore } from "./store.ts";

/**
 * Checks that a part's final states equal the next part's initial states.
 * @param claim The claim over the part's outputs.
 * @throws DispatchJoinError
 */
export function requireJoin(
  { parts, joins, description }: Batch,
  store: DispatchStore,
  part: BatchPart,
  claim: Hex,
): void {
  const next = parts[part.number + 1];
  for (const { input, output } of next === undefined ? [] : joins) {
    const ends = store.output(part.number, claim, part.items - 1, output)!;
    if (Buffer.from(ends).equals(next!.inputs[input]!)) continue;
    const { name } = description.inputs[input]!;
    throw new DispatchJoinError(
      `part ${part.number} ends with another state than part ${next!.number} begins with (input "${name}"): the ` +
        "states that were given are not those of one run",
    );
  }
}
