import { productRest } from "../../numerics/kernels/elementary64/doubleDouble.ts";
import { ExactSum } from "../../numerics/exactSum.ts";
import { FLOAT64_ARITHMETIC } from "../../numerics/float64.ts";

/** Bounds the remainders from underflowing products, and values computed from them. */
const MIN = 2 ** -1060;

/**
 * Sums `terms` float64 numbers, or their products with other factors, and rounds once; +0 for 0.
 *
 * Ogita, Rump and Oishi, "Accurate sum and dot product", 2005: with S the sum of all magnitudes, sum + rest has an
 * error below 2 n^2 2^-106 S for n terms, n < 2^26, plus 2^-1073 for each product that underflows. If all values within
 * the error round alike, that value is the result; otherwise the sum is computed in integers.
 * @param b The other factors, if any.
 * @param first The index of the first term.
 * @param isExact If true, always computes in integers.
 */
export function roundedSum(
  a: Float64Array,
  b: Float64Array | undefined,
  first: number,
  terms: number,
  isExact: boolean,
): number {
  let sum = 0;
  let rest = 0;
  let magnitude = 0;
  for (let i = first; i < first + terms; i++) {
    const x = a[i]!;
    const term = b === undefined ? x : x * b[i]!;
    const next = sum + term;
    const part = next - sum;
    rest += sum - (next - part) + (term - part);
    if (b !== undefined) rest += productRest(x, b[i]!, term);
    sum = next;
    magnitude += Math.abs(term);
  }
  const width = 4 * terms * terms * 2 ** -106 * magnitude + terms * MIN;
  const below = sum + (rest - width);
  // Sums next to 0, whose sign would count, and non-finite values are not settled.
  return !isExact && below === sum + (rest + width) && Math.abs(below) < Infinity && below !== 0
    ? below
    : exactSum(a, b, first, terms);
}

function exactSum(a: Float64Array, b: Float64Array | undefined, first: number, terms: number): number {
  const [x, y] = [bitsOf(a, first, terms), b && bitsOf(b, first, terms)];
  const sum = new ExactSum(FLOAT64_ARITHMETIC);
  for (let i = 0; i < terms; i++) {
    if (y === undefined) sum.add(x[i]!);
    else sum.addProduct(x[i]!, y[i]!);
  }
  const result = new BigUint64Array([sum.round()]);
  return new Float64Array(result.buffer)[0]!;
}

const bitsOf = ({ buffer, byteOffset }: Float64Array, first: number, terms: number): BigUint64Array =>
  new BigUint64Array(buffer, byteOffset + 8 * first, terms);
