/*
 * A run executes one program item after item (docs/program.md, "Run"); contracts/program/Runs.sol has the same numbers.
 */

import type { ProgramInput } from "./types.ts";

/** Maximum number of items of a run. */
export const MAX_ITEMS = 2 ** 16;

/** Additional work per item besides the program's, in units of work: beginning and ending an execution. */
const ITEM_WORK = 20_000n;

/** Returns the work for a run with `items` program executions, in units of work. */
export const runWork = (items: number, programWork: bigint): bigint => BigInt(items) * (programWork + ITEM_WORK);

/** The way a job executes its program: how often, and the value that an index input has in the first item. */
export type RunLength = { items: number; firstItem: number };

/** A run of one item. */
export const ONE_ITEM: RunLength = { items: 1, firstItem: 0 };

/** Whether items take anything from the item before. */
export const carriesState = (inputs: readonly Pick<ProgramInput, "source">[]): boolean =>
  inputs.some(({ source }) => source?.kind === "carried");
