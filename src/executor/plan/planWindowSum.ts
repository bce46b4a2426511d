import type { OuterLoop } from "../../numerics/kernels/direct/outerLoops.ts";
import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { cutStrip, planDirectKernel } from "./planDirectKernel.ts";
import { planFactor } from "./planFactor.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";
import { isConstantFactor, productLayout, sizeOf } from "./productLayout.ts";
import { isPlain, movesAlongOne } from "./stripLayout.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;
/** The maximum number of terms that are unrolled: a window of 8 x 8. */
const MAX_TERMS = 64;
/** With more columns, a matrix product reuses loaded values. */
const MAX_COLUMNS = 3;
const MIN_LANES = 4;
const MIN_ROWS = 4;

/**
 * Plans small sums of products with constant factors, for example depthwise convolutions over planes. Vectors run along
 * a row and read float64 copies of parts of the input.
 * @returns undefined for other sums.
 */
export function planWindowSum(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const layout = productLayout(step, resources.options);
  const { groups, rows, columns, inner } = layout;
  const terms = sizeOf(inner);
  const view = step.termReads[layout.left];
  if (terms > MAX_TERMS || sizeOf(columns) > MAX_COLUMNS) return undefined;
  if (view === undefined || !isPlain(view) || !isConstantFactor(step, layout.right!)) return undefined;
  const lanes = chooseLanes(view, rows);
  if (lanes === undefined) return undefined;
  const around = [...groups, ...columns, ...rows.filter((digit) => digit !== lanes)];
  const possible = around.filter(({ digit }) => movesAlongOne(view, digit));
  const outermost = possible.toSorted((a, b) => a.digit - b.digit)[0];
  const rowwise = walksFar(step, view, possible[0], lanes)
    ? cutStrip(resources, step, view, outermost, lanes)
    : undefined;
  // Copies of few rows are read in short runs, and overlap the most.
  const isRowwise = rowwise !== undefined && rowwise.length >= MIN_ROWS;
  const cut = isRowwise ? outermost : possible[0];
  const made = isRowwise ? rowwise : cutStrip(resources, step, view, cut, lanes);
  if (made === undefined) return undefined;
  const { strip, length } = made;

  const loops = [cut ?? { digit: -1, radix: 1 }, ...around.filter((digit) => digit !== cut)];
  const sizes = digitStrides([...loops, lanes].map(({ radix }) => radix));
  const vectors = [...groups, ...columns];
  const vectorStrides = digitStrides(vectors.map(({ radix }) => radix));
  const count = sizeOf(vectors);
  const right = planFactor(resources, step, layout.right!, [...vectors, ...inner], {
    isWidened: true,
    afterwards: {
      name: "sums of magnitudes",
      bytes: count * FLOAT64,
      make({ views }, address) {
        const factors = views.float64(address, count * terms);
        const sums = views.float64(address + count * terms * FLOAT64, count);
        sums.forEach((_, v) => {
          sums[v] = factors.subarray(v * terms, (v + 1) * terms).reduce((sum, factor) => sum + Math.abs(factor), 0);
        });
      },
    },
  });
  const outer = loops.map(({ digit, radix }, k): OuterLoop => {
    const vector = vectorStrides[vectors.findIndex((each) => each.digit === digit)] ?? 0;
    return {
      radix,
      left: digit < 0 ? 0 : strip.stride(digit),
      right: vector * terms * FLOAT64,
      sums: vector * FLOAT64,
      out: sizes[k]! * FLOAT32,
    };
  });
  return planDirectKernel(resources, step, out, {
    spec: { window: { outer, length: lanes.radix, offsets: strip.offsets } },
    ...{ cut, length, strip, right },
    overrun: 0,
    sums: count * terms * FLOAT64,
    move: outer[0]!,
    rightStep: FLOAT64,
    strides: step.outDigits.map((_, digit) => {
      const k = loops.findIndex((each) => each.digit === digit);
      return digit === lanes.digit ? 1 : (sizes[k] ?? 0);
    }),
    termNanoseconds: 0.15,
  });
}

/** Tensors of more bytes do not stay in the second-level cache from one plane to the next. */
const LARGE = 2 ** 21;

/**
 * Whether cutting groups would walk through all of a large tensor for each group, because its groups lie side by side.
 * Otherwise groups are cut if possible, because copies of groups do not overlap.
 */
function walksFar(step: Step, view: View, group: LoopDigit | undefined, lanes: LoopDigit): boolean {
  if (group === undefined) return false;
  const isFarOut = step.count * FLOAT32 > LARGE && group.digit > lanes.digit;
  return isFarOut || (step.inputs[view.input]!.count * FLOAT32 > LARGE && moveOf(view, group) < moveOf(view, lanes));
}

/** Returns how many elements a digit moves a view. */
const moveOf = (view: View, { digit }: LoopDigit): number =>
  view.axes.reduce((sum, { coeffs, stride }) => {
    return sum + stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0);
  }, 0);

/** Returns the row digit whose elements lie side by side; without such a digit, the longest row digit. */
function chooseLanes(view: View, rows: readonly LoopDigit[]): LoopDigit | undefined {
  const possible = rows.filter((each) => each.radix >= MIN_LANES && movesAlongOne(view, each.digit));
  return possible.findLast((each) => moveOf(view, each) === 1) ?? possible.sort((a, b) => b.radix - a.radix)[0];
}
