import type { MatrixShape } from "../engine/matMulEngine.ts";
import { EngineFaultError } from "../errors.ts";
import type { Prng } from "../../base/prng.ts";
import { visitTerms } from "../spotChecks.ts";

/** So many rows are checked in a row. */
export const ROWS = 4;
/** The upper bound on a product's spot-checked terms, as a share. A checked term takes some 200 times longer. */
const SHARE = 2 ** -20;

/** The length of odd weights for the columns, followed by the weighted sum for each row of a right operand. */
export const witnessLength = (columns: number, inner: number): number => columns + inner;

/** Draws weights for a right operand, and sums its rows by the weights. @param witness Receives both. */
export function makeWitness(
  right: Uint8Array | Int8Array,
  zero: number,
  { columns, inner }: Pick<MatrixShape, "columns" | "inner">,
  witness: Int32Array,
  prng: Prng,
): void {
  for (let column = 0; column < columns; column++) witness[column] = prng.uint32() | 1;
  for (let k = 0; k < inner; k++) {
    let sum = 0;
    for (let column = 0; column < columns; column++)
      sum = (sum + Math.imul(right[k * columns + column]! - zero, witness[column]!)) | 0;
    witness[columns + k] = sum;
  }
}

/** How often rows of a product are checked, on average. */
export const rowVisits = ({ rows, columns, inner }: MatrixShape): number =>
  (rows * columns * inner * SHARE) / visitTerms(ROWS, columns + inner);

/**
 * Prepares checks of single rows, by row number. The columns' sums, weighted at random, must equal the sums that the
 * right operand's rows give under the same weights (Freivalds, 1979), modulo 2^32 like the sums themselves. A single
 * wrong element never passes, because weights are odd; several pass only by chance. A failed check throws
 * EngineFaultError.
 */
export function byteCheck(
  { left, leftZero, results }: { left: Uint8Array; leftZero: Uint8Array; results: Int32Array },
  { rows, columns, inner }: MatrixShape,
  witness: Int32Array,
): (row: number) => void {
  return (row) => {
    const zero = leftZero[0]!;
    let [found, expected] = [0, 0];
    for (let column = 0, at = row * columns; column < columns; column++, at++)
      found = (found + Math.imul(results[at]!, witness[column]!)) | 0;
    for (let k = 0, at = row * inner; k < inner; k++, at++)
      expected = (expected + Math.imul(left[at]! - zero, witness[columns + k]!)) | 0;
    if (found === expected) return;
    throw new EngineFaultError(
      `row ${row} of a product [${rows}, ${inner}] x [${inner}, ${columns}] of bytes has wrong sums`,
    );
  };
}
