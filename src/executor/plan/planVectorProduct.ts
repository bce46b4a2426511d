import { errorFactor } from "../../numerics/kernels/certify.ts";
import { MAX_VECTORS } from "../../numerics/kernels/vectorProduct.ts";
import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Machine, Operation } from "../machine.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { inOutOrder, isIdentityEpilogue, planEpilogue } from "./planEpilogue.ts";
import { planFactor } from "./planFactor.ts";
import { inTurn } from "./planFloatProduct.ts";
import { planWidened, type Sums } from "./planWidened.ts";
import { textOf, type PlanResources } from "./planResources.ts";
import { isConstantFactor, isPackedFactor, MAX_HELD, productLayout, sizeOf } from "./productLayout.ts";
import { partOf } from "./ranges.ts";
import type { StepPlan } from "./stepPlan.ts";
import { NORMS_BYTES, settleTerms } from "../product/settleTerms.ts";
import { isPlain } from "./stripLayout.ts";

const FLOAT64 = 8;
const FLOAT32 = 4;
const UINT32 = 4;
/** The sums to add to at a time: the sums stay in the cache while rows of the matrix pass. */
const SUMS = 4096;
/** The approximate nanoseconds per weight, all spent waiting for memory. */
const TERM_NANOSECONDS = 0.25;
/** The approximate nanoseconds per product by the engine, with the weights' part in widening. */
const ENGINE_NANOSECONDS = 0.1;

/** A constant matrix as it lies in memory: elements from its start, and from a row or column to the next one. */
type Matrix = { first: number; isByRows: boolean; stride: number };

/**
 * Plans the product of a vector with a constant float32 matrix, for example in a language model taking one token at a
 * time; in a block of items, also of a few vectors. The plan reads the matrix in place, each weight once. The error
 * bound uses norms of the vectors and the columns, like the engine's products.
 * @returns undefined if the step is no such product, or too small for a benefit.
 */
export function planVectorProduct(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  const { minEngineWork, packs = false } = resources.options;
  const options = { ...resources.options, packs: false };
  const { groups, rows, columns, inner, left, right } = productLayout(step, options);
  const [vectors, count, terms] = [rows, columns, inner].map(sizeOf) as [number, number, number];
  const view = step.termReads[right!];
  if (
    groups.length > 0 ||
    vectors * terms > (packs ? MAX_HELD : terms) ||
    count * terms < minEngineWork ||
    minEngineWork === 0
  )
    return undefined;
  if (view === undefined || !isConstantFactor(step, right!) || isPackedFactor(step, right!, options)) return undefined;
  // Results lie vector by vector.
  if (rows.some(({ digit }) => columns.some((column) => column.digit < digit))) return undefined;
  const matrix = matrixOf(view, columns, inner);
  const ref = step.inputs[view.input]!;
  if (matrix === undefined || ref.dtype !== DType.float32) return undefined;

  const isWidened = vectors > MAX_VECTORS;
  // Weights are widened by pieces, which are cut by the first column digit alone.
  if (isWidened && (count / columns[0]!.radix) * terms > MAX_HELD) return undefined;

  const vector = planFactor(resources, step, left, [...rows, ...inner], { isWidened: true });
  const weights = resources.source(ref);
  const { norms, loaded } = planNorms(resources, ref, matrix, { count, terms });
  const handsOn = isIdentityEpilogue(step);
  const results = handsOn ? out : resources.scratch(step.count * FLOAT32);
  const order = inOutOrder(step, columns[0]);
  const epilogue = handsOn ? undefined : planEpilogue(resources, step, digitStrides(step.outDigits), order, out);
  const widened = isWidened
    ? planWidened(resources, step, { slot: right!, columns, inner, vectors, isByTerms: matrix.isByRows })
    : undefined;
  const sums = resources.scratch(isWidened ? 0 : vectors * count * FLOAT64);
  const flagged = resources.scratch(count * UINT32);
  const own = resources.perThread(() => ({
    vector: resources.scratch(vectors * terms * FLOAT64),
    norm: resources.scratch(vectors * FLOAT64),
    column: resources.scratch(terms * FLOAT64),
    settling: resources.scratch(NORMS_BYTES),
  }));
  const firstRadix = columns[0]!.radix;
  const perValue = count / firstRadix;
  const factor = errorFactor(terms);
  const termNanoseconds = isWidened ? ENGINE_NANOSECONDS : TERM_NANOSECONDS / vectors;
  return { shared: true, termNanoseconds, loaded, bind };

  function bind(machine: Machine): Operation {
    const { stats, clock, kernels, views, alwaysExact } = machine;
    const { norm, column: own64, settling, ...buffers } = own[machine.thread]!;
    const gather = vector.bind(machine);
    const from = (vector.region ?? buffers.vector).address;
    const [start, end] = partOf(firstRadix, machine);
    const [first, last] = [start * perValue, end * perValue];
    const list = flagged.address + first * UINT32;
    const finish = epilogue?.bind(machine);
    const bits = views.uint32(results.address, vectors * count);
    const settled = settleTerms(machine, terms, settling.address);
    const pieces = widened?.bind(
      machine,
      { vectors: from, norms: norm.address, columnNorms: norms.address },
      [start, end],
      round,
    );
    return () => {
      gather(from, 0, vector.firstRadix);
      clock.enter("products");
      kernels.norms(from, terms, vectors, norm.address);
      stats.elements += (last - first) * vectors;
      if (pieces !== undefined) {
        const pending = inTurn(pieces);
        return pending === undefined ? conclude() : pending.then(conclude);
      }
      multiply(machine, from, first, last);
      round({ first, last, values: sums.address + first * FLOAT64, apart: count * FLOAT64 });
      conclude();
    };

    /** Rounds sums of some columns, and settles those that the bound does not settle. */
    function round({ first: column, last: end, values, apart }: Sums): void {
      for (let row = 0; row < vectors; row++) {
        clock.enter("certify");
        const at = row * count + column;
        const some = kernels.certify(
          ...[values + row * apart, norm.address + row * FLOAT64, norms.address + column * FLOAT64],
          ...[results.address + at * FLOAT32, 1, end - column, factor, list],
        );
        const found = alwaysExact ? end - column : some;
        if (found === 0) continue;
        clock.enter("patch");
        stats.flagged += found;
        const indices = views.uint32(list, found);
        for (let k = 0; k < found; k++) {
          const index = alwaysExact ? k : indices[k]!;
          gatherColumn(machine, column + index, own64.address);
          bits[at + index] = settled(from + row * terms * FLOAT64, own64.address);
        }
      }
    }

    function conclude(): void {
      finish?.([results.address], start, end);
    }
  }

  /** Widens a column of the matrix. */
  function gatherColumn({ views }: Machine, column: number, to: number): void {
    const { first, isByRows, stride } = matrix!;
    const [apart, step] = isByRows ? [1, stride] : [stride, 1];
    const all = views.float32(weights.address, ref.count);
    const target = views.float64(to, terms);
    for (let k = 0, at = first + column * apart; k < terms; k++, at += step) target[k] = all[at]!;
  }

  /** The float64 sums of columns `first .. last - 1`. */
  function multiply({ kernels, views }: Machine, from: number, first: number, last: number): void {
    const { isByRows, stride } = matrix!;
    const origin = weights.address + matrix!.first * FLOAT32;
    const sumsFrom = (column: number): number => sums.address + column * FLOAT64;
    const [bytes, apart] = [stride * FLOAT32, count * FLOAT64];
    if (!isByRows) {
      const at = origin + first * stride * FLOAT32;
      kernels.vectorsByColumns[vectors]!(from, at, sumsFrom(first), terms, last - first, bytes, apart);
      return;
    }
    for (let row = 0; row < vectors; row++) views.float64(sumsFrom(row * count + first), last - first).fill(0);
    const most = Math.floor(SUMS / vectors);
    for (let column = first; column < last; column += most) {
      const some = Math.min(most, last - column);
      kernels.vectorsByRows[vectors]!(
        ...[from, origin + column * FLOAT32, sumsFrom(column)],
        ...[terms, some, bytes, apart],
      );
    }
  }
}

/** Plans the norms of a matrix's columns, once for all steps that multiply with the matrix. */
function planNorms(
  resources: PlanResources,
  ref: TensorRef,
  matrix: Matrix,
  { count, terms }: Record<"count" | "terms", number>,
): { norms: Region; loaded?: (machine: Machine) => void } {
  const weights = resources.source(ref);
  const known = resources.once(textOf({ ref, matrix, count, terms }), count * FLOAT64);
  if (known.isKnown) return { norms: known.region };
  const loaded = ({ views }: Machine): void => {
    const all = views.float32(weights.address, ref.count).subarray(matrix.first);
    const squares = views.float64(known.region.address, count).fill(0);
    const { isByRows, stride } = matrix;
    const [lines, length] = isByRows ? [terms, count] : [count, terms];
    for (let line = 0; line < lines; line++)
      for (let k = 0, at = line * stride; k < length; k++, at++) squares[isByRows ? k : line]! += all[at]! * all[at]!;
    for (let n = 0; n < count; n++) squares[n] = Math.sqrt(squares[n]!);
  };
  return { norms: known.region, loaded };
}

/** Returns a view's matrix layout; undefined unless the columns or the terms lie side by side. */
function matrixOf(view: View, columns: readonly LoopDigit[], inner: readonly LoopDigit[]): Matrix | undefined {
  if (!isPlain(view)) return undefined;
  const radixOf = new Map([...columns, ...inner].map(({ digit, radix }) => [digit, radix]));
  let first = 0;
  const strides = new Map<number, number>();
  for (const { extent, stride, base, coeffs } of view.axes) {
    let [min, max] = [base, base];
    for (const { digit, coeff } of coeffs) {
      const reach = coeff * ((radixOf.get(digit) ?? 1) - 1);
      min += Math.min(0, reach);
      max += Math.max(0, reach);
      strides.set(digit, (strides.get(digit) ?? 0) + coeff * stride);
    }
    if (min < 0 || max >= extent) return undefined;
    first += base * stride;
  }
  const [byColumn, byTerm] = [columns, inner].map((digits) => evenStride(digits, strides));
  if (byColumn === 1 && byTerm !== undefined && byTerm > 0) return { first, isByRows: true, stride: byTerm };
  if (byTerm === 1 && byColumn !== undefined && byColumn > 0) return { first, isByRows: false, stride: byColumn };
  return undefined;
}

/** By how much the flat index over some digits moves; undefined if not always by the same. */
function evenStride(digits: readonly LoopDigit[], strides: ReadonlyMap<number, number>): number | undefined {
  const step = strides.get(digits.at(-1)?.digit ?? -1) ?? 0;
  const isEven = digits.every(({ digit }, k) => strides.get(digit) === step * sizeOf(digits.slice(k + 1)));
  return isEven ? step : undefined;
}
