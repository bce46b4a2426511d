import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { LIMBS } from "../../numerics/exactSum.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { allocate, float32Bits, type TensorArray } from "../arrays.ts";
import { compileLoop } from "../loops/arrayLoop.ts";
import { neededSlots } from "../loops/slots.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import { floatProduct, floatSum } from "../product/floatProduct.ts";
import { LIMB_LANES, partialProduct } from "../product/partialProduct.ts";
import { integerProduct, integerSum } from "../product/integerProduct.ts";
import { Operand } from "../product/operand.ts";
import { ranges, type ReductionPlan, type StepContext } from "./plan.ts";
import { productLayout, sizeOf, termExpression } from "./productLayout.ts";

/** Gathers one factor of a product, for values `start .. end - 1` of the first digit. */
type Gather = (sources: readonly TensorArray[], start: number, end: number) => TensorArray;

/** A factor whose elements are all constants is gathered once. */
type Factor = { gather: Gather; isConstant: boolean; firstRadix: number };

/**
 * Sums and dot products: gathered into matrices and multiplied.
 * @param partial Whether the four words of each exact sum are wanted, one after the other, instead of the sum rounded.
 */
export function productPlan(step: Step, partial = false): ReductionPlan {
  const dtype = step.reduceType!;
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const left = factor(step, step.term.outA, [...groups, ...rows, ...inner]);
  const right =
    step.reduce === Reduce.dot ? factor(step, step.term.outB, [...groups, ...columns, ...inner]) : undefined;
  const [groupCount, rowCount, columnCount, innerCount] = [groups, rows, columns, inner].map(sizeOf) as Four;
  // The digit that is cut where the matrices are large: that of groups cuts both factors, that of rows the left one alone.
  const cut = groups[0] ?? rows[0];
  const total = groupCount * rowCount * innerCount;
  const kept = new Map<Factor, TensorArray | Operand>();

  return { strides: layout.strides, types: [partial ? DType.limb : dtype], run };

  async function run(sources: readonly TensorArray[], context: StepContext): Promise<TensorArray[]> {
    const out = partial ? allocate(DType.limb, step.count * LIMBS) : allocate(dtype, step.count);
    const unit = partial ? LIMBS * LIMB_LANES : 1;
    let at = 0;
    const wholeRight = right && groups.length === 0 ? elements(right, sources, undefined, 0, 0) : undefined;
    for (const [start, end] of ranges(cut?.radix ?? 1, total / (cut?.radix ?? 1), context.chunkElements)) {
      const piece = (whole: number): number => (cut === undefined ? whole : (whole / cut.radix) * (end - start));
      const a = elements(left, sources, cut, start, end);
      const b = wholeRight ?? (right && elements(right, sources, cut, start, end));
      const shape = {
        groups: groups.length > 0 ? piece(groupCount) : 1,
        rows: groups.length > 0 ? rowCount : piece(rowCount),
        columns: columnCount,
        inner: innerCount,
      };
      const part = out.subarray(at, (at += shape.groups * shape.rows * shape.columns * unit));
      if (partial) {
        partialProduct(a as Operand, b as Operand | undefined, shape, part as BigUint64Array);
      } else if (a instanceof Operand) {
        const bits = float32Bits(part as Float32Array);
        if (b === undefined) floatSum(a, bits, context.stats);
        else await floatProduct(a, b as Operand, shape, bits, context);
      } else if (b === undefined) {
        integerSum(a, innerCount, dtype, part);
      } else {
        integerProduct(a, b as TensorArray, shape, dtype, part);
      }
    }
    return [out];
  }

  function elements(
    source: Factor,
    sources: readonly TensorArray[],
    cutDigit: LoopDigit | undefined,
    start: number,
    end: number,
  ): TensorArray | Operand {
    const whole = cutDigit === undefined || (start === 0 && end === cutDigit.radix);
    const known = whole ? kept.get(source) : undefined;
    if (known !== undefined) return known;
    const gathered =
      cutDigit === undefined ? source.gather(sources, 0, source.firstRadix) : source.gather(sources, start, end);
    const made = gathered instanceof Float32Array ? new Operand(gathered, innerCount) : gathered;
    if (whole && source.isConstant) kept.set(source, made);
    return made;
  }
}

type Four = [number, number, number, number];

function factor(step: Step, slot: number, digits: readonly LoopDigit[]): Factor {
  const expression = termExpression(step);
  const spec: LoopSpec = { ...expression, digits, sourceTypes: step.inputs.map(({ dtype }) => dtype), outs: [slot] };
  const loop = compileLoop(spec);
  const reads = [...neededSlots(expression, [slot])].filter((needed) => needed < step.termReads.length);
  const isConstant = reads.every((read) => step.inputs[step.termReads[read]!.input]!.kind === "constant");
  const firstRadix = digits[0]?.radix ?? 1;
  const perValue = sizeOf(digits) / firstRadix;
  const dtype: DTypeCode = step.reduceType ?? DType.float32;
  return { gather, isConstant, firstRadix };

  function gather(sources: readonly TensorArray[], start: number, end: number): TensorArray {
    const out = allocate(dtype, (end - start) * perValue);
    loop(sources, [out], start, end);
    return out;
  }
}
