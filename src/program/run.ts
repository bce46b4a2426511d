/*
 * A run executes one program item after item (docs/program.md, "Run"); contracts/program/Runs.sol has the same numbers.
 */

import type { ProgramInput } from "./types.ts";

/** Maximum number of items of a run. */
export const MAX_ITEMS = 2 ** 16;

/** Work of an item beside its program's, in units of work: what beginning and ending an execution takes. */
const ITEM_WORK = 20_000n;

/** Work of a run of `items` executions of a program, in units of work. */
export const runWork = (items: number, programWork: bigint): bigint => BigInt(items) * (programWork + ITEM_WORK);

/** How a job executes its program: how often, and what an input that is the index reads in the first item. */
export type RunLength = { items: number; firstItem: number };

/** A run of one item. */
export const ONE_ITEM: RunLength = { items: 1, firstItem: 0 };

/** Whether items take anything from the item before. */
export const carriesState = (inputs: readonly Pick<ProgramInput, "source">[]): boolean =>
  inputs.some(({ source }) => source?.kind === "carried");
