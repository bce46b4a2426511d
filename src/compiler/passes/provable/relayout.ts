import { hasTwoResults } from "../../../program/reduction.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Axis, type Step, type View } from "../../../program/types.ts";
import { isInside, readsOf, rowMajorAxis, sibling, type Parts } from "./parts.ts";
import { operandSlots, withSlots } from "./slots.ts";

/** Returns the digits that a read depends on: the read's own digits, and the digits of index reads. */
function digitsOf(reads: readonly View[], view: View): Set<number> {
  const own = view.axes.flatMap(({ coeffs }) => coeffs.flatMap(({ digit, coeff }) => (coeff === 0 ? [] : [digit])));
  const indices = view.axes.flatMap(({ indirect }) =>
    indirect === undefined ? [] : [...digitsOf(reads, reads[indirect]!)],
  );
  return new Set([...own, ...indices]);
}

/** The step that copies for a read in a step's terms, and the read of the copy. */
export type ReadCopy = { copy: Step; view: View };

/**
 * Returns the step with chosen term reads replaced by copy reads. In a copy, all terms of an output are neighbours. The
 * copies come first.
 * @param chosen Numbers of reads and their copies.
 */
export function relayout(step: Step, chosen: ReadonlyMap<number, ReadCopy>): Parts {
  const inputs = [...step.inputs];
  const termReads = [...step.termReads];
  const copies = [...chosen].map(([read, { copy, view }], k) => {
    inputs.push(sibling(k, copy));
    termReads[read] = { ...view, input: inputs.length - 1 };
    return copy;
  });
  return [...copies, withoutUnusedReads({ ...step, inputs, termReads })];
}

/** The copies that could serve a read: none for one that gives others their indices. */
export function copiesOf(step: Step, read: number): ReadCopy[] {
  const isIndex = step.termReads.some(({ axes }) => axes.some(({ indirect }) => indirect === read));
  return isIndex ? [] : [axesCopy(step, read), valuesCopy(step, read)];
}

/** A dimension of a copy: how its coordinate moves the old axis, and how digits move the coordinate. */
type Dimension = { axis: number; plain: boolean; extent: number; by: number; base: number; coeffs: Axis["coeffs"] };

/**
 * Returns a read's dimensions. An axis never out of bounds has a dimension for each distance by which digits move the
 * axis; any other axis forms one dimension.
 */
function dimensionsOf({ outDigits, redDigits }: Step, view: View): Dimension[] {
  const radices = [...outDigits, ...redDigits];
  return view.axes.flatMap((own, axis): Dimension[] => {
    if (!isInside(own, radices))
      return [{ axis, plain: false, extent: own.extent, by: 1, base: 0, coeffs: own.coeffs }];
    const moving = own.coeffs.filter(({ digit, coeff }) => coeff !== 0 && radices[digit]! > 1);
    const distances = [...new Set(moving.map(({ coeff }) => Math.abs(coeff)))].sort((a, b) => b - a);
    return distances.map((by) => {
      const coeffs = moving.flatMap(({ digit, coeff }) =>
        Math.abs(coeff) === by ? [{ digit, coeff: Math.sign(coeff) }] : [],
      );
      const reach = (sign: number): number =>
        coeffs.reduce((sum, { digit, coeff }) => (coeff === sign ? sum + radices[digit]! - 1 : sum), 0);
      return { axis, plain: true, extent: reach(1) + reach(-1) + 1, by, base: reach(-1), coeffs };
    });
  });
}

/**
 * Returns a copy where the dimensions along which the reduction moves come last; the fastest digit's dimension is the
 * very last.
 */
function axesCopy(step: Step, read: number): ReadCopy {
  const view = step.termReads[read]!;
  const speed = ({ axis, coeffs }: Dimension): number => {
    const { indirect } = view.axes[axis]!;
    const index = indirect === undefined ? [] : [...digitsOf(step.termReads, step.termReads[indirect]!)];
    const digits = [...coeffs.flatMap(({ digit, coeff }) => (coeff === 0 ? [] : [digit])), ...index];
    return Math.max(-1, ...digits.filter((digit) => digit >= step.outDigits.length));
  };
  const order = dimensionsOf(step, view)
    .map((dimension) => ({ ...dimension, speed: speed(dimension) }))
    .sort((a, b) => a.speed - b.speed);
  const radices = order.length === 0 ? [1] : order.map(({ extent }) => extent);
  const strides = order.map((_, place) => product(radices.slice(place + 1)));

  const axes = view.axes.map((own, axis): Axis => {
    const parts = order.flatMap((dimension, digit) => (dimension.axis === axis ? [{ ...dimension, digit }] : []));
    const base = parts.reduce((sum, part) => (part.plain ? sum - part.by * part.base : 0), own.base);
    const coeffs = parts.map(({ digit, by }) => ({ digit, coeff: by }));
    return { extent: own.extent, stride: own.stride, base, div: 1, coeffs };
  });
  const plain = order.flatMap((dimension, place) =>
    dimension.plain ? [{ ...dimension, stride: strides[place]! }] : [],
  );
  const bounded = order.flatMap(({ plain: inside, axis }, place): Axis[] =>
    inside ? [] : [{ ...view.axes[axis]!, stride: strides[place]! }],
  );
  const moves = plain
    .flatMap(({ coeffs, stride }) => coeffs.map(({ digit, coeff }) => ({ digit, coeff: coeff * stride })))
    .sort((a, b) => a.digit - b.digit);
  const flat: Axis = {
    extent: plain.reduce((last, { extent, stride }) => last + (extent - 1) * stride, 1),
    stride: 1,
    base: plain.reduce((sum, { base, stride }) => sum + base * stride, 0),
    div: 1,
    coeffs: moves,
  };
  return {
    copy: copyStep(step, [{ ...view, axes }], radices),
    view: { ...view, axes: [...(plain.length > 0 ? [flat] : []), ...bounded] },
  };
}

/** Returns a read's values over the digits that the read depends on. */
function valuesCopy(step: Step, read: number): ReadCopy {
  const view = step.termReads[read]!;
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = [...digitsOf(step.termReads, view)].filter((digit) => radices[digit]! > 1).sort((a, b) => a - b);
  const indices = [...new Set(view.axes.flatMap(({ indirect }) => (indirect === undefined ? [] : [indirect])))];
  const renumbered = (old: View): View => ({
    ...old,
    axes: old.axes.map((axis) => ({
      ...axis,
      ...(axis.indirect === undefined ? {} : { indirect: indices.indexOf(axis.indirect) }),
      coeffs: axis.coeffs.flatMap(({ digit, coeff }) =>
        digits.includes(digit) ? [{ digit: digits.indexOf(digit), coeff }] : [],
      ),
    })),
  });
  const own = digits.length === 0 ? [1] : digits.map((digit) => radices[digit]!);
  const views = [...indices.map((k) => step.termReads[k]!), view].map(renumbered);
  const axes = digits.length === 0 ? [] : [rowMajorAxis(own, digits)];
  return { copy: copyStep(step, views, own), view: { input: 0, fill: 0n, axes } };
}

/** Returns a step that writes the last read only. */
function copyStep(step: Step, views: readonly View[], outDigits: readonly number[]): Step {
  const read = readsOf(step.inputs, views);
  return {
    dtype: step.inputs[views.at(-1)!.input]!.dtype,
    count: product(outDigits),
    inputs: read.inputs,
    outDigits,
    redDigits: [],
    reduce: Reduce.none,
    constants: [],
    termReads: [],
    epilogueReads: read.views,
    term: { code: [], outA: 0, outB: 0 },
    epilogue: { code: [], out: views.length - 1 },
  };
}

/** Leaves out the reads of terms, and the inputs, that nothing uses any more. */
function withoutUnusedReads(step: Step): Step {
  const { code, outA, outB } = step.term;
  const reads = step.termReads.length;
  const firstCode = reads + step.constants.length;
  const used = new Set<number>();
  const use = (slot: number): void => {
    if (used.has(slot)) return;
    used.add(slot);
    if (slot < reads) for (const { indirect } of step.termReads[slot]!.axes) if (indirect !== undefined) use(indirect);
    if (slot >= firstCode) operandSlots(code[slot - firstCode]!).forEach(use);
  };
  use(outA);
  if (hasTwoResults(step.reduce)) use(outB);
  const kept = step.termReads.map((_, n) => n).filter((n) => used.has(n));
  const slot = (old: number): number => (old < reads ? Math.max(0, kept.indexOf(old)) : old - reads + kept.length);
  const views = kept
    .map((n) => step.termReads[n]!)
    .map((view) => ({
      ...view,
      axes: view.axes.map((axis) => (axis.indirect === undefined ? axis : { ...axis, indirect: slot(axis.indirect) })),
    }));
  const both = readsOf(step.inputs, [...views, ...step.epilogueReads]);
  return {
    ...step,
    inputs: both.inputs,
    termReads: both.views.slice(0, views.length),
    epilogueReads: both.views.slice(views.length),
    term: {
      code: code.map((instruction) => withSlots(instruction, slot)),
      outA: slot(outA),
      outB: hasTwoResults(step.reduce) ? slot(outB) : 0,
    },
  };
}
