import { acos, asin, atan } from "./arc.ts";
import { LOW } from "./doubleDouble.ts";
import { erf } from "./errorFunction.ts";
import { cosh, exp, expm1, sigmoid, sinh, tanh } from "./exponential.ts";
import { acosh, asinh, atanh, log, log1p, pow } from "./logarithm.ts";
import { cos, sin, tan } from "./trigonometric.ts";

/**
 * Functions of one or two float64. They return an estimate's high part, with the low part in {@link LOW}; NaN for no
 * estimate.
 */
export const ESTIMATES64 = {
  ...{ pow, exp, log, tanh, sigmoid, erf, expm1, log1p },
  ...{ sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh },
} as const satisfies Record<string, (x: number, y: number) => number>;

export type Name64 = keyof typeof ESTIMATES64;

/**
 * The assumed relative error of an estimate: each error is proven to be below 2^-76. The enclosure of the ladder's
 * first rung (docs/numerics.md, "float64") is widened by 2^-215, and the sums below are off by 2^-104.
 */
const BOUND64 = 2 ** -70;

/** `high` and {@link LOW} rounded once, where all that they may stand for rounds alike; else NaN. */
function settled(high: number): number {
  const low = LOW[0]!;
  const width = Math.abs(high) * BOUND64;
  const below = high + (low - width);
  return below === high + (low + width) ? below : NaN;
}

/** The first rung of float64: a correctly rounded elementary function if its estimate settles the result, else NaN. */
export function quick64(name: Name64): (x: number, y: number) => number {
  const estimate: (x: number, y: number) => number = ESTIMATES64[name];
  if (name !== "pow") return (x, y) => settled(estimate(x, y));
  return (x, y) => {
    // Each is one operation, rounded once.
    if (y === 2) return x * x;
    if (y === -1) return 1 / x;
    return y === 0.5 && x >= 0 ? Math.sqrt(x) : settled(estimate(x, y));
  };
}
