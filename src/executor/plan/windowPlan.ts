import { errorFactor } from "../../kernels/certify.ts";
import { ENTRY_BYTES } from "../../kernels/direct/rounding.ts";
import type { OuterLoop } from "../../kernels/direct/outerLoops.ts";
import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { NORMS_BYTES, settleTerms } from "../product/settleTerms.ts";
import { digitStrides } from "../splitStep.ts";
import { inOutOrder, planEpilogue } from "./epilogue.ts";
import { planFactor } from "./factor.ts";
import { partOf, ranges, type Machine, type Operation, type StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";
import { isConstantFactor, productLayout, sizeOf } from "./productLayout.ts";
import { isPlain, layoutStrip, movesAlongOne, planCopy, type StripLayout } from "./strip.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;
/** Terms that are unrolled: a window of 8 x 8. */
const MOST_TERMS = 64;
/** With more columns a matrix product reuses what it loads. */
const MOST_COLUMNS = 3;
const LEAST_LANES = 4;
/** A copy has this part of the elements that are gathered at a time: a quarter of a megabyte, which stays in the second cache with its results. */
const STRIP_PART = 1 / 8;

/**
 * Sums of few products with constant factors, as of depthwise convolutions over planes: computed in vectors that run along a row, from copies of some of
 * the input as float64.
 * @returns undefined for what is no such sum.
 */
export function windowPlan(planner: Planner, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const terms = sizeOf(inner);
  const view = step.termReads[layout.left];
  if (terms > MOST_TERMS || sizeOf(columns) > MOST_COLUMNS) return undefined;
  if (view === undefined || !isPlain(view) || !isConstantFactor(step, layout.right!)) return undefined;
  const lanes = chooseLanes(view, rows);
  if (lanes === undefined) return undefined;
  const around = [...groups, ...columns, ...rows.filter((digit) => digit !== lanes)];
  const cut = around.find(({ digit }) => movesAlongOne(view, digit));
  const made = cutStrip(step, view, lanes, cut, planner.options.chunkElements * STRIP_PART);
  if (made === undefined) return undefined;
  const { strip, length } = made;

  const loops = [cut ?? { digit: -1, radix: 1 }, ...around.filter((digit) => digit !== cut)];
  const sizes = digitStrides([...loops, lanes].map(({ radix }) => radix));
  const strides = step.outDigits.map((_, digit) => {
    const k = loops.findIndex((each) => each.digit === digit);
    return digit === lanes.digit ? 1 : (sizes[k] ?? 0);
  });
  const vectors = [...groups, ...columns];
  const vectorStrides = digitStrides(vectors.map(({ radix }) => radix));
  const vectorCount = sizeOf(vectors);
  const right = planFactor(planner, step, layout.right!, [...vectors, ...inner], {
    isWidened: true,
    afterwards: {
      bytes: vectorCount * FLOAT64,
      make({ views }, address) {
        const factors = views.float64(address, vectorCount * terms);
        const sums = views.float64(address + vectorCount * terms * FLOAT64, vectorCount);
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
  const copies = planCopy(planner, step, strip);
  const kernel = planner.direct({ outer, length: lanes.radix, offsets: strip.offsets });
  const order = inOutOrder(step, cut);
  const epilogue = planEpilogue(planner, step, strides, order, out);
  const perValue = step.count / loops[0]!.radix;
  const buffers = planner.perThread(() => ({
    left: planner.scratch(strip.elements * FLOAT64),
    results: planner.scratch(length * perValue * FLOAT32),
    list: planner.scratch(length * perValue * ENTRY_BYTES),
    factors: planner.scratch(2 * terms * FLOAT64 + NORMS_BYTES),
  }));
  return { shared: cut !== undefined, termNanoseconds: 0.15, prepare: right.prepare, bind };

  function bind(machine: Machine): Operation {
    const { views, stats, clock, kernels } = machine;
    const own = buffers[machine.thread]!;
    const call = machine.directs[kernel]!;
    const copy = copies(machine);
    const finish = epilogue.bind(machine);
    const factor = machine.isDoubtful ? Infinity : errorFactor(terms);
    const [left, results, list] = [own.left.address, own.results.address, own.list.address];
    const rightAddress = right.region!.address;
    const sums = rightAddress + vectorCount * terms * FLOAT64;
    const settle = settler(machine, own.factors.address);
    const pieces = cut === undefined ? [[0, 1] as const] : [...ranges(...partOf(cut.radix, machine), length)];
    return () => {
      for (const [start, end] of pieces) {
        copy(left, start, end);
        clock.enter("reductions");
        const bound = factor * kernels.largest(left, strip.elements);
        const { right: rightStep, sums: sumStep } = outer[0]!;
        const from = [left, rightAddress + start * rightStep, sums + start * sumStep] as const;
        const listEnd = call(...from, results, list, bound, factor, end - start);
        stats.elements += (end - start) * perValue;
        if (listEnd > list) settle(list, (listEnd - list) / ENTRY_BYTES);
        if (cut === undefined) finish([results], 0, order.radix);
        else finish([results - start * perValue * FLOAT32], start, end);
      }
    };

    /** Settles what a kernel lists: gathers the terms. */
    function settler(machine: Machine, factors: number): (list: number, count: number) => void {
      const all = new Float64Array(views.buffer as ArrayBuffer);
      const words = new Uint32Array(views.buffer as ArrayBuffer);
      const settled = settleTerms(machine, terms, factors + 2 * terms * FLOAT64);
      const gathered = views.float64(factors, terms);
      return (address, count) => {
        clock.enter("patch");
        stats.flagged += count;
        const entries = views.uint32(address, (count * ENTRY_BYTES) / 4);
        for (let at = 0; at < entries.length; at += 3) {
          const [to, from, right] = [entries[at]!, entries[at + 1]!, entries[at + 2]!];
          for (let t = 0; t < terms; t++) gathered[t] = all[(from + strip.offsets[t]!) / FLOAT64]!;
          words[to / 4] = settled(factors, right);
        }
      };
    }
  }
}

/** The digit of rows in which elements lie side by side, or else the longest one. */
function chooseLanes(view: View, rows: readonly LoopDigit[]): LoopDigit | undefined {
  const step = ({ digit }: LoopDigit): number =>
    view.axes.reduce((sum, { coeffs, stride }) => {
      return sum + stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0);
    }, 0);
  const possible = rows.filter((each) => each.radix >= LEAST_LANES && movesAlongOne(view, each.digit));
  return possible.findLast((each) => step(each) === 1) ?? possible.sort((a, b) => b.radix - a.radix)[0];
}

/** A copy of as many values of the cut digit as have `most` elements. */
function cutStrip(
  step: Step,
  view: View,
  lanes: LoopDigit,
  cut: LoopDigit | undefined,
  most: number,
): { strip: StripLayout; length: number } | undefined {
  const planned = (length: number): StripLayout | undefined =>
    layoutStrip(step, view, { cut: cut?.digit, length, lanes: lanes.digit });
  const radix = cut?.radix ?? 1;
  const whole = planned(radix);
  // Views that jump leave most of a copy unread.
  if (whole === undefined || whole.elements > step.count * whole.offsets.length) return undefined;
  const values = Math.max(1, Math.floor((radix * most) / whole.elements));
  // Pieces of equal length, so that the last one is not a remnant.
  const length = Math.ceil(radix / Math.ceil(radix / Math.min(radix, values)));
  return length === radix ? { strip: whole, length } : { strip: planned(length)!, length };
}
