/**
 * Numbers as the sum of two float64, `high + low` with |low| <= 2^-52 |high|. Only additions, products, quotients and
 * roots are used, which IEEE 754 rounds once, so that every machine has the same bits.
 *
 * A function returns the high part and leaves the low one in {@link LOW}: nothing is allocated. The error bounds are
 * those of Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
 * arithmetic", 2017, generously rounded up. They hold where nothing over- or underflows: products of 2^-900 and more.
 */
export const LOW = new Float64Array(1);

const MIN_POWER = -1074;
const POWERS_OF_TWO = new Float64Array(1024 - MIN_POWER).fill(Number.MIN_VALUE);
for (let n = 1; n < POWERS_OF_TWO.length; n++) POWERS_OF_TWO[n] = 2 * POWERS_OF_TWO[n - 1]!;

/** 2^n for -1074 <= n < 1024. Engines may compute `2 ** n` inexactly. */
export const powerOfTwo = (n: number): number => POWERS_OF_TWO[n - MIN_POWER]!;

const SPLITTER = 2 ** 27 + 1;

/** `a * b - product`, exactly, for `product = a * b` rounded (Veltkamp, Dekker). */
export function productRest(a: number, b: number, product: number): number {
  const p = SPLITTER * a;
  const aHigh = p - (p - a);
  const aLow = a - aHigh;
  const q = SPLITTER * b;
  const bHigh = q - (q - b);
  const bLow = b - bHigh;
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
}

/** `a + b`, exactly. */
export function sumOf(a: number, b: number): number {
  const sum = a + b;
  const part = sum - a;
  LOW[0] = a - (sum - part) + (b - part);
  return sum;
}

/** `a * b`, exactly. */
export function productOf(a: number, b: number): number {
  const product = a * b;
  LOW[0] = productRest(a, b, product);
  return product;
}

/** The sum: off by less than 2^-103 (|a| + |b|). */
export function add(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const sum = aHigh + bHigh;
  const part = sum - aHigh;
  const rest = aHigh - (sum - part) + (bHigh - part) + (aLow + bLow);
  const high = sum + rest;
  LOW[0] = rest - (high - sum);
  return high;
}

/** The product: off by less than 2^-102 of it. */
export function mul(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const product = aHigh * bHigh;
  const rest = productRest(aHigh, bHigh, product) + (aHigh * bLow + aLow * bHigh);
  const high = product + rest;
  LOW[0] = rest - (high - product);
  return high;
}

/** The quotient: off by less than 2^-100 of it. */
export function div(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const quotient = aHigh / bHigh;
  const product = mul(quotient, 0, bHigh, bLow);
  const rest = add(aHigh, aLow, -product, -LOW[0]!) / bHigh;
  const high = quotient + rest;
  LOW[0] = rest - (high - quotient);
  return high;
}

/** The square root of a positive number: off by less than 2^-100 of it. */
export function root(aHigh: number, aLow: number): number {
  const first = Math.sqrt(aHigh);
  const square = first * first;
  const rest = add(aHigh, aLow, -square, -productRest(first, first, square)) / (2 * first);
  const high = first + rest;
  LOW[0] = rest - (high - first);
  return high;
}

/** Numbers of two parts. */
export type Pairs = { high: Float64Array; low: Float64Array };

/**
 * c[0] + c[1] z + c[2] z^2 + ... for |z| <= 1/16. From the coefficient `plain` on it is computed in float64: that part
 * is off by less than 2^-50 of its largest term.
 */
export function polynomial(zHigh: number, zLow: number, { high, low }: Pairs, plain: number): number {
  let n = high.length - 1;
  let sum = high[n]!;
  for (n--; n >= plain; n--) sum = high[n]! + sum * zHigh;
  let rest = 0;
  for (; n >= 0; n--) {
    sum = mul(sum, rest, zHigh, zLow);
    sum = add(high[n]!, low[n]!, sum, LOW[0]!);
    rest = LOW[0]!;
  }
  LOW[0] = rest;
  return sum;
}
