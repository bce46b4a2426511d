import type { Word } from "../dtype.ts";
import { roundToFloat32 } from "../round.ts";
import { FRACTION, PI_OVER_2, type Scaled } from "./fixed.ts";
import { cosTheta, sinTheta, type Angle } from "./trigCore.ts";

/** The angle of `m / n` turns, n below 2^32: a quarter turn times at most a half, to 2^-126 absolute. */
function angleOf(m: bigint, n: bigint): Angle {
  const quarters = 4n * (((m % n) + n) % n);
  const nearest = (2n * quarters + n) / (2n * n);
  const rest = quarters - nearest * n;
  const negative = rest < 0n;
  const mantissa = ((negative ? -rest : rest) * PI_OVER_2) / n;
  return { quadrant: Number(nearest & 3n), negative, mantissa, exponent: -FRACTION };
}

/**
 * sin(2 pi (m / n + quarters / 4)) rounded to float32, for integers m and 0 < n < 2^32. A multiple of a quarter turn is
 * exact. No other angle is nearer to 0 than 2^-30, and the error is therefore below 2^-90 relative: correctly rounded
 * unless the number lies this close to a rounding boundary.
 */
function sinOf(m: number, n: number, quarters: 0 | 1): Word {
  const angle = angleOf(BigInt(m), BigInt(n));
  const quadrant = angle.quadrant + quarters;
  const isCosine = (quadrant & 1) === 1;
  const below = (quadrant & 2) !== 0;
  const { mantissa, exponent }: Scaled = isCosine
    ? { mantissa: cosTheta(angle), exponent: -FRACTION }
    : sinTheta(angle);
  return roundToFloat32(isCosine ? below : below !== angle.negative, mantissa, exponent);
}

/** sin(2 pi m / n) in float32, the same on every machine. */
export const sinTurn = (m: number, n: number): Word => sinOf(m, n, 0);

/** cos(2 pi m / n) in float32, the same on every machine. */
export const cosTurn = (m: number, n: number): Word => sinOf(m, n, 1);
