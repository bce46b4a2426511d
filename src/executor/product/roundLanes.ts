const LANES = 24;
const LANE = 2 ** 32;
/** The unit of an exact sum, as a power of two (src/numerics/exactSum.ts). */
const UNIT = -298;

const rounded = new Float32Array(1);
const roundedBits = new Uint32Array(rounded.buffer);

/**
 * Rounds an exact sum once to float32, half to even; zero is +0.
 * @param lanes The sum in lanes of 32 bits, lowest first, as two's complement modulo 2^768: 24 nonnegative integers
 * below 2^53, with carries in the higher bits. The lanes are changed.
 * @returns The float32's bits.
 */
export function roundLanes(lanes: Float64Array): number {
  let carry = 0;
  for (let k = 0; k < LANES; k++) {
    const value = lanes[k]! + carry;
    carry = Math.floor(value / LANE);
    lanes[k] = value - carry * LANE;
  }
  const isNegative = lanes[LANES - 1]! >= LANE / 2;
  if (isNegative) negate(lanes);
  let top = LANES - 1;
  while (top >= 0 && lanes[top] === 0) top--;
  if (top < 0) return 0;
  // Adding 0 turns -0, which small negative sums round to, into +0.
  rounded[0] = Math.fround((isNegative ? -1 : 1) * oddDouble(lanes, top)) + 0;
  return roundedBits[0]!;
}

function negate(lanes: Float64Array): void {
  let borrow = 1;
  for (let k = 0; k < LANES; k++) {
    const value = LANE - 1 - lanes[k]! + borrow;
    borrow = value === LANE ? 1 : 0;
    lanes[k] = value - borrow * LANE;
  }
}

/**
 * The sum's first 33 to 53 bits, the last of them 1 if anything is left behind: rounding such a number to float32
 * rounds the whole sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 * @param top The highest lane that is not 0.
 */
function oddDouble(lanes: Float64Array, top: number): number {
  const [high, middle, low] = [lanes[top]!, top > 0 ? lanes[top - 1]! : 0, top > 1 ? lanes[top - 2]! : 0];
  // Up to 11 bits of the highest lane leave room for the whole middle lane.
  const isShort = high < 2 ** 11;
  const cut = isShort ? 2 ** 22 : 2 ** 11;
  const from = isShort ? low : middle;
  const kept = Math.floor(from / cut);
  const bits = isShort ? high * 2 ** 42 + middle * 2 ** 10 + kept : high * 2 ** 21 + kept;
  let isExact = from === kept * cut && (isShort || low === 0);
  for (let k = top - 3; k >= 0 && isExact; k--) isExact = lanes[k] === 0;
  const odd = isExact || bits % 2 === 1 ? bits : bits + 1;
  return odd * 2 ** (UNIT + 32 * top - (isShort ? 42 : 21));
}
