import { decode, INFINITY_, NEG_INFINITY } from "../../src/numerics/float32.ts";
import type { Word } from "../../src/numerics/dtype.ts";

/** A nonnegative exact value `mantissa * 2^exponent`. */
type Exact = { mantissa: bigint; exponent: number };

const UNIT_EXPONENT = -1200;

const scaled = ({ mantissa, exponent }: Exact): bigint => mantissa << BigInt(exponent - UNIT_EXPONENT);

/**
 * Returns the magnitude for given bits. Infinity counts as the next power of two: rounding to nearest treats Infinity
 * the same way.
 */
function magnitude(bits: bigint): bigint {
  return bits === INFINITY_ ? scaled({ mantissa: 1n, exponent: 128 }) : scaled(decode(bits));
}

/**
 * Rounds by definition, searching the ordered bit patterns: returns the float32 nearest to `(-1)^negative * value`. Of
 * two equally near numbers, the function takes the number with an even last bit. The function shares only `decode` with
 * the arithmetic under test.
 */
export function nearestFloat32(negative: boolean, value: Exact): Word {
  const target = scaled(value);
  let below = 0n;
  let above = INFINITY_;
  while (above - below > 1n) {
    const middle = (below + above) / 2n;
    if (magnitude(middle) <= target) below = middle;
    else above = middle;
  }
  const toBelow = target - magnitude(below);
  const toAbove = magnitude(above) - target;
  const nearest = toBelow < toAbove || (toBelow === toAbove && below % 2n === 0n) ? below : above;
  if (nearest === 0n) return 0n;
  if (nearest === INFINITY_) return negative ? NEG_INFINITY : INFINITY_;
  return negative ? nearest | 0x80000000n : nearest;
}
