/** Operands on which the models of `proofs` and the deployed bytecode must give the same words. */
import { float32WordPairs } from "../../../testkit/numerics/float32Words.ts";

/** Where the words of the models are kept, so that a test without Coq can compare the bytecode with them. */
export const GOLDEN = "test/golden/proofs.json";

/** The operations of Float32.sol on two words that have a model, `mul32` of `mul`. */
export const OPERATIONS: readonly string[] = ["mul", "add", "sub", "div", "min", "max", "lt", "le", "eq"];

/** Words of the models: `sums`, in the order of `SUMS`, and of each operation, in the order of `PAIRS`. */
export type ModelWords = Readonly<Record<string, readonly number[]>>;

type Pair = readonly [bigint, bigint];

const SIGN = 0x80000000n;
const ROWS = 40;

/** Operands. */
export const PAIRS: readonly Pair[] = float32WordPairs(530, 400);

/** Sums of products: rows of `terms` pairs each. Half of the rows cancel but for their last term. */
export const SUMS: readonly { readonly terms: number; readonly rows: readonly (readonly Pair[])[] }[] = [
  ...[1, 2, 3, 7, 12].map((terms) => ({
    terms,
    rows: Array.from({ length: ROWS }, (_, row) => {
      const pairs = float32WordPairs(1_000 * terms + row, terms);
      if (row % 2 === 0) return pairs;
      const half = pairs.slice(0, (terms - 1) >> 1);
      const opposite = half.map(([a, b]) => [b, a ^ SIGN] as const);
      return [...half, ...opposite, ...pairs.slice(2 * half.length)];
    }),
  })),
];
