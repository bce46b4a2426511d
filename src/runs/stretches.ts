import { programWork } from "../program/work.ts";
import type { Program } from "../program/types.ts";
import { carriedTensors, keptSteps, type Carried } from "../program/trace/runItems.ts";
import { snapshotInterval } from "../dispute/run/storedRun.ts";
import type { ExecutedItem, Stretch, ExecuteStretch } from "./execute.ts";

/** An item, and the state taken from the previous item. */
export type Start = { from: number; carried: Carried };

/** A finished stretch of items from `from` to before `to`, with the state that item `to` takes. */
type Done = { from: number; to: number; roots: Uint8Array; carried: Carried; last: ExecutedItem };

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

/**
 * Has a run's items executed in stretches.
 * @param item The item before which the execution ends.
 * @param onStretch Called with each stretch, in order.
 * @returns The state that the item takes from the previous item
 */
export async function executeStretches(
  { program, inputs }: Pick<Stretch, "program" | "inputs">,
  start: Start,
  item: number,
  execute: ExecuteStretch,
  onStretch: (done: Done) => Promise<void> = () => Promise.resolve(),
): Promise<Carried> {
  const own = program.model.program;
  const interval = snapshotInterval(inputs.length.items);
  const length = stretchLength(own);
  const steps = [...keptSteps(own)].sort((a, b) => a - b);
  let { from, carried } = start;
  for (let to: number; from < item; from = to) {
    to = stretchEnd(from, item, length, interval);
    const { roots, tensors } = await execute({ program, inputs: inputs.part(from, to - from, carried), steps });
    const tensor = (step: number): Uint8Array => tensors[step]!;
    carried = carriedTensors(own, tensor);
    await onStretch({ from, to, roots, carried, last: { program: own, tensor } });
  }
  return carried;
}
