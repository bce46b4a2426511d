/** Where an output position lies in the input, in float32 operations in onnxruntime's order. */
const f = Math.fround;

/**
 * One dimension to resize. `scale` is a float32 number; `length` is the resized length, `output` the length's whole
 * part; the region of interest has relative coordinates, for tf_crop_and_resize.
 */
export type ResizeAxis = {
  input: number;
  output: number;
  length: number;
  scale: number;
  start: number;
  end: number;
};

export const COORDINATES = [
  "half_pixel",
  "half_pixel_symmetric",
  "pytorch_half_pixel",
  "align_corners",
  "asymmetric",
  "tf_half_pixel_for_nn",
  "tf_crop_and_resize",
] as const;
export type CoordinateMode = (typeof COORDINATES)[number];

/** The input coordinate of output position `o`. */
function inputCoordinate(mode: CoordinateMode, axis: ResizeAxis, o: number): number {
  const { input, output, length, scale, start, end } = axis;
  const halfPixel = f(f(f(o + 0.5) / scale) - 0.5);
  switch (mode) {
    case "half_pixel":
      return halfPixel;
    case "half_pixel_symmetric": {
      const adjustment = f(output / f(scale * input));
      const offset = f(f(input / 2) * f(1 - adjustment));
      return f(f(offset + f(f(o + 0.5) / scale)) - 0.5);
    }
    case "pytorch_half_pixel":
      return output > 1 ? halfPixel : 0;
    case "align_corners":
      return output === 1 ? 0 : f(f(o * (input - 1)) / f(length - 1));
    case "asymmetric":
      return f(o / scale);
    case "tf_half_pixel_for_nn":
      return f(f(o + 0.5) / scale);
    case "tf_crop_and_resize": {
      const last = input - 1;
      if (output <= 1) return f(f(0.5 * f(start + end)) * last);
      return f(f(start * last) + f(f(f(o * f(end - start)) * last) / (output - 1)));
    }
  }
}

export const ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"] as const;
export type Rounding = (typeof ROUNDINGS)[number];

/** The nearest position; `simple` is the rule of operator set 10. */
function roundCoordinate(rounding: Rounding, x: number, scale: number): number {
  switch (rounding) {
    case "round_prefer_floor":
      return Math.ceil(x - 0.5);
    case "round_prefer_ceil":
      return Math.floor(x + 0.5);
    case "floor":
      return Math.floor(x);
    case "ceil":
      return Math.ceil(x);
    case "simple":
      return scale < 1 ? Math.ceil(x) : Math.trunc(x);
  }
}

/**
 * The input positions mixed by an output position, with the weights. A position outside the input is clamped to the
 * border.
 */
export type ResizeTaps = { positions: number[]; weights: number[]; outOfRange: boolean };

const clamp = (value: number, size: number): number => Math.min(size - 1, Math.max(0, value));

/** Nearest: one position. */
export function nearestTap(mode: CoordinateMode, rounding: Rounding, axis: ResizeAxis, o: number): ResizeTaps {
  const x = inputCoordinate(mode, axis, o);
  return {
    positions: [clamp(roundCoordinate(rounding, x, axis.scale), axis.input)],
    weights: [1],
    outOfRange: x < 0 || x > axis.input - 1,
  };
}

/** Linear: the two neighbours. */
export function linearTaps(mode: CoordinateMode, axis: ResizeAxis, o: number): ResizeTaps {
  const given = inputCoordinate(mode, axis, o);
  const x = clamp(given, axis.input);
  const low = Math.min(Math.trunc(x), axis.input - 1);
  const high = Math.min(low + 1, axis.input - 1);
  const [far, near] = low === high ? [0.5, 0.5] : [f(Math.abs(f(x - low))), f(Math.abs(f(x - high)))];
  return { positions: [low, high], weights: [near, far], outOfRange: given < 0 || given > axis.input - 1 };
}

function cubicWeights(s: number, a: number): number[] {
  const near = (t: number): number => f(f(f(f(f(f(a + 2) * t) - f(a + 3)) * t) * t) + 1);
  const far = (t: number): number => f(f(f(f(f(f(f(a * t) - f(5 * a)) * t) + f(8 * a)) * t)) - f(4 * a));
  return [far(f(s + 1)), near(s), near(f(1 - s)), far(f(2 - s))];
}

/**
 * Cubic: four neighbours; with `excludeOutside`, neighbours outside the input have weight 0 and the rest is scaled to
 * 1.
 */
export function cubicTaps(
  mode: CoordinateMode,
  a: number,
  excludeOutside: boolean,
  axis: ResizeAxis,
  o: number,
): ResizeTaps {
  const x = inputCoordinate(mode, axis, o);
  const first = Math.floor(x) - 1;
  let weights = cubicWeights(f(x - Math.floor(x)), f(a));
  const raw = [0, 1, 2, 3].map((k) => first + k);
  if (excludeOutside) {
    weights = weights.map((w, k) => (raw[k]! < 0 || raw[k]! >= axis.input ? 0 : w));
    const sum = weights.reduce((total, w) => f(total + w), 0);
    weights = weights.map((w) => f(w / sum));
  }
  return { positions: raw.map((at) => clamp(at, axis.input)), weights, outOfRange: x < 0 || x > axis.input - 1 };
}

/** Weights of the filters at distance x; cubic with its coefficient. */
function filterWeight(coefficient: number | undefined, x: number): number {
  const t = Math.abs(x);
  if (coefficient === undefined) return t < 1 ? f(1 - t) : 0;
  if (t >= 2) return 0;
  if (t < 1) return f(f(f(f(f(f(coefficient + 2) * t) - f(coefficient + 3)) * t) * t) + 1);
  return f(f(f(f(f(f(t - 5) * t) + 8) * t) - 4) * coefficient);
}

/**
 * Antialias: where the output is smaller, the filter is stretched over all input positions behind an output position.
 * Weights outside the input go to the border, or with `excludeOutside` are left out; the rest is scaled to 1. Each
 * position has its own number of weights.
 * @param coefficient Of the cubic filter; undefined for the linear filter.
 */
export function antialiasTaps(
  mode: CoordinateMode,
  coefficient: number | undefined,
  excludeOutside: boolean,
  axis: ResizeAxis,
  o: number,
): ResizeTaps {
  const stretch = Math.max(1, f(1 / axis.scale));
  const support = f((coefficient === undefined ? 1 : 2) * stretch);
  const x = axis.scale === 1 ? o : inputCoordinate(mode, axis, o);
  const centre = f(0.5 + x);
  const [first, end] = [Math.floor(f(f(centre - support) + 0.5)), Math.floor(f(f(centre + support) + 0.5))];
  const byPosition = new Map<number, number>();
  let total = 0;
  for (let at = first; at < end; at++) {
    if (excludeOutside && (at < 0 || at >= axis.input)) continue;
    const weight = filterWeight(coefficient, f(f(f(at - centre) + 0.5) * f(1 / stretch)));
    total = f(total + weight);
    const position = clamp(at, axis.input);
    byPosition.set(position, f((byPosition.get(position) ?? 0) + weight));
  }
  const scale = total === 0 ? 1 : f(1 / total);
  return {
    positions: [...byPosition.keys()],
    weights: [...byPosition.values()].map((weight) => f(weight * scale)),
    outOfRange: x < 0 || x > axis.input - 1,
  };
}

/**
 * Returns the same taps, filled up to an equal count at all output positions. Added taps have weight 0 and read the
 * position `input`, out of bounds.
 */
export function evenTaps(taps: readonly ResizeTaps[], input: number): ResizeTaps[] {
  const count = taps.reduce((max, { positions }) => Math.max(max, positions.length), 0);
  return taps.map(({ positions, weights, outOfRange }) => {
    const missing = Math.max(0, count - positions.length);
    return {
      positions: [...positions, ...new Array<number>(missing).fill(input)],
      weights: [...weights, ...new Array<number>(missing).fill(0)],
      outOfRange,
    };
  });
}
