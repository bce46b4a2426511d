import { errorFactor, SLACK } from "../../numerics/kernels/certify.ts";
import type { ProductKernels } from "../../numerics/kernels/productKernels.ts";
import { ExactSum } from "../../numerics/exactSum.ts";
import type { MatrixShape } from "../engine/matMulEngine.ts";
import { EngineFaultError } from "../errors.ts";
import type { Views } from "../memory/views.ts";
import { visitTerms } from "../spotChecks.ts";
import { compensatedError } from "./compensated.ts";

const FLOAT64 = 8;

/** So many elements are checked in a row. */
export const ELEMENTS = 16;

/** The upper bound on a product's spot-checked terms, as a share. A recomputed term takes some 50 times longer. */
const SHARE = 2 ** -17;

/** With this many elements, a test usually shows whether sums may have been rounded. */
const PROBED = 16;

/** The units' exponents. Float64 numbers are multiples of 2^-1074; exact sums of products, multiples of 2^-298. */
const UNIT = -1074;
const SUM_UNIT = -298;

/** The addresses for a product of float64 numbers with float32 values: see `ProductScratch`. */
type CheckedProduct = {
  left: number;
  right: number;
  values: number;
  rowNorms: number;
  columnNorms: number;
  /** The first columns with norms, the only columns to check; by default all. */
  known?: number;
  /** Room for a column, if the right factor lies term by term. */
  gathered?: number;
};

/** How often elements of a product are checked, on average. */
export const elementVisits = ({ rows, columns, inner }: MatrixShape): number =>
  (rows * columns * inner * SHARE) / visitTerms(ELEMENTS, inner);

/**
 * Prepares checks of single elements, by element number, before anything is rounded or settled. A check tests the
 * certificate's assumptions about the engine's result: the result must lie within the error bound around the exact sum,
 * and must equal the exact sum if no partial sum can have been rounded. For sums that are not finite, the certificate
 * assumes nothing. A failed check throws EngineFaultError.
 */
export function floatCheck(
  { views, kernels }: { views: Views; kernels: ProductKernels },
  { rows, columns, inner, isByTerms = false }: MatrixShape,
  { left, right, values, rowNorms, columnNorms, known = columns, gathered = 0 }: CheckedProduct,
): (index: number) => void {
  const value = views.float64(values, rows * columns);
  const rowNorm = views.float64(rowNorms, rows);
  const columnNorm = views.float64(columnNorms, known);
  const factor = errorFactor(inner);
  const probed = Math.min(inner, PROBED);
  const addressOf = (column: number): number => {
    if (!isByTerms) return right + column * inner * FLOAT64;
    const [matrix, own] = [views.float64(right, inner * columns), views.float64(gathered, inner)];
    for (let k = 0; k < inner; k++) own[k] = matrix[k * columns + column]!;
    return gathered;
  };
  return (index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const norms = rowNorm[row]! * columnNorm[column]!;
    if (!(norms < Infinity)) return;
    const [a, b] = [left + row * inner * FLOAT64, addressOf(column)];
    const isExact = (n: number): boolean => norms * SLACK < 2 ** 53 * (kernels.unit(a, n) * kernels.unit(b, n));
    const mustBeExact = isExact(probed) && isExact(inner);
    const bound = mustBeExact ? 0 : factor * rowNorm[row]! * columnNorm[column]!;
    const sum = kernels.compensatedDot(a, b, inner);
    const error = mustBeExact ? 0 : compensatedError(sum, inner, norms * SLACK);
    // The roundings here stay far below the margin in SLACK.
    if (Math.abs(value[index]! - sum) + error <= bound) return;
    const exact = exactUnits(views.float64(a, inner), views.float64(b, inner));
    const found = value[index]!;
    if (Number.isFinite(found) && magnitude(unitsOf(found) - exact) <= unitsOf(bound)) return;
    throw new EngineFaultError(
      `element [${row}, ${column}] of a product [${rows}, ${inner}] x [${inner}, ${columns}] in float64 is ${found}; ` +
        `its exact value is about ${sum}, and an error of ${bound} is allowed`,
    );
  };
}

const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);

/** The exact dot product of two vectors, by the definition: a multiple of 2^-1074. */
function exactUnits(a: Float64Array, b: Float64Array): bigint {
  const [x, y] = [wordsOf(a), wordsOf(b)];
  const sum = new ExactSum();
  for (let k = 0; k < x.length; k++) sum.addProduct(BigInt(x[k]!), BigInt(y[k]!));
  return sum.value << BigInt(SUM_UNIT - UNIT);
}

const wordsOf = (vector: Float64Array): Uint32Array => new Uint32Array(Float32Array.from(vector).buffer);

/** A finite number in units of 2^-1074. */
function unitsOf(x: number): bigint {
  const bits = new BigUint64Array(Float64Array.of(x).buffer)[0]!;
  const field = (bits >> 52n) & 0x7ffn;
  const fraction = bits & ((1n << 52n) - 1n);
  const units = field === 0n ? fraction : (fraction | (1n << 52n)) << (field - 1n);
  return x < 0 ? -units : units;
}
