import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { engineProduct, type Product } from "../product/floatProduct.ts";
import { planEpilogue } from "./planEpilogue.ts";
import { planFactor } from "./planFactor.ts";
import { piecesOf, planPieces, type Piece } from "./planPieces.ts";
import type { Machine, Operation } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";
import { isPackedFactor } from "./productLayout.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;
const UINT32 = 4;
/** The minimum rows and the minimum columns from which the engine computes a matrix product. */
const MIN_SIDE = 4;

/**
 * Plans a matrix product in float32. Piece by piece, the plan gathers vectors as float64, multiplies them with the
 * engine and certifies the results; then the epilogue runs.
 * @returns undefined if the step is no such product, or too small for a benefit.
 */
export function planFloatProduct(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const { minEngineWork } = resources.options;
  const pieces = planPieces(step, resources.options);
  const { groups, rows, columns, inner, rowCount, columnCount, groupCount, innerCount, cutsGroups } = pieces;
  // A packed factor is worth making once for all columns, however few.
  const isMatrix =
    rowCount >= MIN_SIDE && (columnCount >= MIN_SIDE || isPackedFactor(step, pieces.left, resources.options));
  if (minEngineWork > 0 && (!isMatrix || rowCount * columnCount * innerCount < minEngineWork)) return undefined;

  const rightVectors = groupCount * columnCount;
  const left = planFactor(resources, step, pieces.left, [...groups, ...rows, ...inner], { isWidened: true });
  const right = planFactor(resources, step, pieces.right!, [...groups, ...columns, ...inner], {
    isWidened: true,
    afterwards: {
      name: "norms",
      // Norms, then units, which are computed when they are first needed.
      bytes: 2 * rightVectors * FLOAT64,
      make({ kernels, views }, address) {
        const norms = address + rightVectors * innerCount * FLOAT64;
        kernels.norms(address, innerCount, rightVectors, norms);
        views.float64(norms + rightVectors * FLOAT64, rightVectors).fill(0);
      },
    },
  });
  const epilogue = planEpilogue(resources, step, pieces.strides, pieces.order, out);
  const { maxRows, maxColumns, length, resultsPerValue, groupsPerValue, rowsPerValue } = pieces;
  const buffers = resources.perThread(() => ({
    left: resources.scratch(length * groupsPerValue * rowsPerValue * innerCount * FLOAT64),
    right: right.region === undefined ? resources.scratch(maxColumns * (innerCount + 2) * FLOAT64) : undefined,
    values: resources.scratch(maxRows * columnCount * FLOAT64),
    rowNorms: resources.scratch(2 * maxRows * FLOAT64),
    flagged: resources.scratch(maxRows * columnCount * UINT32),
    results: resources.scratch(length * resultsPerValue * FLOAT32),
  }));
  return { shared: pieces.isCut, termNanoseconds: 0.1, prepare: both(left.prepare, right.prepare), bind };

  function bind(machine: Machine): Operation {
    const own = buffers[machine.thread]!;
    const gatherLeft = left.bind(machine);
    const gatherRight = right.bind(machine);
    const finish = epilogue.bind(machine);
    const heldVectors = own.right === undefined ? rightVectors : maxColumns;
    const rightAddress = (own.right ?? right.region!).address;
    const runs = piecesOf(pieces, machine).map((piece, n) => ({ ...piece, n, products: productsOf(piece) }));

    /** The products of a piece: one for each group in it. */
    function productsOf({ start, end }: Piece): Product[] {
      const shape = {
        rows: cutsGroups ? rowCount : (end - start) * rowsPerValue,
        columns: columnCount,
        inner: innerCount,
      };
      const leftAddress =
        left.region === undefined ? own.left.address : left.region.address + start * left.bytesPerValue;
      const firstGroup = own.right === undefined && cutsGroups ? start * groupsPerValue : 0;
      return Array.from({ length: cutsGroups ? (end - start) * groupsPerValue : 1 }, (_, group): Product => {
        const column = (firstGroup + group) * columnCount;
        const addresses = {
          left: leftAddress + group * shape.rows * innerCount * FLOAT64,
          right: rightAddress + column * innerCount * FLOAT64,
          out: own.results.address + group * shape.rows * columnCount * FLOAT32,
        };
        const columnNorms = rightAddress + (heldVectors * innerCount + column) * FLOAT64;
        return engineProduct(machine, shape, addresses, {
          values: own.values.address,
          flagged: own.flagged.address,
          rowNorms: own.rowNorms.address,
          rowUnits: own.rowNorms.address + maxRows * FLOAT64,
          columnNorms,
          columnUnits: columnNorms + heldVectors * FLOAT64,
          keepsUnits: own.right === undefined,
        });
      });
    }

    function gather({ start, end }: Piece, isFirst: boolean): void {
      if (pieces.isCut) gatherLeft(own.left.address, start, end);
      else gatherLeft(own.left.address, 0, left.firstRadix);
      // Without groups all pieces have the same right factor.
      if (own.right === undefined || (!cutsGroups && !isFirst)) return;
      const vectors = cutsGroups ? (end - start) * groupsPerValue * columnCount : columnCount;
      gatherRight(own.right.address, cutsGroups ? start : 0, cutsGroups ? end : right.firstRadix);
      machine.clock.enter("certify");
      const norms = own.right.address + maxColumns * innerCount * FLOAT64;
      machine.kernels.norms(own.right.address, innerCount, vectors, norms);
    }

    return () => {
      let pending: Promise<void> | undefined;
      for (const piece of runs) {
        const run = (): void | Promise<void> => {
          gather(piece, piece.n === 0);
          return inTurn([...piece.products, () => conclude(piece)]);
        };
        if (pending === undefined) pending = run() ?? undefined;
        else pending = pending.then(run);
      }
      return pending;
    };

    function conclude({ start, end }: Piece): void {
      if (pieces.isCut) finish([own.results.address - start * resultsPerValue * FLOAT32], start, end);
      else finish([own.results.address], 0, pieces.order.radix);
    }
  }
}

/** Runs products one after the other. Returns a promise only if a product does. */
export function inTurn(products: readonly Product[]): Promise<void> | undefined {
  let pending: Promise<void> | undefined;
  for (const product of products) {
    if (pending === undefined) pending = product() ?? undefined;
    else pending = pending.then(product);
  }
  return pending;
}

/** Both of two preparations, where there are any. */
export function both<T>(
  a: ((x: T) => void) | undefined,
  b: ((x: T) => void) | undefined,
): ((x: T) => void) | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (x) => {
    a(x);
    b(x);
  };
}
