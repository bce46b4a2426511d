import type { Machine } from "../machine.ts";
import { errorFactor } from "../../numerics/kernels/certify.ts";
import type { MatrixShape } from "../engine/matMulEngine.ts";
import { ELEMENTS, elementVisits, floatCheck } from "./floatCheck.ts";

const FLOAT64 = 8;

/**
 * Addresses of the float64 operands `[rows, inner]` and `[columns, inner]` and of the float32 result `[rows, columns]`.
 */
type ProductAddresses = { left: number; right: number; out: number };

/** A prepared product: `run` computes and certifies it. */
export type Product = () => void | Promise<void>;

/**
 * Further addresses for an engine's product: the float64 result, the list of flagged elements, and the vectors' norms
 * and units.
 */
type ProductScratch = {
  values: number;
  flagged: number;
  rowNorms: number;
  rowUnits: number;
  columnNorms: number;
  /** Kept from one product to the next if `keepsUnits` is set, for a constant operand. */
  columnUnits: number;
  keepsUnits: boolean;
};

/**
 * Prepares a matrix product by the engine, rounded and certified, and spot-checked. The norms of columns must be
 * computed already. What it prepares throws EngineFaultError.
 */
export function engineProduct(
  machine: Machine,
  shape: MatrixShape,
  { left, right, out }: ProductAddresses,
  scratch: ProductScratch,
): Product {
  const { views, engine, stats, clock, kernels, checks } = machine;
  const { rows, columns, inner } = shape;
  const { values, flagged, rowNorms, rowUnits, columnNorms, columnUnits, keepsUnits } = scratch;
  const multiply = engine.product(
    views.float64(left, rows * inner),
    views.float64(right, columns * inner),
    views.float64(values, rows * columns),
    shape,
  );
  const factor = errorFactor(inner);
  const visits = elementVisits(shape);
  const checkElement = floatCheck(machine, shape, { left, right, values, rowNorms, columnNorms });
  const check = (index: number): void => {
    clock.enter("checks");
    checkElement(index);
  };
  const unknownUnits = [views.float64(rowUnits, rows), ...(keepsUnits ? [] : [views.float64(columnUnits, columns)])];
  const settlement = {
    ...{ flagged, values, rowNorms, columnNorms, left, right, leftUnits: rowUnits, rightUnits: columnUnits },
    ...{ out, columns, inner, scratch: machine.settleScratch, stats: machine.settleStats },
  };
  /** Computes all elements in integers, after the compensated sum that would not have settled them either. */
  const computeExactly = (): void => {
    clock.enter("patch");
    const bits = views.uint32(out, rows * columns);
    for (let index = 0; index < bits.length; index++) {
      const [a, b] = [
        left + Math.floor(index / columns) * inner * FLOAT64,
        right + (index % columns) * inner * FLOAT64,
      ];
      kernels.compensatedDot(a, b, inner);
      bits[index] = kernels.exactDot(a, b, inner, machine.settleScratch);
    }
    stats.elements += bits.length;
    stats.flagged += bits.length;
    stats.exact += bits.length;
  };
  const certify = (): void => {
    if (machine.alwaysExact) return computeExactly();
    clock.enter("certify");
    kernels.norms(left, inner, rows, rowNorms);
    const count = kernels.certify(values, rowNorms, columnNorms, out, rows, columns, factor, flagged);
    stats.elements += rows * columns;
    checks.run(rows * columns, visits, ELEMENTS, check);
    if (count === 0) return;
    clock.enter("patch");
    stats.flagged += count;
    for (const units of unknownUnits) units.fill(0);
    kernels.settle({ ...settlement, count });
  };
  return () => {
    clock.enter("products");
    const pending = multiply();
    return pending === undefined ? certify() : pending.then(certify);
  };
}
