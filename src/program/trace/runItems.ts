import type { Program } from "../types.ts";
import type { RunInputs } from "./runInputs.ts";

/** Tensors that an item takes from the item before, by input. */
export type Carried = ReadonlyMap<number, Uint8Array>;

/** What somebody expects items of a run to carry. A wrong guess costs time and changes nothing. */
export type Guess = {
  /** The checkpoints that are guessed. */
  checkpoints: readonly number[];
  /** What an item takes from the item before, by input; undefined where nothing is expected. */
  of: (item: number) => Carried | undefined;
};

/** Executes one item. @returns the tensors of steps by their numbers: at least those of `keptSteps` */
type ExecuteItem = (inputs: readonly Uint8Array[], item: number) => Promise<readonly Uint8Array[]>;

/** Returns the steps whose tensors a run needs for each item: outputs, and carried tensors. */
export function keptSteps({ inputs, outputs, checkpoints }: Program): Set<number> {
  const carried = inputs.flatMap(({ source }) => (source?.kind === "carried" ? [source.checkpoint] : []));
  return new Set([...outputs, ...carried].map((checkpoint) => checkpoints[checkpoint]!.step));
}

/** Returns the tensors that the next item takes from an item with the given step tensors, by input. */
export function carriedTensors(
  { inputs, checkpoints }: Program,
  tensorOf: (step: number) => Uint8Array,
): Map<number, Uint8Array> {
  const carried = new Map<number, Uint8Array>();
  inputs.forEach(({ source }, k) => {
    if (source?.kind === "carried") carried.set(k, tensorOf(checkpoints[source.checkpoint]!.step));
  });
  return carried;
}

/**
 * Executes a run's items one after the other, without the trees needed for a claim.
 * @returns after each item its step tensors, by the steps' numbers
 */
export async function* runItems(
  program: Program,
  inputs: RunInputs,
  execute: ExecuteItem,
): AsyncGenerator<readonly Uint8Array[]> {
  let carried: Carried | undefined;
  for (let item = 0; item < inputs.length.items; item++) {
    const tensors = await execute(inputs.of(item, carried), item);
    carried = carriedTensors(program, (step) => tensors[step]!);
    yield tensors;
  }
}
