import type { Step } from "../../program/types.ts";
import { floatCheck, ELEMENTS, elementVisits } from "../product/floatCheck.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Machine } from "../machine.ts";
import { digitStrides } from "../splitStep.ts";
import type { PlanResources } from "./planResources.ts";
import { sizeOf, termExpression } from "./productLayout.ts";
import { ranges } from "./ranges.ts";

const FLOAT64 = 8;
/** The most weights that are widened at a time: a megabyte of float64. Smaller products take longer for a term. */
const WEIGHTS = 2 ** 17;

/** Sums of some columns: `apart` bytes from a vector's sums to the next vector's sums. */
export type Sums = { first: number; last: number; values: number; apart: number };

/** A product of vectors with some columns of a matrix, for one thread. */
type WidenedProduct = {
  /**
   * Prepares the products of the vectors with a range of columns, piece by piece. The sums of a piece are overwritten
   * by the next piece.
   * @param start The first value of the first column digit; `end` is behind the last value.
   * @param conclude Called with the sums of each piece.
   */
  bind(
    machine: Machine,
    addresses: { vectors: number; norms: number; columnNorms: number },
    [start, end]: readonly [number, number],
    conclude: (sums: Sums) => void,
  ): (() => void | Promise<void>)[];
};

/**
 * Plans the product of vectors with a constant float32 matrix by the engine. Piece by piece, the matrix is widened in
 * the order in which the matrix lies in memory, and multiplied while in the cache.
 * @param slot The matrix, as a result of the step's term.
 * @param isByTerms Whether the columns of a term lie side by side; otherwise the terms of a column do.
 */
export function planWidened(
  resources: PlanResources,
  step: Step,
  {
    slot,
    columns,
    inner,
    vectors,
    isByTerms,
  }: { slot: number; columns: readonly LoopDigit[]; inner: readonly LoopDigit[]; vectors: number; isByTerms: boolean },
): WidenedProduct {
  const terms = sizeOf(inner);
  const { radix } = columns[0]!;
  const perValue = sizeOf(columns) / radix;
  const most = Math.min(WEIGHTS, resources.options.chunkElements);
  const length = Math.max(1, Math.min(radix, Math.floor(most / (terms * perValue))));
  const width = length * perValue;
  const digits = isByTerms ? [...inner, ...columns] : [...columns, ...inner];
  const [columnStrides, termStrides] = [columns, inner].map((some) => digitStrides(some.map((each) => each.radix))) as [
    number[],
    number[],
  ];
  const spec: LoopSpec = {
    ...termExpression(step),
    digits,
    ranged: isByTerms ? inner.length : 0,
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
    outs: [slot],
    outStrides: isByTerms
      ? [...termStrides.map((stride) => stride * width), ...columnStrides]
      : [...columnStrides.map((stride) => stride * terms), ...termStrides],
    widened: [0],
  };
  const { loop, sources } = resources.loopOver(step, spec);
  const bytesPerValue = perValue * (isByTerms ? 1 : terms) * FLOAT64;
  const buffers = resources.perThread(() => ({
    weights: resources.scratch(width * terms * FLOAT64),
    values: resources.scratch(vectors * width * FLOAT64),
    gathered: resources.scratch(isByTerms ? terms * FLOAT64 : 0),
  }));
  return {
    bind(machine, { vectors: left, norms: rowNorms, columnNorms: norms }, [start, end], conclude) {
      const { views, engine, clock, checks } = machine;
      const { weights, values, gathered } = buffers[machine.thread]!;
      const addresses = sources.map((region) => region?.address ?? 0);
      const widen = machine.loops[loop]!;
      return [...ranges(start, end, length)].map(([from, to]) => {
        const own = (to - from) * perValue;
        // A short piece of rows keeps its distances: the columns behind are computed from whatever stands there.
        const shape = { rows: vectors, columns: isByTerms ? width : own, inner: terms, isByTerms };
        const multiply = engine.product(
          views.float64(left, vectors * terms),
          views.float64(weights.address, shape.columns * terms),
          views.float64(values.address, vectors * shape.columns),
          shape,
        );
        const columnNorms = norms + from * perValue * FLOAT64;
        const checkElement = floatCheck(machine, shape, {
          ...{ left, right: weights.address, values: values.address, rowNorms, columnNorms },
          ...{ known: own, gathered: gathered.address },
        });
        const check = (index: number): void => checkElement(Math.floor(index / own) * shape.columns + (index % own));
        const visits = elementVisits({ ...shape, columns: own });
        const finish = (): void => {
          if (!machine.alwaysExact) {
            clock.enter("checks");
            checks.run(vectors * own, visits, ELEMENTS, check);
          }
          const first = from * perValue;
          conclude({ first, last: first + own, values: values.address, apart: shape.columns * FLOAT64 });
        };
        return () => {
          clock.enter("loops");
          widen(addresses, [weights.address - from * bytesPerValue], from, to);
          clock.enter("products");
          const pending = multiply();
          return pending === undefined ? finish() : pending.then(finish);
        };
      });
    },
  };
}
