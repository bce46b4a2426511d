import { LIMBS, exactSumOfProducts } from "../../numerics/exactSum.ts";
import type { ProductShape } from "./certificate.ts";
import type { Operand } from "./operand.ts";

/** 64-bit lanes of a limb. */
export const LIMB_LANES = 4;
const LANE_BITS = 64n;
const ONE_BITS = 0x3f800000;

/**
 * The exact dot products, in words, of all rows of `left` with all columns of `right`, group by group; without `right`, the sums of the rows.
 * @param out Receives the words' lanes, lowest first, `[groups, rows, columns, word, lane]`.
 */
export function partialProduct(
  left: Operand,
  right: Operand | undefined,
  { groups, rows, columns, inner }: ProductShape,
  out: BigUint64Array,
): void {
  const ones = new Uint32Array(right === undefined ? inner : 0).fill(ONE_BITS);
  let at = 0;
  for (let row = 0; row < groups * rows; row++) {
    const firstColumn = Math.floor(row / rows) * columns;
    for (let n = 0; n < columns; n++) {
      const b = right?.bits ?? ones;
      const bStart = right === undefined ? 0 : (firstColumn + n) * inner;
      for (const word of exactSumOfProducts(left.bits, row * inner, b, bStart, inner).limbs()) {
        for (let lane = 0; lane < LIMB_LANES; lane++) out[at++] = word >> (LANE_BITS * BigInt(lane));
      }
    }
  }
}

/** Elements of `out` for each exact sum. */
export const SUM_LANES = LIMBS * LIMB_LANES;
