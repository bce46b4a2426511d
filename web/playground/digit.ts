/** Pixels of a side of the picture that the sample of digits takes. */
export const SIDE = 28;

/** The part of a picture that a digit takes there. */
export const INNER = 20;

/** A line of a drawing, in parts of its side. */
export type Stroke = readonly (readonly [x: number, y: number])[];

/** Digits that are there without a hand that draws. */
export const READY: Readonly<Record<string, readonly Stroke[]>> = {
  1: [
    [
      [0.42, 0.25],
      [0.54, 0.14],
      [0.54, 0.86],
    ],
  ],
  3: [
    [
      [0.3, 0.22],
      [0.45, 0.13],
      [0.63, 0.2],
      [0.65, 0.36],
      [0.48, 0.47],
      [0.66, 0.56],
      [0.69, 0.74],
      [0.52, 0.86],
      [0.31, 0.8],
    ],
  ],
  7: [
    [
      [0.28, 0.18],
      [0.72, 0.18],
      [0.45, 0.86],
    ],
  ],
};

/** The smallest rectangle around what is drawn; undefined if nothing is. @param pixels Brightness, row by row. */
export function boxOf(pixels: ArrayLike<number>, side: number): { x: number; y: number; size: number } | undefined {
  let [left, right, top, bottom] = [side, -1, side, -1];
  for (let at = 0; at < side * side; at++) {
    if (pixels[at]! <= 0) continue;
    const [x, y] = [at % side, Math.floor(at / side)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  if (right < 0) return undefined;
  const size = Math.max(right - left, bottom - top) + 1;
  return { x: (left + right + 1 - size) / 2, y: (top + bottom + 1 - size) / 2, size };
}

/** Moves a picture so that its centre of mass lies in the middle, as those that the model learned from. */
export function centred(pixels: ArrayLike<number>): number[] {
  let [mass, x, y] = [0, 0, 0];
  for (let at = 0; at < SIDE * SIDE; at++) {
    mass += pixels[at]!;
    x += pixels[at]! * (at % SIDE);
    y += pixels[at]! * Math.floor(at / SIDE);
  }
  if (mass === 0) return Array.from({ length: SIDE * SIDE }, () => 0);
  const [right, down] = [x, y].map((moment) => Math.round((SIDE - 1) / 2 - moment / mass)) as [number, number];
  return Array.from({ length: SIDE * SIDE }, (_, at) => {
    const [fromX, fromY] = [(at % SIDE) - right, Math.floor(at / SIDE) - down];
    const isInside = fromX >= 0 && fromX < SIDE && fromY >= 0 && fromY < SIDE;
    return isInside ? pixels[fromY * SIDE + fromX]! : 0;
  });
}
