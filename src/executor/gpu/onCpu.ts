import { DType } from "../../numerics/dtype.ts";
import { axisRange } from "../../program/loops.ts";
import { isElementary } from "../../program/operations.ts";
import type { Step, View } from "../../program/types.ts";

/**
 * The limit for affine parts of coordinates, and for extents times divisors: an index from a tensor below 2^29 can be
 * added in 32 bits, and any other index lies outside.
 */
const REACH = 2 ** 28;

/**
 * Why a GPU does not compute a step, so that the CPU's executor does (docs/performance.md, "A GPU"). The list is
 * complete: any other step is computed on the GPU.
 * @returns undefined if a GPU computes the step
 */
export function reasonForCpu(step: Step): string | undefined {
  const { term, epilogue } = step;
  const codes = [...term.code, ...epilogue.code];
  if (codes.some(({ op, dtype }) => isElementary(op) && dtype === DType.float64)) return "a function of float64";
  const radices = [...step.outDigits, ...step.redDigits];
  const isFar = ({ axes }: View): boolean =>
    axes.some((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices[digit] ?? 1);
      return low < -REACH || high >= REACH || axis.extent * axis.div >= REACH;
    });
  return [...step.termReads, ...step.epilogueReads].some(isFar) ? "coordinates beyond 2^28" : undefined;
}
