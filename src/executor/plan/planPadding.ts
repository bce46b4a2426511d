import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Step, View } from "../../program/types.ts";
import { axisRange } from "../../program/loops.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";

/** A view without a bounds check, the copy for the view to read, and the function that fills the copy. */
export type PaddedRead = { view: View; region: Region; bind(machine: Machine): () => void };

/** The minimum number of reads per element for making a copy. */
const MIN_REUSE = 3;

/**
 * Redirects a view that leaves its tensor, for example in convolutions with padding, to a copy with the padding
 * included. Without bounds checks, a reduction runs in vectors along the copy's rows.
 * @param input The number of the copy among the reduction's sources.
 * @param work The number of reads.
 * @returns undefined if a copy gains nothing, or if the view is not plainly affine.
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
