import type { DenoiserShape, Row } from "./models.ts";

/** Pictures with half the side, 14 x 14: training takes minutes. */
export const SIDE = 14;
export const SHAPE: DenoiserShape = { pixels: SIDE * SIDE, times: 8, hidden: 384 };

/** How a picture and noise are mixed at a time from 0 (the picture) to 1 (noise): parts whose squares sum to 1. */
export const mixAt = (time: number): { picture: number; noise: number } => ({
  picture: Math.cos((Math.PI / 2) * time),
  noise: Math.sin((Math.PI / 2) * time),
});

/** Returns the denoiser's numbers for a time: waves. */
export const timesOf = (time: number): number[] =>
  Array.from({ length: SHAPE.times }, (_, k) => Math.cos(Math.PI * (k + 1) * time));

/**
 * Returns the rows for a diffusion with the given number of steps. The first row makes noise from nothing. Each other
 * row goes a step from noise to picture: the mean of the earlier state, given the guessed picture, and fresh noise in
 * the same amount (Ho, Jain and Abbeel, 2020).
 */
export function scheduleOf(steps: number): Row[] {
  const first: Row = { times: timesOf(1), next: [0, 0, 1] };
  const rows = Array.from({ length: steps }, (_, k): Row => {
    // At the end of time nothing is left of the picture, and a guess would be divided by nothing.
    const [now, then] = [0.999 * (1 - k / steps), 0.999 * (1 - (k + 1) / steps)];
    const [a, b] = [mixAt(now), mixAt(then)];
    const kept = (a.picture / b.picture) ** 2;
    return {
      times: timesOf(now),
      next: [
        (b.picture * (1 - kept)) / a.noise ** 2,
        (Math.sqrt(kept) * b.noise ** 2) / a.noise ** 2,
        b.noise * Math.sqrt((1 - kept) / a.noise ** 2),
      ],
    };
  });
  return [first, ...rows];
}
