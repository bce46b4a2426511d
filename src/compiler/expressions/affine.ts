/** `base + sum(coeff * digit)`, by digit number. No coefficient is 0. */
export type Affine = { base: number; coeffs: ReadonlyMap<number, number> };

export const constantAffine = (base: number): Affine => ({ base, coeffs: new Map() });

export const digitAffine = (digit: number, coeff = 1, base = 0): Affine => ({
  base,
  coeffs: coeff === 0 ? new Map() : new Map([[digit, coeff]]),
});

export function addAffine(a: Affine, b: Affine): Affine {
  const coeffs = new Map(a.coeffs);
  for (const [digit, coeff] of b.coeffs) {
    const sum = (coeffs.get(digit) ?? 0) + coeff;
    if (sum === 0) coeffs.delete(digit);
    else coeffs.set(digit, sum);
  }
  return { base: a.base + b.base, coeffs };
}

export function scaleAffine(a: Affine, factor: number): Affine {
  if (factor === 0) return constantAffine(0);
  return { base: a.base * factor, coeffs: new Map([...a.coeffs].map(([digit, c]) => [digit, c * factor] as const)) };
}

/** Digit by digit replacement; digits that `of` leaves undefined stay. */
export function substitute(a: Affine, of: (digit: number) => Affine | undefined): Affine {
  let result = constantAffine(a.base);
  for (const [digit, coeff] of a.coeffs)
    result = addAffine(result, scaleAffine(of(digit) ?? digitAffine(digit), coeff));
  return result;
}

/** The minimum and the maximum over all digits. */
export function affineRange(a: Affine, radix: (digit: number) => number): [number, number] {
  let [low, high] = [a.base, a.base];
  for (const [digit, coeff] of a.coeffs) {
    const reach = coeff * Math.max(0, radix(digit) - 1);
    if (reach < 0) low += reach;
    else high += reach;
  }
  return [low, high];
}

/** Equal for equal functions of the digits. */
export const affineKey = (a: Affine): string =>
  `${a.base}${[...a.coeffs]
    .sort((x, y) => x[0] - y[0])
    .map(([digit, coeff]) => `+${coeff}d${digit}`)
    .join("")}`;
