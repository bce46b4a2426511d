import type { Step } from "../../program/types.ts";
import { inOutOrder, type OutOrder } from "./planEpilogue.ts";
import type { Machine } from "../machine.ts";
import type { PlanOptions } from "./stepPlan.ts";
import { ranges, partOf } from "./ranges.ts";
import { productLayout, sizeOf, type ProductLayout } from "./productLayout.ts";

/** A part of a batch of matrix products: values `start .. end - 1` of the digit that is cut. */
export type Piece = { start: number; end: number };

/**
 * A batch of matrix products, cut into pieces for the cache. If groups exist, the cut goes through their first digit
 * and cuts both factors. Otherwise the cut goes through the first row digit and cuts only the left factor. Sizes count
 * vectors, terms or results.
 */
export type Pieces = ProductLayout & {
  isCut: boolean;
  cutsGroups: boolean;
  rowCount: number;
  columnCount: number;
  groupCount: number;
  innerCount: number;
  /** Maximum number of the cut digit's values in a piece. */
  length: number;
  groupsPerValue: number;
  /** If rows are cut: a product's rows for each value of the cut digit. */
  rowsPerValue: number;
  resultsPerValue: number;
  /** The maximum over all pieces: a product's rows, and right vectors of all products. */
  maxRows: number;
  maxColumns: number;
  /** The loops of epilogues, see {@link inOutOrder}. */
  order: OutOrder;
};

/** Lays out a dot step's products in pieces of about `chunkElements` terms and results. */
export function planPieces(step: Step, options: PlanOptions): Pieces {
  const { chunkElements } = options;
  const layout = productLayout(step, options);
  const { groups, rows, columns, inner } = layout;
  const [groupCount, rowCount, columnCount, innerCount] = [groups, rows, columns, inner].map(sizeOf) as Four;
  const radix = (groups[0] ?? rows[0])?.radix ?? 1;
  const cutsGroups = groups.length > 0;
  const groupsPerValue = cutsGroups ? groupCount / radix : 1;
  const rowsPerValue = cutsGroups ? rowCount : rowCount / radix;
  const resultsPerValue = groupsPerValue * rowsPerValue * columnCount;
  const vectorsPerValue = groupsPerValue * (rowsPerValue + (cutsGroups ? columnCount : 0));
  const perValue = vectorsPerValue * innerCount + resultsPerValue;
  const maxLength = Math.max(1, Math.min(radix, Math.floor(chunkElements / perValue)));
  // Pieces have equal length, to avoid a much shorter last piece.
  const length = Math.ceil(radix / Math.ceil(radix / maxLength));
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

/** Returns the pieces in a thread's part. Without a cut, the only piece belongs to the first part. */
export function piecesOf({ isCut, length, groups, rows }: Pieces, machine: Machine): Piece[] {
  if (!isCut) return machine.part === 0 ? [{ start: 0, end: 1 }] : [];
  const [first, last] = partOf((groups[0] ?? rows[0])!.radix, machine);
  return [...ranges(first, last, length)].map(([start, end]) => ({ start, end }));
}
