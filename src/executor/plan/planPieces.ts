import type { Step } from "../../program/types.ts";
import { inOutOrder, type OutOrder } from "./planEpilogue.ts";
import type { Machine } from "../machine.ts";
import type { PlanOptions } from "./stepPlan.ts";
import { ranges, partOf } from "./ranges.ts";
import { productLayout, sizeOf, type ProductLayout } from "./productLayout.ts";

/** A part of a batch of matrix products: values `start .. end - 1` of the digit that is cut. */
export type Piece = { start: number; end: number };

/**
 * A batch of matrix products cut into pieces that stay in the cache. With groups their first digit is cut, which cuts
 * both factors; without, the first digit of rows, which cuts the left one alone. Sizes are counts of vectors, terms or
 * results.
 */
export type Pieces = ProductLayout & {
  isCut: boolean;
  cutsGroups: boolean;
  rowCount: number;
  columnCount: number;
  groupCount: number;
  innerCount: number;
  /** Of the digit that is cut, how many values a piece has at most. */
  length: number;
  groupsPerValue: number;
  /** Rows of one product, for each value where rows are cut. */
  rowsPerValue: number;
  resultsPerValue: number;
  /** Of the largest piece: rows of one product, right vectors of all. */
  maxRows: number;
  maxColumns: number;
  /** What epilogues loop over, see {@link inOutOrder}. */
  order: OutOrder;
};

/** Lays out a dot step's products in pieces of about `chunkElements` terms and results. */
export function planPieces(step: Step, { chunkElements }: PlanOptions): Pieces {
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const [groupCount, rowCount, columnCount, innerCount] = [groups, rows, columns, inner].map(sizeOf) as Four;
  const radix = (groups[0] ?? rows[0])?.radix ?? 1;
  const cutsGroups = groups.length > 0;
  const groupsPerValue = cutsGroups ? groupCount / radix : 1;
  const rowsPerValue = cutsGroups ? rowCount : rowCount / radix;
  const resultsPerValue = groupsPerValue * rowsPerValue * columnCount;
  const vectorsPerValue = groupsPerValue * (rowsPerValue + (cutsGroups ? columnCount : 0));
  const perValue = vectorsPerValue * innerCount + resultsPerValue;
  const most = Math.max(1, Math.min(radix, Math.floor(chunkElements / perValue)));
  // Pieces of equal length, so that the last one is not a remnant.
  const length = Math.ceil(radix / Math.ceil(radix / most));
  return {
    ...layout,
    isCut: radix > 1,
    ...{
      cutsGroups,
      groupCount,
      rowCount,
      columnCount,
      innerCount,
      length,
      groupsPerValue,
      rowsPerValue,
      resultsPerValue,
    },
    maxRows: cutsGroups ? rowCount : length * rowsPerValue,
    maxColumns: cutsGroups ? length * groupsPerValue * columnCount : columnCount,
    order: inOutOrder(step, groups[0] ?? rows[0]),
  };
}

type Four = [number, number, number, number];

/** The pieces of a part; one that is nothing but a vector is the first part's. */
export function piecesOf({ isCut, length, groups, rows }: Pieces, machine: Machine): Piece[] {
  if (!isCut) return machine.part === 0 ? [{ start: 0, end: 1 }] : [];
  const [first, last] = partOf((groups[0] ?? rows[0])!.radix, machine);
  return [...ranges(first, last, length)].map(([start, end]) => ({ start, end }));
}
