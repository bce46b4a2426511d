import { errorFactor } from "../../numerics/kernels/certify.ts";
import type { DirectSpec } from "../../numerics/kernels/direct/directKernels.ts";
import { ENTRY_BYTES } from "../../numerics/kernels/direct/rounding.ts";
import type { Step, View } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { NORMS_BYTES, settleTerms } from "../product/settleTerms.ts";
import { inOutOrder, planEpilogue } from "./planEpilogue.ts";
import type { Factor } from "./planFactor.ts";
import type { Machine, Operation } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import { partOf, ranges } from "./ranges.ts";
import type { PlanResources } from "./planResources.ts";
import { layoutStrip, planCopy, type StripLayout } from "./stripLayout.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;

/**
 * The copy's size, relative to the elements gathered at a time: a quarter of a megabyte, which fits into the
 * second-level cache together with the results.
 */
const STRIP_PART = 1 / 8;

/** A kernel for a step, and its arguments. */
type DirectParts = {
  spec: DirectSpec;
  /** The digit to cut, if any, and the number of its values in a piece. */
  cut: LoopDigit | undefined;
  length: number;
  strip: StripLayout;
  /** Bytes that a kernel may read past the copy. */
  overrun: number;
  /** Right factors and `sums` bytes later the sums of their magnitudes; both move with values of the cut digit. */
  right: Factor;
  sums: number;
  move: { right: number; sums: number };
  /** The bytes from one right factor to the next term's right factor. */
  rightStep: number;
  /** For each out digit, its stride in a piece's results. */
  strides: readonly number[];
  termNanoseconds: number;
};

/**
 * Lays out a copy for the values of a digit that fit into the cache.
 * @returns undefined if a copy for all values would be larger than the reads from the copy
 */
export function cutStrip(
  resources: PlanResources,
  step: Step,
  view: View,
  cut: LoopDigit | undefined,
  lanes?: LoopDigit,
): { strip: StripLayout; whole: StripLayout; length: number } | undefined {
  const laidOut = (length: number): StripLayout | undefined =>
    layoutStrip(step, view, { cut: cut?.digit, length, ...(lanes === undefined ? {} : { lanes: lanes.digit }) });
  const radix = cut?.radix ?? 1;
  const whole = laidOut(radix);
  if (whole === undefined || whole.elements > step.count * whole.offsets.length) return undefined;
  const maxLength = Math.floor((radix * resources.options.chunkElements * STRIP_PART) / whole.elements);
  // Pieces have equal length, to avoid a much shorter last piece.
  const length = Math.ceil(radix / Math.ceil(radix / Math.min(radix, Math.max(1, maxLength))));
  return { whole, length, strip: laidOut(length)! };
}

/**
 * Plans a step for a kernel that works piece by piece: it sums products with left factors read from a copy of the
 * input.
 */
export function planDirectKernel(resources: PlanResources, step: Step, out: Region, parts: DirectParts): StepPlan {
  const { cut, length, strip, right, rightStep, move } = parts;
  const terms = strip.offsets.length;
  const copies = planCopy(resources, step, strip);
  const kernel = resources.direct(parts.spec);
  const order = inOutOrder(step, cut);
  const epilogue = planEpilogue(resources, step, parts.strides, order, out);
  const perValue = step.count / (cut?.radix ?? 1);
  const buffers = resources.perThread(() => ({
    left: resources.scratch(strip.elements * FLOAT64 + parts.overrun),
    results: resources.scratch(length * perValue * FLOAT32),
    list: resources.scratch(length * perValue * ENTRY_BYTES),
    factors: resources.scratch(2 * terms * FLOAT64 + NORMS_BYTES),
  }));
  return { shared: cut !== undefined, termNanoseconds: parts.termNanoseconds, prepare: right.prepare, bind };

  function bind(machine: Machine): Operation {
    const { stats, clock, kernels } = machine;
    const own = buffers[machine.thread]!;
    const call = machine.directs[kernel]!;
    const copy = copies(machine);
    const finish = epilogue.bind(machine);
    const factor = machine.alwaysExact ? Infinity : errorFactor(terms);
    const [left, results, list] = [own.left.address, own.results.address, own.list.address];
    const weights = right.region!.address;
    const settle = settler(machine, own.factors.address);
    const cutBytes = cut === undefined ? 0 : parts.strides[cut.digit]! * FLOAT32;
    const pieces = cut === undefined ? [[0, 1] as const] : [...ranges(...partOf(cut.radix, machine), length)];
    return () => {
      for (const [start, end] of pieces) {
        copy(left, start, end);
        clock.enter("reductions");
        const bound = factor * kernels.largest(left, strip.elements);
        const from = [left, weights + start * move.right, weights + parts.sums + start * move.sums] as const;
        const listEnd = call(...from, results, list, bound, factor, end - start);
        stats.elements += (end - start) * perValue;
        if (listEnd > list) settle(list, (listEnd - list) / ENTRY_BYTES);
        if (cut === undefined) finish([results], 0, order.radix);
        else finish([results - start * cutBytes], start, end);
      }
    };
  }

  /** Makes a function that settles the sums that a kernel lists, by gathering their terms. */
  function settler(machine: Machine, factors: number): (list: number, count: number) => void {
    const { views, stats, clock } = machine;
    const all = new Float64Array(views.buffer as ArrayBuffer);
    const words = new Uint32Array(views.buffer as ArrayBuffer);
    const settled = settleTerms(machine, terms, factors + 2 * terms * FLOAT64);
    const gathered = views.float64(factors, 2 * terms);
    return (address, count) => {
      clock.enter("patch");
      stats.flagged += count;
      const entries = views.uint32(address, (count * ENTRY_BYTES) / 4);
      for (let at = 0; at < entries.length; at += 3) {
        const [to, from, weight] = [entries[at]!, entries[at + 1]!, entries[at + 2]!];
        for (let t = 0; t < terms; t++) {
          gathered[t] = all[(from + strip.offsets[t]!) / FLOAT64]!;
          gathered[terms + t] = all[(weight + t * rightStep) / FLOAT64]!;
        }
        words[to / 4] = settled(factors, factors + terms * FLOAT64);
      }
    };
  }
}
