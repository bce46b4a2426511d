import type { Step, View } from "../../program/types.ts";
import { axisRange } from "../../program/loops.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import { splitDigits } from "../../program/view.ts";
import { digitStrides } from "../splitStep.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";

const FLOAT64 = 8;

/**
 * A copy's layout. The copy holds the elements read by a float32 view for some values of a digit. The copy uses float64
 * and includes the padding: each digit moves an element's place by a constant.
 */
export type StripLayout = {
  /** Returns the bytes by which an output digit moves the place. */
  stride: (digit: number) => number;
  /** Bytes from there to each term, row-major over the reduction digits. */
  offsets: readonly number[];
  /** Elements of the copy. */
  elements: number;
  /**
   * The loop that copies all elements read by the view. Its first digit is the cut axis. On this axis, a value v of the
   * cut digit begins at `v * move` and reads `reach` values.
   */
  spec: LoopSpec;
  move: number;
  reach: number;
};

/** Copies values `start .. end - 1` of the cut digit to an address, the place of the first value. */
type StripCopy = (address: number, start: number, end: number) => void;

/** An axis with the coordinate `low + unit * t`. t stays below `size`, and equals `first` if all digits are 0. */
type Span = { unit: number; low: number; first: number; size: number; moves: ReadonlyMap<number, number> };

function spanOf({ base, coeffs }: View["axes"][number], radices: readonly number[]): Span {
  const moving = coeffs.filter(({ digit, coeff }) => coeff !== 0 && radices[digit]! > 1);
  const [low, high] = axisRange({ base, coeffs } as View["axes"][number], (digit) => radices[digit]!);
  const unit = moving.reduce((divisor, { coeff }) => gcd(divisor, Math.abs(coeff)), 0) || 1;
  return {
    unit,
    low,
    first: (base - low) / unit,
    size: (high - low) / unit + 1,
    moves: new Map(moving.map(({ digit, coeff }) => [digit, coeff / unit])),
  };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Whether a digit moves a view along one axis, forwards. */
export const movesAlongOne = (view: View, digit: number): boolean => {
  const coeffs = view.axes.flatMap((axis) => axis.coeffs.filter((term) => term.digit === digit && term.coeff !== 0));
  return coeffs.length === 1 && coeffs[0]!.coeff > 0;
};

export const isPlain = (view: View): boolean =>
  view.axes.every(({ div, indirect }) => div === 1 && indirect === undefined);

/** The axes of a view, with the axis moved by the cut digit and the axis moved by the lane digit. */
type Axes = {
  spans: readonly Span[];
  cutSpan: Span | undefined;
  laneSpan: Span | undefined;
  /** By how much the digit of lanes moves: elements of equal remainder modulo this lie together. */
  phases: number;
};

/**
 * A dimension of the copy: an axis, or, for a lane axis with several phases, either the remainders (without a span) or
 * the quotients.
 */
type Dimension = { axis: number; span: Span | undefined; size: number; coeff: number };

/**
 * Lays out a copy.
 * @param view Plain: without divisors and indices.
 * @param cut The digit to copy some values at a time, at most `length`; it moves along one axis.
 * @param lanes A digit whose elements should lie side by side; it moves along one axis. For moves by more than 1,
 *   elements with equal remainders lie together.
 * @returns undefined if other digits prevent the layout.
 */
export function layoutStrip(
  step: Step,
  view: View,
  { cut, length, lanes }: { cut: number | undefined; length: number; lanes?: number },
): StripLayout | undefined {
  const outs = step.outDigits.length;
  const radices = [...step.outDigits, ...step.redDigits];
  const spans = view.axes.map((axis) => spanOf(axis, radices));
  const laneSpan = lanes === undefined ? undefined : spans.find(({ moves }) => moves.has(lanes));
  const phases = laneSpan?.moves.get(lanes!) ?? 1;
  const cutSpan = cut === undefined ? undefined : spans.find(({ moves }) => moves.has(cut));
  const fits = [...(laneSpan?.moves ?? [])].every(([digit, move]) => digit >= outs || move % phases === 0);
  if (!fits || (phases > 1 && laneSpan === cutSpan)) return undefined;

  const axes: Axes = { spans, cutSpan, laneSpan, phases };
  const cutMove = cutSpan?.moves.get(cut!) ?? 0;
  const reach = cutSpan === undefined ? 0 : cutSpan.size - cutMove * (radices[cut!]! - 1);
  const dimensions = dimensionsOf(axes, cutMove * (length - 1) + reach);
  const strides = digitStrides(dimensions.map(({ size }) => size));
  const spec = copyLoop(step, view, axes, dimensions, strides);
  const place = elementPlace(axes, dimensions, strides);
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  return {
    stride: (digit) => FLOAT64 * place(new Map([[digit, 1]]), false),
    offsets: Array.from({ length: terms }, (_, r) => {
      const values = splitDigits(r, step.redDigits).map((value, k): [number, number] => [outs + k, value]);
      return FLOAT64 * place(new Map(values), true);
    }),
    elements: dimensions.reduce((product, { size }) => product * size, 1),
    spec,
    ...(cutSpan === undefined ? { move: 0, reach: spec.digits[0]!.radix } : { move: cutMove, reach }),
  };
}

/**
 * The dimensions of a copy, outermost first: the cut axis, the other ones and the phases, the lanes.
 * @param cutSize How much of the cut axis the copy holds: what `length` values of the cut digit reach.
 */
function dimensionsOf({ spans, cutSpan, laneSpan, phases }: Axes, cutSize: number): Dimension[] {
  const dimensions = spans.flatMap((span, axis): Dimension[] => {
    const size = span === cutSpan ? cutSize : span.size;
    if (span !== laneSpan || phases === 1) return [{ axis, span, size, coeff: span.unit }];
    const phase = { axis, span: undefined, size: phases, coeff: span.unit };
    return [phase, { axis, span, size: Math.ceil(size / phases), coeff: span.unit * phases }];
  });
  const rank = ({ span }: Dimension): number =>
    span === undefined ? 1 : span === laneSpan ? 2 : span === cutSpan ? 0 : 1;
  return dimensions.sort((a, b) => rank(a) - rank(b));
}

/**
 * Returns the loop that copies all elements read by the view. The first digit runs along the cut axis at full length.
 */
function copyLoop(
  step: Step,
  view: View,
  { spans, cutSpan }: Axes,
  dimensions: readonly Dimension[],
  strides: readonly number[],
): LoopSpec {
  const all = dimensions.map(({ size }, digit): LoopDigit => ({ digit, radix: size }));
  const cutDigit = dimensions.findIndex(({ span }) => cutSpan !== undefined && span === cutSpan);
  const digits =
    cutSpan === undefined
      ? all
      : [{ digit: cutDigit, radix: cutSpan.size }, ...all.filter(({ digit }) => digit !== cutDigit)];
  return {
    digits,
    reads: [
      {
        ...view,
        axes: view.axes.map((axis, k) => ({
          ...axis,
          base: spans[k]!.low,
          coeffs: dimensions.flatMap((dim, digit) => (dim.axis === k ? [{ digit, coeff: dim.coeff }] : [])),
        })),
      },
    ],
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
    constants: [],
    code: [],
    outs: [0],
    outStrides: digits.map(({ digit }) => strides[digit]!),
    widened: [0],
  };
}

/**
 * Returns a function that counts elements in the copy from the values of moving digits: the elements before a place, or
 * between two places.
 */
function elementPlace(
  { spans, laneSpan, phases }: Axes,
  dimensions: readonly Dimension[],
  strides: readonly number[],
): (values: ReadonlyMap<number, number>, isFromStart: boolean) => number {
  const strideOf = (span: Span | undefined): number => strides[dimensions.findIndex((dim) => dim.span === span)]!;
  return (values, isFromStart) =>
    spans.reduce((sum, span) => {
      const t = [...span.moves].reduce(
        (at, [digit, move]) => at + move * (values.get(digit) ?? 0),
        isFromStart ? span.first : 0,
      );
      if (span !== laneSpan || phases === 1) return sum + t * strideOf(span);
      return sum + (t % phases) * strideOf(undefined) + Math.floor(t / phases) * strideOf(span);
    }, 0);
}

/** Plans the copying. */
export function planCopy(
  resources: PlanResources,
  step: Step,
  { spec, move, reach }: StripLayout,
): (machine: Machine) => StripCopy {
  const loop = resources.loop(spec);
  const sources = resources.sources(step, spec);
  const bytesPerValue = spec.outStrides![0]! * FLOAT64;
  return ({ loops, clock }) => {
    const addresses = sources.map((region) => region?.address ?? 0);
    return (address, start, end) => {
      clock.enter("loops");
      const from = move * start;
      loops[loop]!(addresses, [address - from * bytesPerValue], from, move * (end - 1) + reach);
    };
  };
}
