import { Reduce, type Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { integerProduct, integerSum } from "../product/integerProduct.ts";
import { arrayPlan } from "./arrayPlan.ts";
import { planEpilogue } from "./epilogue.ts";
import { planFactor } from "./factor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { partOf, ranges, type Machine, type Operation, type StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";
import { productLayout, sizeOf } from "./productLayout.ts";
import { both } from "./productPlan.ts";

/** Sums and dot products of integers, modulo 2^n. */
export function integerPlan(planner: Planner, step: Step, out: Region): StepPlan {
  const dtype = step.reduceType!;
  if (step.reduce === Reduce.sum) {
    const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
    const slots = [{ slot: step.term.outA, dtype }];
    return arrayPlan(planner, step, slots, out, ([a], [sums], start) =>
      integerSum(a!, terms, dtype, sums!.subarray(start)),
    );
  }
  const { chunkElements, threads } = planner.options;
  const layout = productLayout(step);
  const { groups, rows, columns, inner } = layout;
  const [rowCount, columnCount, innerCount] = [rows, columns, inner].map(sizeOf) as [number, number, number];
  const cut: LoopDigit = groups[0] ?? rows[0] ?? { digit: -1, radix: 1 };
  const cutsGroups = groups.length > 0;
  const isCut = cut.radix > 1;
  const groupsPerValue = cutsGroups ? sizeOf(groups) / cut.radix : 1;
  const rowsPerValue = cutsGroups ? rowCount : rowCount / cut.radix;
  const resultsPerValue = groupsPerValue * rowsPerValue * columnCount;
  const vectorsPerValue = groupsPerValue * (rowsPerValue + (cutsGroups ? columnCount : 0));
  const perValue = vectorsPerValue * innerCount + resultsPerValue;
  const length = Math.max(1, Math.min(Math.ceil(cut.radix / threads), Math.floor(chunkElements / perValue)));
  const bytes = dtypeBytes(dtype);
  const left = planFactor(planner, step, layout.left, [...groups, ...rows, ...inner], { isWidened: false });
  const right = planFactor(planner, step, layout.right!, [...groups, ...columns, ...inner], { isWidened: false });
  const digits = [...groups, ...rows, ...columns];
  const epilogue = planEpilogue(planner, step, layout.strides, digits, out);
  const pieceColumns = cutsGroups ? length * groupsPerValue * columnCount : columnCount;
  const buffers = Array.from({ length: isCut ? threads : 1 }, () => ({
    left: planner.scratch(left.region === undefined ? length * groupsPerValue * rowsPerValue * innerCount * bytes : 0),
    right: planner.scratch(right.region === undefined ? pieceColumns * innerCount * bytes : 0),
    results: planner.scratch(length * resultsPerValue * bytes),
  }));
  return { shared: isCut, prepare: both(left.prepare, right.prepare), bind };

  function bind(machine: Machine): Operation {
    const { views, clock } = machine;
    const own = buffers[isCut ? machine.part : 0]!;
    const gatherLeft = left.bind(machine);
    const gatherRight = right.bind(machine);
    const finish = epilogue.bind(machine);
    const [first, end] = isCut ? partOf(cut.radix, machine) : [0, 1];
    const pieces = [...ranges(first, end, length)].map(([start, stop]) => {
      const values = stop - start;
      const pieceGroups = cutsGroups ? values * groupsPerValue : 1;
      const shape = {
        groups: pieceGroups,
        rows: cutsGroups ? rowCount : values * rowsPerValue,
        columns: columnCount,
        inner: innerCount,
      };
      const leftAt = left.region === undefined ? own.left.address : left.region.address + start * left.bytesPerValue;
      const rightStart = cutsGroups ? start * right.bytesPerValue : 0;
      const rightAt = right.region === undefined ? own.right.address : right.region.address + rightStart;
      return {
        start,
        stop,
        shape,
        a: views.elements(leftAt, dtype, pieceGroups * shape.rows * innerCount),
        b: views.elements(rightAt, dtype, pieceGroups * columnCount * innerCount),
        results: views.elements(own.results.address, dtype, pieceGroups * shape.rows * columnCount),
      };
    });
    return () => {
      for (const { start, stop, shape, a, b, results } of pieces) {
        if (left.region === undefined) {
          if (isCut) gatherLeft(own.left.address, start, stop);
          else gatherLeft(own.left.address, 0, left.firstRadix);
        }
        if (right.region === undefined && (cutsGroups || start === first)) {
          if (cutsGroups) gatherRight(own.right.address, start, stop);
          else gatherRight(own.right.address, 0, right.firstRadix);
        }
        clock.enter("products");
        integerProduct(a, b, shape, dtype, results);
        if (isCut) finish([own.results.address - start * resultsPerValue * bytes], start, stop);
        else finish([own.results.address], 0, digits[0]?.radix ?? 1);
      }
    };
  }
}
