import type { Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { directProduct, engineProduct, type Product } from "../product/floatProduct.ts";
import { planEpilogue } from "./epilogue.ts";
import { planFactor } from "./factor.ts";
import { partOf, ranges, type Machine, type Operation, type StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";
import { productLayout, sizeOf } from "./productLayout.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;
const UINT32 = 4;
/** From how many rows and columns a matrix product is worth handing over. */
const LEAST_SIDE = 4;

/** Float32 sums and dot products: gathered as float64 vectors, multiplied, certified, and handed to the epilogue, piece by piece. */
export function productPlan(planner: Planner, step: Step, out: Region): StepPlan {
  const { leastEngineWork, chunkElements, threads } = planner.options;
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const [groupCount, rowCount, columnCount, innerCount] = [groups, rows, columns, inner].map(sizeOf) as Four;
  const isMatrix = leastEngineWork === 0 || (rowCount >= LEAST_SIDE && columnCount >= LEAST_SIDE);
  const usesEngine = layout.right !== undefined && isMatrix && rowCount * columnCount * innerCount >= leastEngineWork;

  // The digit that is cut into pieces: that of groups cuts both factors, that of rows the left one alone.
  const cut: LoopDigit = groups[0] ?? rows[0] ?? { digit: -1, radix: 1 };
  const cutsGroups = groups.length > 0;
  const groupsPerValue = cutsGroups ? groupCount / cut.radix : 1;
  const rowsPerValue = cutsGroups ? rowCount : rowCount / cut.radix;
  const vectorsPerValue = groupsPerValue * (rowsPerValue + (cutsGroups ? columnCount : 0));
  const resultsPerValue = groupsPerValue * rowsPerValue * columnCount;
  const perValue = vectorsPerValue * innerCount + resultsPerValue;
  const length = Math.max(1, Math.min(Math.ceil(cut.radix / threads), Math.floor(chunkElements / perValue)));

  const left = planFactor(planner, step, layout.left, [...groups, ...rows, ...inner], { isWidened: true });
  const rightVectors = groupCount * columnCount;
  const right =
    layout.right === undefined
      ? undefined
      : planFactor(planner, step, layout.right, [...groups, ...columns, ...inner], {
          isWidened: true,
          afterwards: {
            // Norms, then units that are found when they are first asked for.
            bytes: 2 * rightVectors * FLOAT64,
            make({ kernels, views }, address) {
              const norms = address + rightVectors * innerCount * FLOAT64;
              kernels.norms(address, innerCount, rightVectors, norms);
              views.float64(norms + rightVectors * FLOAT64, rightVectors).fill(0);
            },
          },
        });
  const digits = [...groups, ...rows, ...columns];
  const epilogue = planEpilogue(planner, step, layout.strides, digits, out);

  // Each thread has buffers of its own.
  const isCut = cut.radix > 1;
  const pieceColumns = cutsGroups ? length * groupsPerValue * columnCount : columnCount;
  const productRows = cutsGroups ? rowCount : length * rowsPerValue;
  const buffers = Array.from({ length: isCut ? threads : 1 }, () => ({
    left: planner.scratch(length * groupsPerValue * rowsPerValue * innerCount * FLOAT64),
    right:
      right === undefined || right.region !== undefined
        ? undefined
        : planner.scratch(pieceColumns * (innerCount + 2) * FLOAT64),
    values: planner.scratch(usesEngine ? productRows * columnCount * FLOAT64 : 0),
    rowNorms: planner.scratch(usesEngine ? 2 * productRows * FLOAT64 : 0),
    flagged: planner.scratch(usesEngine ? productRows * columnCount * UINT32 : 0),
    results: planner.scratch(length * resultsPerValue * FLOAT32),
  }));

  return { shared: isCut, prepare: both(left.prepare, right?.prepare), bind };

  function bind(machine: Machine): Operation {
    const own = buffers[isCut ? machine.part : 0]!;
    const gatherLeft = left.bind(machine);
    const gatherRight = right?.bind(machine);
    const finish = epilogue.bind(machine);
    const products = new Map<string, Product[]>();
    const [first, end] = isCut ? partOf(cut.radix, machine) : [0, 1];
    const pieces = [...ranges(first, end, length)];

    /** The products of a piece: one for each group in it. */
    function productsOf(start: number, values: number): Product[] {
      const isPlaced = left.region !== undefined || (right?.region !== undefined && cutsGroups);
      const key = isPlaced ? `${start} ${values}` : `${values}`;
      const known = products.get(key);
      if (known !== undefined) return known;
      const pieceGroups = cutsGroups ? values * groupsPerValue : 1;
      const shape = {
        rows: cutsGroups ? rowCount : values * rowsPerValue,
        columns: columnCount,
        inner: innerCount,
      };
      const leftBase = left.region === undefined ? own.left.address : left.region.address + start * left.bytesPerValue;
      const rightBase = right?.region?.address ?? own.right?.address ?? 0;
      const firstGroup = right?.region !== undefined && cutsGroups ? start * groupsPerValue : 0;
      const heldVectors = right?.region !== undefined ? rightVectors : pieceColumns;
      const made = Array.from({ length: pieceGroups }, (_, group): Product => {
        const column = (firstGroup + group) * columnCount;
        const addresses = {
          left: leftBase + group * shape.rows * innerCount * FLOAT64,
          right: rightBase + column * innerCount * FLOAT64,
          out: own.results.address + group * shape.rows * columnCount * FLOAT32,
        };
        if (!usesEngine) {
          return directProduct(machine, shape, right === undefined ? { ...addresses, right: undefined } : addresses);
        }
        const columnNorms = rightBase + (heldVectors * innerCount + column) * FLOAT64;
        return engineProduct(machine, shape, addresses, {
          values: own.values.address,
          flagged: own.flagged.address,
          rowNorms: own.rowNorms.address,
          rowUnits: own.rowNorms.address + productRows * FLOAT64,
          columnNorms,
          columnUnits: columnNorms + heldVectors * FLOAT64,
          keepsUnits: right?.region !== undefined,
        });
      });
      products.set(key, made);
      return made;
    }

    function gather(start: number, stop: number): void {
      if (left.region === undefined) {
        if (isCut) gatherLeft(own.left.address, start, stop);
        else gatherLeft(own.left.address, 0, left.firstRadix);
      }
      if (own.right === undefined || gatherRight === undefined) return;
      if (!cutsGroups && start > first) return;
      gatherRight(own.right.address, cutsGroups ? start : 0, cutsGroups ? stop : right!.firstRadix);
      const vectors = cutsGroups ? (stop - start) * groupsPerValue * columnCount : columnCount;
      machine.clock.enter("certify");
      if (usesEngine)
        machine.kernels.norms(
          own.right.address,
          innerCount,
          vectors,
          own.right.address + pieceColumns * innerCount * FLOAT64,
        );
    }

    const resultStride = resultsPerValue * FLOAT32;
    return () => {
      let pending: Promise<void> | undefined;
      for (const [start, stop] of pieces) {
        const run = (): void | Promise<void> => {
          gather(start, stop);
          const done = inTurn(productsOf(start, stop - start));
          const end = (): void =>
            isCut
              ? finish([own.results.address - start * resultStride], start, stop)
              : finish([own.results.address], 0, digits[0]?.radix ?? 1);
          return done === undefined ? end() : done.then(end);
        };
        if (pending === undefined) pending = run() ?? undefined;
        else pending = pending.then(run);
      }
      return pending;
    };
  }
}

type Four = [number, number, number, number];

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

/** Runs products one after the other; a promise only if one of them is. */
function inTurn(products: readonly Product[]): Promise<void> | undefined {
  let pending: Promise<void> | undefined;
  for (const product of products) {
    if (pending === undefined) pending = product() ?? undefined;
    else pending = pending.then(product);
  }
  return pending;
}
