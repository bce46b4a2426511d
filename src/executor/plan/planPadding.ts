import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Step, View } from "../../program/types.ts";
import { axisRange } from "../../program/loops.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";

/** A view that needs no bounds check, the copy that it reads, and the function that fills the copy. */
export type PaddedRead = { view: View; region: Region; bind(machine: Machine): () => void };

/** A copy is made only for at least this many reads of each of its elements. */
const MIN_REUSE = 3;

/**
 * Makes a view that leaves its tensor, as convolutions with padding do, read a copy that includes the padding. Without
 * bounds checks a reduction runs in vectors along its rows.
 * @param input The number of the copy among the sources of the reduction.
 * @param work The number of reads.
 * @returns undefined where a copy gains nothing, or where the view is not plainly affine.
 */
export function planPadding(
  resources: PlanResources,
  step: Step,
  view: View,
  input: number,
  work: number,
): PaddedRead | undefined {
  const radices = [...step.outDigits, ...step.redDigits];
  const plain = view.axes.every(({ div, indirect }) => div === 1 && indirect === undefined);
  if (!plain) return undefined;
  const spans = view.axes.map((axis) => axisRange(axis, (digit) => radices[digit]!));
  const isInside = view.axes.every(({ extent }, k) => spans[k]![0] >= 0 && spans[k]![1] < extent);
  const sizes = spans.map(([low, high]) => high - low + 1);
  const count = sizes.reduce((product, size) => product * size, 1);
  if (isInside || count * MIN_REUSE > work) return undefined;

  const { dtype } = step.inputs[view.input]!;
  const strides = digitStrides(sizes);
  const digits = sizes.map((radix, digit): LoopDigit => ({ digit, radix }));
  const spec: LoopSpec = {
    digits,
    reads: [
      {
        ...view,
        axes: view.axes.map((axis, k) => ({ ...axis, base: spans[k]![0], coeffs: [{ digit: k, coeff: 1 }] })),
      },
    ],
    sourceTypes: step.inputs.map((ref) => ref.dtype),
    constants: [],
    code: [],
    outs: [0],
    outStrides: strides,
  };
  const loop = resources.loop(spec);
  const sources = resources.sources(step, spec);
  const region = resources.scratch(count * dtypeBytes(dtype));
  return {
    region,
    view: {
      input,
      fill: view.fill,
      axes: view.axes.map((axis, k) => ({
        ...axis,
        extent: sizes[k]!,
        stride: strides[k]!,
        base: axis.base - spans[k]![0],
      })),
    },
    bind({ loops, clock }) {
      const addresses = sources.map((source) => source?.address ?? 0);
      return () => {
        clock.enter("loops");
        loops[loop]!(addresses, [region.address], 0, sizes[0]!);
      };
    },
  };
}
