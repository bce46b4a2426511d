import { DType, isFloat, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
import { ExactSum } from "../numerics/exactSum.ts";
import * as float32 from "../numerics/float32.ts";
import * as integer from "../numerics/integer.ts";
import { Reduce } from "./types.ts";

/** Folds a step's terms; `result` gives the accumulator slots (docs/program.md, "Reduce"). */
export type Reduction = { add(a: Word, b: Word, r: number): void; result(): Word[] };

/** The reduction of a kind over operands of a type. */
export function startReduction(reduce: Reduce, dtype: DTypeCode): Reduction {
  switch (reduce) {
    case Reduce.none:
      return { add: () => undefined, result: () => [] };
    case Reduce.sum:
    case Reduce.dot:
      return isFloat(dtype) ? exactFloat(reduce) : modular(reduce, dtype);
    case Reduce.max:
      return extremum(isFloat(dtype) ? float32.max : (a, b) => integer.max(a, b, dtype));
    case Reduce.min:
      return extremum(isFloat(dtype) ? float32.min : (a, b) => integer.min(a, b, dtype));
    case Reduce.last:
      return lastMatch();
    default:
      return position(reduce, dtype);
  }
}

function exactFloat(reduce: Reduce): Reduction {
  const sum = new ExactSum();
  return {
    add: (a, b) => (reduce === Reduce.dot ? sum.addProduct(a, b) : sum.add(a)),
    result: () => [sum.round()],
  };
}

function modular(reduce: Reduce, dtype: DTypeCode): Reduction {
  let sum = 0n;
  return {
    add: (a, b) => void (sum += reduce === Reduce.dot ? a * b : a),
    result: () => [integer.wrap(sum, dtype)],
  };
}

function extremum(pick: (a: Word, b: Word) => Word): Reduction {
  let best: Word | undefined;
  return { add: (a) => void (best = best === undefined ? a : pick(best, a)), result: () => [best!] };
}

function lastMatch(): Reduction {
  let value = 0n;
  let found = 0n;
  return {
    add: (a, b) => {
      if (a !== 0n) [value, found] = [b, 1n];
    },
    result: () => [value, found],
  };
}

function position(reduce: Reduce, dtype: DTypeCode): Reduction {
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const lowestIndex = reduce === Reduce.argmax || reduce === Reduce.argmin;
  let best: Word | undefined;
  let at = 0n;
  return {
    add: (a, _, r) => {
      const wins = best === undefined || (lowestIndex ? beats(a, best) : !beats(best, a));
      if (wins) [best, at] = [a, BigInt(r)];
    },
    result: () => [at],
  };

  /** Whether a is strictly before b in the order searched for; NaN is first in both (greatest, least). */
  function beats(a: Word, b: Word): boolean {
    if (dtype === DType.float32) {
      if (float32.isNaN(a) || float32.isNaN(b)) return float32.isNaN(a) && !float32.isNaN(b);
      return (greatest ? float32.lt(b, a) : float32.lt(a, b)) === 1n;
    }
    return greatest ? a > b : a < b;
  }
}
