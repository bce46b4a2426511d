import { TWO_OVER_SQRT_PI } from "../../elementary64/erf.ts";
import { expFixed } from "../../elementary64/expCore.ts";
import { ARGUMENT_FRACTION, FRACTION, shifted } from "../../elementary64/wide.ts";
import { onFirstUse, pairsOf, wide } from "./constants.ts";
import { LOW, mul, polynomial, type Pairs } from "./doubleDouble.ts";
import { exactly, TINY, withSign } from "./exponential.ts";

/** Parts of 1, a power of two. */
const STEPS = 16;
const MAX = 6;
/** Taylor coefficients around a place that is not 0: up to h^16. */
const COEFFICIENTS = 17;
/** From h^6, and from z^4 = x^8 on. */
const PLAIN = 6;
const PLAIN_NEXT_TO_0 = 4;
/** Fraction bits in which the tables are computed: e^-36 has 268 of them. */
const BITS = 320;

/** Coefficients around c = j/16; around 0 those of erf(x)/x in x^2. */
const tablesOf = onFirstUse((): readonly Pairs[] =>
  Array.from({ length: MAX * STEPS + 1 }, (_, j) => (j === 0 ? aroundZero() : around(BigInt(j)))),
);

/** 2/sqrt(pi) (-1)^n/(n! (2n + 1)), n = 0 .. 9. */
function aroundZero(): Pairs {
  let inverse = TWO_OVER_SQRT_PI;
  return pairsOf(
    Array.from({ length: 10 }, (_, n) => {
      if (n > 0) inverse /= -BigInt(n);
      return wide(inverse / BigInt(2 * n + 1));
    }),
  );
}

/**
 * erf c and the further coefficients: the coefficients of g = 2/sqrt(pi) e^(-(c + h)^2), for which g' = -2 (c + h) g,
 * over n. erf c equals g(0) c S, S = 1 + w/3 + w^2/(3*5) + ..., w = 2 c^2.
 */
function around(j: bigint): Pairs {
  const steps = BigInt(STEPS);
  const square = j * j;
  const power = expFixed(-((square << BigInt(ARGUMENT_FRACTION)) / (steps * steps)));
  const first = shifted(TWO_OVER_SQRT_PI * power.mantissa, power.exponent - FRACTION + BITS);
  let [sum, term] = [0n, 1n << BigInt(BITS)];
  for (let divisor = 3n; term > 0n; divisor += 2n) {
    sum += term;
    term = (2n * term * square) / (steps * steps * divisor);
  }
  const values = [(((first * sum) >> BigInt(BITS)) * j) / steps, first];
  let [before, last] = [0n, first];
  for (let n = 1n; values.length < COEFFICIENTS; n++) {
    [before, last] = [last, (-2n * (last * j + before * steps)) / (steps * n)];
    values.push(last / (n + 1n));
  }
  return pairsOf(values.map((mantissa) => ({ mantissa, exponent: -BITS })));
}

/**
 * The error function: an estimate, NaN where the definition is to compute the result.
 *
 * x = c + h, |h| <= 1/32 exactly. Taylor's series is cut after h^16 (the rest is below 2^-102: the n-th coefficient is
 * below 1.3 2^((n-1)/2)/(n sqrt((n-1)!)) by Cramer's bound of Hermite polynomials), and plain from h^6 on (2^-33). erf
 * x is above 2^-5: off by less than 2^-77. Next to 0 the series of erf(x)/x is cut after x^18 (the rest is below
 * 2^-126) and plain from x^8 on (2^-47): off by less than 2^-96.
 */
export function erf(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude >= MAX) return exactly(x > 0 ? 1 : -1);
  if (!(magnitude > TINY)) return NaN;
  const j = Math.round(magnitude * STEPS);
  const table = tablesOf()[j]!;
  if (j > 0) return withSign(x, polynomial(magnitude - j / STEPS, 0, table, PLAIN));
  const square = mul(magnitude, 0, magnitude, 0);
  const sum = polynomial(square, LOW[0]!, table, PLAIN_NEXT_TO_0);
  return withSign(x, mul(sum, LOW[0]!, magnitude, 0));
}
