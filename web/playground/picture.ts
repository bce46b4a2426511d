import { DType, dtypeBytes, isFloat, writeWord } from "../../src/numerics/dtype.ts";
import { numberWord } from "../../src/numerics/numbers.ts";
import type { TensorInfo } from "../../src/program/compiled.ts";

/** Of each pixel red, green, blue and opacity, row by row. */
export type Pixels = Uint8ClampedArray;

/** How a picture lies in a tensor. */
export type Plane = { channels: 1 | 3; width: number; height: number; isPlanar: boolean };

/** How much of each colour the eye takes as brightness (BT.601), in thousandths. */
const BRIGHTNESS = [299, 587, 114] as const;

/** How a picture lies in an input, by its shape. @returns undefined if none fits, or 0 to 255 do not fit its type */
export function planeOf({ shape, dtype }: Pick<TensorInfo, "shape" | "dtype">): Plane | undefined {
  if (dtype === DType.bool || dtype === DType.int8) return undefined;
  const [one, ...rest] = shape.length === 4 ? shape : [1, ...shape];
  if (one !== 1 || rest.length !== 3) return undefined;
  const [a, b, c] = rest as [number, number, number];
  if (a === 1 || a === 3) return { channels: a, height: b, width: c, isPlanar: true };
  return c === 1 || c === 3 ? { channels: c, height: a, width: b, isPlanar: false } : undefined;
}

/**
 * A picture as an input takes it: whole numbers as they are, from 0 to 255, floats from 0 to 1. What else a model wants
 * of its pictures (a mean that is taken off) is not in its file, and not done here.
 */
export function pictureTensor(pixels: Pixels, { channels, width, height, isPlanar }: Plane, dtype: DType): Uint8Array {
  const size = width * height;
  const bytes = new Uint8Array(size * channels * dtypeBytes(dtype));
  for (let pixel = 0; pixel < size; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      const at = isPlanar ? channel * size + pixel : pixel * channels + channel;
      const value = channels === 3 ? pixels[4 * pixel + channel]! : brightness(pixels, 4 * pixel);
      writeWord(bytes, at, dtype, isFloat(dtype) ? numberWord(value / 255, dtype) : BigInt(value));
    }
  }
  return bytes;
}

const brightness = (pixels: Pixels, at: number): number =>
  Math.round(BRIGHTNESS.reduce((sum, part, k) => sum + part * pixels[at + k]!, 0) / 1_000);
