import { Certifier, type CertificateStats, type ProductShape } from "./certificate.ts";
import type { MatMulEngine } from "./matMulEngine.ts";
import { Operand } from "./operand.ts";

/** From how many rows and columns a matrix product is worth handing over. */
const LEAST_SIDE = 4;

/** How products are computed: the engine takes those of at least `leastWork` terms. */
export type ProductContext = { engine: MatMulEngine; leastWork: number; stats: CertificateStats };

/**
 * Exact dot products, rounded once, of all rows of `left` with all columns of `right`, group by group.
 * @param out Receives the float32 bits, `[groups, rows, columns]`.
 */
export async function floatProduct(
  left: Operand,
  right: Operand,
  shape: ProductShape,
  out: Uint32Array,
  { engine, leastWork, stats }: ProductContext,
): Promise<void> {
  const { groups, rows, columns, inner } = shape;
  stats.elements += groups * rows * columns;
  const certifier = new Certifier(left, right, out, stats);
  const isMatrix = leastWork === 0 || (rows >= LEAST_SIDE && columns >= LEAST_SIDE);
  if (!isMatrix || groups * rows * columns * inner < leastWork) return direct(left, right, shape, certifier);

  const values = await engine.multiply(left.asLeft(), right.asRight(groups), shape);
  const leftNorms = left.norms;
  const rightNorms = right.norms;
  let index = 0;
  for (let row = 0; row < groups * rows; row++) {
    const firstColumn = Math.floor(row / rows) * columns;
    const norm = leftNorms[row]!;
    for (let n = 0; n < columns; n++, index++) {
      certifier.settle(index, row, firstColumn + n, values[index]!, norm * rightNorms[firstColumn + n]!);
    }
  }
}

/** Few terms, or vectors: plain loops, which know the sum of magnitudes as well. */
function direct(left: Operand, right: Operand, shape: ProductShape, certifier: Certifier): void {
  const { groups, rows, columns, inner } = shape;
  const a = left.values;
  const b = right.values;
  let index = 0;
  for (let row = 0; row < groups * rows; row++) {
    const firstColumn = Math.floor(row / rows) * columns;
    for (let n = 0; n < columns; n++, index++) {
      const aStart = row * inner;
      const bStart = (firstColumn + n) * inner;
      let sum = 0;
      let magnitude = 0;
      for (let k = 0; k < inner; k++) {
        const product = a[aStart + k]! * b[bStart + k]!;
        sum += product;
        magnitude += Math.abs(product);
      }
      certifier.settle(index, row, firstColumn + n, sum, magnitude);
    }
  }
}

/** Exact sums, rounded once, of the vectors of `terms`. */
export function floatSum(terms: Operand, out: Uint32Array, stats: CertificateStats): void {
  const { inner, values } = terms;
  const rows = values.length / inner;
  const ones = new Operand(new Float32Array(inner).fill(1), inner);
  direct(terms, ones, { groups: 1, rows, columns: 1, inner }, new Certifier(terms, ones, out, stats));
  stats.elements += rows;
}
