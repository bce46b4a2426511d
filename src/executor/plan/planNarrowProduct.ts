import { BLOCK, PACKED_STEP } from "../../kernels/direct/narrowProduct.ts";
import type { OuterLoop } from "../../kernels/direct/outerLoops.ts";
import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { cutStrip, planDirectKernel } from "./planDirectKernel.ts";
import { planFactor } from "./planFactor.ts";
import type { Machine } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";
import { isConstantFactor, productLayout, sizeOf } from "./productLayout.ts";
import { isPlain, movesAlongOne } from "./stripLayout.ts";

const FLOAT32 = 4;
const ROWS = 4;
/** Fewer columns or rows waste most of a tile. */
const MIN_COLUMNS = 3;

const upTo = (count: number, multiple: number): number => Math.ceil(count / multiple) * multiple;

/**
 * Matrix products with constant factors and so few columns or terms that gathering vectors for the engine and
 * certifying its results costs more than the products: by a kernel that reads left factors from copies of some of the
 * input.
 * @returns undefined for what is no such product, or what another way does faster.
 */
export function planNarrowProduct(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const view = step.termReads[layout.left];
  const columnCount = sizeOf(columns);
  if (view === undefined || !isPlain(view) || !isConstantFactor(step, layout.right!)) return undefined;
  if (columnCount < MIN_COLUMNS) return undefined;

  // Results as the step's elements lie, rows or columns side by side.
  const isColumn = (digit: number): boolean => columns.some((each) => each.digit === digit);
  const outDigits = step.outDigits
    .map((radix, digit): LoopDigit => ({ digit, radix }))
    .filter(({ radix }) => radix > 1);
  const endsInColumns = isColumn(outDigits.at(-1)!.digit);
  const rowDigits = outDigits.filter(({ digit }) => rows.some((each) => each.digit === digit));
  const tiled = endsInColumns ? rowDigits.findLast(({ radix }) => radix >= ROWS) : outDigits.at(-1)!;
  if (tiled === undefined || !rowDigits.includes(tiled) || !movesAlongOne(view, tiled.digit)) return undefined;
  const around = outDigits.filter((each) => each !== tiled && !isColumn(each.digit));
  const cut = [...outDigits].find(({ digit }) => !isColumn(digit) && movesAlongOne(view, digit))!;
  const made = cutStrip(resources, step, view, cut);
  if (made === undefined) return undefined;
  const { strip, whole, length } = made;
  const terms = sizeOf(inner);
  if (!isFaster(resources, step, { columns: columnCount, rows: tiled.radix, terms, copied: whole.elements }))
    return undefined;

  // Pieces have the order of the output, with columns together where they come last.
  const pieceRadix = (each: LoopDigit): number => (each === cut ? length : each.radix);
  const order = endsInColumns ? [...outDigits.filter(({ digit }) => !isColumn(digit)), ...columns] : outDigits;
  const sizes = digitStrides(order.map(pieceRadix));
  const place = ({ digit }: LoopDigit): number => sizes[order.findIndex((each) => each.digit === digit)]! * FLOAT32;
  // Columns are taken row-major: neighbours lie evenly only if no other digit is between theirs.
  const columnOut = place(columns.at(-1)!);
  const isEven = columns.every((each, k) => place(each) === columnOut * sizeOf(columns.slice(k + 1)));
  if (!isEven) return undefined;
  const groupCount = sizeOf(groups);
  const blocks = Math.ceil(columnCount / BLOCK);
  const packed = { groups: groupCount, columns: columnCount, blocks, terms };
  const right = planFactor(resources, step, layout.right!, [...groups, ...columns, ...inner], {
    isWidened: true,
    replacement: {
      name: "packed columns",
      bytes: groupCount * blocks * (terms + 1) * PACKED_STEP,
      make: (machine, from, to) => pack(machine, from, to, packed),
    },
  });

  const groupStrides = digitStrides(groups.map(({ radix }) => radix));
  const loops = [...around].sort((a, b) => Number(b === cut) - Number(a === cut));
  const outer = loops.map((each): OuterLoop => {
    const group = groupStrides[groups.findIndex(({ digit }) => digit === each.digit)] ?? 0;
    return {
      radix: each.radix,
      left: strip.stride(each.digit),
      right: group * blocks * terms * PACKED_STEP,
      sums: group * blocks * PACKED_STEP,
      out: place(each),
    };
  });
  return planDirectKernel(resources, step, out, {
    spec: {
      narrow: {
        outer,
        rows: {
          count: tiled === cut ? undefined : tiled.radix,
          left: strip.stride(tiled.digit),
          out: place(tiled),
        },
        columns: { count: columnCount, out: columnOut },
        origin: strip.offsets[0]!,
        terms: inner.map(({ digit, radix }) => ({ radix, left: strip.stride(digit) })),
      },
    },
    ...{ cut, length, strip, right },
    overrun: ROWS * strip.stride(tiled.digit),
    sums: groupCount * blocks * terms * PACKED_STEP,
    move: tiled === cut ? { right: 0, sums: 0 } : outer[0]!,
    rightStep: PACKED_STEP,
    strides: step.outDigits.map((_, digit) => {
      const k = order.findIndex((each) => each.digit === digit);
      return k < 0 ? 0 : sizes[k]!;
    }),
    termNanoseconds: 0.1,
  });
}

/** Packs vectors for the kernel, with the sums of their magnitudes behind. */
function pack(
  { views }: Machine,
  from: number,
  to: number,
  { groups, columns, blocks, terms }: { groups: number; columns: number; blocks: number; terms: number },
): void {
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
 * Nanoseconds, measured with one thread on Zen 4. The kernel: a product, a result's rounding and certificate, an
 * element of a copy. The engine: a product in large matrices; what a vector's term costs for each of its results
 * (gathering it, and packing it again in the engine); what a result costs for each of its terms (storing it as float64,
 * norms, certificate). Loops of reductions: a product.
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
