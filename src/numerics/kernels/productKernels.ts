import { ModuleBuilder } from "./assembler/moduleBuilder.ts";
import { canonicaliseFunction } from "./canonicalise.ts";
import { certifyFunction, settleFunction, settleOneFunction } from "./certify.ts";
import { checked } from "./checked.ts";
import { compensatedDotFunction } from "./compensated.ts";
import { addTermsFunction, carryFunction, exactDotFunction, roundSumFunction } from "./exactDot.ts";
import { binnedWordsFunction } from "./binnedWords.ts";
import { exactWordsFunction } from "./exactWords.ts";
import { fixedSumsFunction } from "./fixedSums.ts";
import { largestFunction } from "./largest.ts";
import { MAX_PAGES } from "./memory.ts";
import { normsFunction } from "./norms.ts";
import { unitFunction } from "./units.ts";
import { vanishesFunction } from "./vanishes.ts";
import { MAX_VECTORS, vectorsByColumnsFunction, vectorsByRowsFunction } from "./vectorProduct.ts";

/**
 * Kernels for exactly rounding float64 sums of float32 products. Arguments are byte addresses in one memory. Matrices
 * are float64 with float32 values.
 */
export type ProductKernels = {
  /** Writes the Euclidean norms of `rows` vectors with `inner` elements to `out` (float64). */
  norms: (vectors: number, inner: number, rows: number, out: number) => void;
  /**
   * Rounds float64 sums [rows, columns] to float32 at `out`, and lists the indices (u32) of those that the bound does
   * not settle.
   * @param factor `errorFactor` of the number of terms.
   * @param flagged Room for rows * columns u32.
   * @returns How many are listed.
   */
  certify: Certify;
  /** Settles listed elements exactly. */
  settle: (call: SettleCall) => void;
  /**
   * The exact dot product of n terms, rounded once: float32 bits. `scratch` is EXACT_SCRATCH zeroed bytes; they are
   * zero again afterwards.
   */
  exactDot: (a: number, b: number, n: number, scratch: number) => number;
  /**
   * Writes the words of `count` exact sums (WORDS_BYTES each) of `terms` products of float32. The second factors are
   * `bStep` bytes apart: 4, or 0 for a single factor of all terms. `scratch` is WORDS_SCRATCH zeroed bytes; they are
   * zero again afterwards.
   */
  exactWords: (
    ...args: [a: number, b: number, bStep: number, terms: number, count: number, out: number, scratch: number]
  ) => void;
  /**
   * Writes `count` sums, each over `terms` float32 products, as int64: each product times `scale`, rounded to an
   * integer and clamped. The second factors are `bStep` bytes apart: 4, or 0 for a single factor of all terms.
   */
  fixedSums: (
    ...args: [
      ...[a: number, b: number, bStep: number, terms: number, count: number, out: number],
      ...[scale: number, least: number, most: number],
    ]
  ) => void;
  /** `exactDot` in twice float64's precision, not rounded. */
  compensatedDot: (a: number, b: number, n: number) => number;
  /** Returns the largest power of two dividing all vector elements. */
  unit: (vector: number, n: number) => number;
  /** The largest magnitude of a vector; NaNs are ignored. */
  largest: (vector: number, n: number) => number;
  /**
   * For each number of vectors, up to MAX_VECTORS: adds the products of float64 vectors with the columns of a float32
   * matrix to float64 sums, row after row. `stride` (of the matrix) and `apart` (of two vectors' sums) are in bytes.
   */
  vectorsByRows: readonly VectorProduct[];
  /** Like `vectorsByRows`, for sums that are not read before, with a matrix stored column by column. */
  vectorsByColumns: readonly VectorProduct[];
  /** Makes `vectors` times four float32 canonical: one NaN and one zero. */
  canonicalise: (at: number, vectors: number) => void;
};

type VectorProduct = (
  ...args: [
    vectors: number,
    matrix: number,
    sums: number,
    terms: number,
    columns: number,
    stride: number,
    apart: number,
  ]
) => void;

type Certify = (
  ...args: [
    values: number,
    rowNorms: number,
    columnNorms: number,
    out: number,
    rows: number,
    columns: number,
    factor: number,
    flagged: number,
  ]
) => number;

/** Addresses and sizes; see {@link ProductKernels.settle}. */
type SettleCall = {
  count: number;
  flagged: number;
  /** As given to certify, with the same norms. */
  values: number;
  rowNorms: number;
  columnNorms: number;
  /** [rows, inner] and [columns, inner], float64. */
  left: number;
  right: number;
  /** A float64 for each row (column): 0 until it is known. May be kept as long as the operand. */
  leftUnits: number;
  rightUnits: number;
  out: number;
  columns: number;
  inner: number;
  /** EXACT_SCRATCH zeroed bytes; they are zero again afterwards. */
  scratch: number;
  /**
   * Address of four u32 counts, which are increased: elements settled by units, by compensated sums, and in integers;
   * then elements of the last two kinds that differ from the rounded value.
   */
  stats: number;
};

const VECTORS = Array.from({ length: MAX_VECTORS }, (_, k) => k + 1);

let compiled: WebAssembly.Module | undefined;

function productModule(): WebAssembly.Module {
  const builder = new ModuleBuilder();
  builder.importMemory(true, MAX_PAGES);
  builder.define(normsFunction(), "norms");
  builder.define(certifyFunction(), "certify");
  builder.define(largestFunction(), "largest");
  for (const vectors of VECTORS) {
    builder.define(vectorsByRowsFunction(vectors), `vectorsByRows${vectors}`);
    builder.define(vectorsByColumnsFunction(vectors), `vectorsByColumns${vectors}`);
  }
  builder.define(canonicaliseFunction(), "canonicalise");
  builder.define(exactWordsFunction(builder.define(binnedWordsFunction())), "exactWords");
  builder.define(fixedSumsFunction(), "fixedSums");
  const unit = builder.define(unitFunction(), "unit");
  const compensatedDot = builder.define(compensatedDotFunction(), "compensatedDot");
  const vanishes = builder.define(vanishesFunction());
  const addTerms = builder.define(addTermsFunction());
  const carry = builder.define(carryFunction());
  const roundSum = builder.define(roundSumFunction(carry));
  const exactDot = builder.define(exactDotFunction(addTerms, carry, roundSum), "exactDot");
  const settleOne = builder.define(settleOneFunction(unit, vanishes, compensatedDot, exactDot), "settleOne");
  builder.define(settleFunction(settleOne), "settle");
  return new WebAssembly.Module(checked("products", builder.encode()));
}

/** The kernels for one memory. @throws OtherKernelsError */
export function productKernels(memory: WebAssembly.Memory): ProductKernels {
  const { exports } = new WebAssembly.Instance((compiled ??= productModule()), { env: { memory } });
  const kernels = exports as unknown as ProductKernels;
  const { norms, certify, exactDot, compensatedDot, unit, largest } = kernels;
  const byNumber = (name: string): VectorProduct[] => {
    const all: VectorProduct[] = [];
    for (const vectors of VECTORS) all[vectors] = exports[`${name}${vectors}`] as VectorProduct;
    return all;
  };
  const settle = exports.settle as (...values: number[]) => void;
  return {
    ...{ norms, certify, compensatedDot, unit, largest },
    ...{ canonicalise: kernels.canonicalise, exactWords: kernels.exactWords, fixedSums: kernels.fixedSums },
    ...{ vectorsByRows: byNumber("vectorsByRows"), vectorsByColumns: byNumber("vectorsByColumns") },
    exactDot: (a, b, n, scratch) => exactDot(a, b, n, scratch) >>> 0,
    settle(call) {
      const { count, flagged, values, left, right, rowNorms, columnNorms, leftUnits, rightUnits } = call;
      const { out, columns, inner, scratch, stats } = call;
      settle(
        ...[count, flagged, values, left, right, rowNorms, columnNorms, leftUnits, rightUnits],
        ...[out, columns, inner, scratch, stats],
      );
    },
  };
}
