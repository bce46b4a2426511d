import { disputeMoves } from "../../../src/dispute/moveGas.ts";

/** How a game grows with the program and the disputed tensor. */
type GrowthRow = {
  steps: number;
  elements: number;
  rounds: number;
  transactions: number;
  gas: number;
  "transactions, published trace": number;
  "gas, published trace": number;
};

const STEPS = [10, 100, 1_000, 10_000];
const ELEMENTS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
/** Steps of a range, as the compiler bounds it; float32; a step proof of ordinary size. */
const [RANGE, BYTES, PROOF_GAS, HEADER] = [16, 4, 300_000, 48];
const ARITY_BITS = 4;

/** Synthetic programs: the game needs no data, only the lengths of its lists. A round is a move of each side. */
export const growth = (): GrowthRow[] =>
  STEPS.flatMap((steps) =>
    ELEMENTS.map((elements) => {
      const shape = {
        checkpoints: Math.ceil(steps / RANGE),
        steps,
        range: Math.min(RANGE, steps),
        tensorBytes: elements * BYTES,
        proofGas: PROOF_GAS,
        headerBytes: HEADER,
        arityBits: ARITY_BITS,
      };
      const played = disputeMoves(shape);
      const published = disputeMoves({ ...shape, published: true });
      return {
        steps,
        elements,
        rounds: (played.moves.length - 1) / 2,
        transactions: played.moves.length,
        gas: played.gas,
        "transactions, published trace": published.moves.length,
        "gas, published trace": published.gas,
      };
    }),
  );
