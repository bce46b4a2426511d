import { BLOCK, PACKED_STEP } from "../../numerics/kernels/direct/narrowProduct.ts";
import type { OuterLoop } from "../../numerics/kernels/direct/outerLoops.ts";
import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { cutStrip, planDirectKernel } from "./planDirectKernel.ts";
import { planFactor, type Factor } from "./planFactor.ts";
import type { Machine } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";
import { isConstantFactor, productLayout, sizeOf, type ProductLayout } from "./productLayout.ts";
import { isPlain, movesAlongOne, type StripLayout } from "./stripLayout.ts";

const FLOAT32 = 4;
const ROWS = 4;
/** Fewer columns or rows waste most of a tile. */
const MIN_COLUMNS = 3;

const upTo = (count: number, multiple: number): number => Math.ceil(count / multiple) * multiple;

/**
 * Plans a matrix product with a constant factor and few columns or terms. For such products, gathering vectors for the
 * engine and certifying its results would cost more than the products. A kernel reads the left factors from copies of
 * parts of the input.
 * @returns undefined for other products, or if another plan runs faster.
 */
export function planNarrowProduct(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const layout = productLayout(step, resources.options);
  const { groups, columns, inner } = layout;
  const view = step.termReads[layout.left];
  const columnCount = sizeOf(columns);
  if (view === undefined || !isPlain(view) || !isConstantFactor(step, layout.right!)) return undefined;
  if (columnCount < MIN_COLUMNS) return undefined;
  const arranged = arrangeDigits(step, layout, view);
  if (arranged === undefined) return undefined;
  const { tiled, cut } = arranged;
  const made = cutStrip(resources, step, view, cut);
  if (made === undefined) return undefined;
  const { strip, whole, length } = made;
  const terms = sizeOf(inner);
  if (!isFaster(resources, step, { columns: columnCount, rows: tiled.radix, terms, copied: whole.elements }))
    return undefined;
  const results = placeResults(step, layout, arranged, length);
  if (results === undefined) return undefined;

  const packed = { groups: sizeOf(groups), columns: columnCount, blocks: Math.ceil(columnCount / BLOCK), terms };
  const right = planPackedColumns(resources, step, layout, packed);
  const outer = outerLoops(layout, arranged, packed, strip, results.place);
  return planDirectKernel(resources, step, out, {
    spec: {
      narrow: {
        outer,
        rows: {
          count: tiled === cut ? undefined : tiled.radix,
          left: strip.stride(tiled.digit),
          out: results.place(tiled),
        },
        columns: { count: columnCount, out: results.columnOut },
        origin: strip.offsets[0]!,
        terms: inner.map(({ digit, radix }) => ({ radix, left: strip.stride(digit) })),
      },
    },
    ...{ cut, length, strip, right },
    overrun: ROWS * strip.stride(tiled.digit),
    sums: packed.groups * packed.blocks * terms * PACKED_STEP,
    move: tiled === cut ? { right: 0, sums: 0 } : outer[0]!,
    rightStep: PACKED_STEP,
    strides: results.strides,
    termNanoseconds: 0.1,
  });
}

/** The out digits of radix above 1 and their parts in the kernel's loops. */
type Arrangement = {
  outDigits: readonly LoopDigit[];
  /** True if the output's last digits are columns, so columns lie side by side; otherwise rows do. */
  endsInColumns: boolean;
  /** The row digit followed by tiles of ROWS rows. */
  tiled: LoopDigit;
  /** The digits for groups and for the other rows. */
  around: readonly LoopDigit[];
  /** The digit whose values are cut into pieces. */
  cut: LoopDigit;
};

const isOneOf = (digits: readonly LoopDigit[], { digit }: LoopDigit): boolean =>
  digits.some((each) => each.digit === digit);

/**
 * Arranges the digits to keep the results in the step's element order.
 * @returns undefined if no digit can be tiled
 */
function arrangeDigits(step: Step, { rows, columns }: ProductLayout, view: View): Arrangement | undefined {
  const outDigits = step.outDigits
    .map((radix, digit): LoopDigit => ({ digit, radix }))
    .filter(({ radix }) => radix > 1);
  const endsInColumns = isOneOf(columns, outDigits.at(-1)!);
  const rowDigits = outDigits.filter((each) => isOneOf(rows, each));
  const tiled = endsInColumns ? rowDigits.findLast(({ radix }) => radix >= ROWS) : outDigits.at(-1)!;
  if (tiled === undefined || !rowDigits.includes(tiled) || !movesAlongOne(view, tiled.digit)) return undefined;
  const around = outDigits.filter((each) => each !== tiled && !isOneOf(columns, each));
  const cut = outDigits.find((each) => !isOneOf(columns, each) && movesAlongOne(view, each.digit))!;
  return { outDigits, endsInColumns, tiled, around, cut };
}

/** Where the results of a piece lie. */
type ResultPlaces = {
  /** Bytes by which a digit moves a result. */
  place: (digit: LoopDigit) => number;
  /** Bytes from a column's result to the next column's. */
  columnOut: number;
  /** For each out digit, its stride in a piece's results. */
  strides: readonly number[];
};

/**
 * Places a piece's results in output order, with columns together if the output ends in columns.
 * @param length The number of values of the cut digit in a piece.
 * @returns undefined if another digit comes between the columns' digits: row-major columns would then not lie evenly.
 */
function placeResults(
  step: Step,
  { columns }: ProductLayout,
  { outDigits, endsInColumns, cut }: Arrangement,
  length: number,
): ResultPlaces | undefined {
  const order = endsInColumns ? [...outDigits.filter((each) => !isOneOf(columns, each)), ...columns] : outDigits;
  const sizes = digitStrides(order.map((each) => (each === cut ? length : each.radix)));
  const indexOf = (digit: number): number => order.findIndex((each) => each.digit === digit);
  const place = ({ digit }: LoopDigit): number => sizes[indexOf(digit)]! * FLOAT32;
  const columnOut = place(columns.at(-1)!);
  const isEven = columns.every((each, k) => place(each) === columnOut * sizeOf(columns.slice(k + 1)));
  if (!isEven) return undefined;
  return { place, columnOut, strides: step.outDigits.map((_, digit) => sizes[indexOf(digit)] ?? 0) };
}

/** The group count, and per group the numbers of columns, terms, and BLOCK-column blocks. */
type PackedCounts = { groups: number; columns: number; blocks: number; terms: number };

/** Plans the packing of the constant factor's columns. */
function planPackedColumns(
  resources: PlanResources,
  step: Step,
  { right, groups, columns, inner }: ProductLayout,
  counts: PackedCounts,
): Factor {
  return planFactor(resources, step, right!, [...groups, ...columns, ...inner], {
    isWidened: true,
    replacement: {
      name: "packed columns",
      bytes: counts.groups * counts.blocks * (counts.terms + 1) * PACKED_STEP,
      make: (machine, from, to) => pack(machine, from, to, counts),
    },
  });
}

/** The loops around the kernel's tiles; that of the cut digit is the first. */
function outerLoops(
  { groups }: ProductLayout,
  { around, cut }: Arrangement,
  { blocks, terms }: PackedCounts,
  strip: StripLayout,
  place: ResultPlaces["place"],
): OuterLoop[] {
  const groupStrides = digitStrides(groups.map(({ radix }) => radix));
  const loops = [...around].sort((a, b) => Number(b === cut) - Number(a === cut));
  return loops.map((each) => {
    const group = groupStrides[groups.findIndex(({ digit }) => digit === each.digit)] ?? 0;
    return {
      radix: each.radix,
      left: strip.stride(each.digit),
      right: group * blocks * terms * PACKED_STEP,
      sums: group * blocks * PACKED_STEP,
      out: place(each),
    };
  });
}

/** Packs vectors for the kernel, followed by the sums of their magnitudes. */
function pack({ views }: Machine, from: number, to: number, { groups, columns, blocks, terms }: PackedCounts): void {
  const vectors = views.float64(from, groups * columns * terms);
  const packed = views.float64(to, groups * blocks * (terms + 1) * BLOCK).fill(0);
  const sums = packed.subarray(groups * blocks * terms * BLOCK);
  for (let vector = 0; vector < groups * columns; vector++) {
    const [group, column] = [Math.floor(vector / columns), vector % columns];
    const block = group * blocks + Math.floor(column / BLOCK);
    const lane = column % BLOCK;
    for (let t = 0; t < terms; t++) {
      const factor = vectors[vector * terms + t]!;
      packed[(block * terms + t) * BLOCK + lane] = factor;
      sums[block * BLOCK + lane]! += Math.abs(factor);
    }
  }
}

/*
 * Nanoseconds, measured with one thread on Zen 4. KERNEL: a product; the rounding and certificate of a result; an
 * element of a copy. ENGINE: a product in large matrices; a term of a vector, for each of its results (gathering it,
 * and packing it again in the engine); a result, for each of its terms (storing it as float64, norms, certificate).
 * LOOP: a product in a loop of reductions.
 */
const KERNEL = { product: 0.08, result: 0.5, copied: 0.5 };
const ENGINE = { product: 0.043, gathered: 1.5, result: 1.6 };
const LOOP = 0.35;

/**
 * Whether the kernel is expected to take less time than the engine, or than loops where there is too little work for
 * the engine.
 */
function isFaster(
  resources: PlanResources,
  step: Step,
  { columns, rows, terms, copied }: { columns: number; rows: number; terms: number; copied: number },
): boolean {
  const work = step.count * terms;
  const filled = (columns / upTo(columns, BLOCK)) * (rows / upTo(rows, ROWS));
  const kernel = KERNEL.product / filled + KERNEL.result / terms + (KERNEL.copied * copied) / work;
  const engine = ENGINE.product + ENGINE.gathered / columns + ENGINE.result / terms;
  return kernel < (work < resources.options.minEngineWork ? LOOP : engine);
}
