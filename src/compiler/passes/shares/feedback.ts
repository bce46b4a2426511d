import { DType, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { Op } from "../../../program/operations.ts";
import { product } from "../../../program/sums.ts";
import {
  Reduce,
  type Axis,
  type Constant,
  type Instruction,
  type Step,
  type TensorRef,
  type View,
} from "../../../program/types.ts";
import { readsOf, sibling, wholeView, type Parts } from "../provable/parts.ts";

/** Returns the step that adds all shares' results into plain sums; `inputs` numbers the joining program's inputs. */
export type Dense = (shares: number, inputs: readonly number[]) => Step;

/** An axis along a row: each element by itself. */
export const plainAxis = (extent: number, coeffs: Axis["coeffs"]): Axis => ({
  extent,
  stride: 1,
  base: 0,
  div: 1,
  coeffs,
});

/** A step without a reduction. */
export function elementwise(
  dtype: DTypeCode,
  outDigits: readonly number[],
  made: {
    inputs: readonly TensorRef[];
    reads: readonly View[];
    constants: readonly Constant[];
    /** The last instruction gives the element; without instructions, the last read. */
    code: readonly Instruction[];
  },
): Step {
  const { inputs, reads, constants, code } = made;
  return {
    ...{ dtype, count: product(outDigits), inputs, outDigits, redDigits: [], reduce: Reduce.none, constants },
    ...{ termReads: [], term: { code: [], outA: 0, outB: 0 }, epilogueReads: reads },
    epilogue: { code, out: (code.length > 0 ? reads.length + constants.length + code.length : reads.length) - 1 },
  };
}

/**
 * Returns a bare float32 sum with the feedback added: the rest that the share's earlier steps did not send.
 * @param input The feedback's number among the share's inputs. @param count The feedback's elements.
 */
export function withFeedback(sum: Step, input: number, count: number): Step {
  const read = wholeView(sum.inputs.length, sum.outDigits);
  return {
    ...sum,
    inputs: [...sum.inputs, { kind: "input", index: input, dtype: DType.float32, count }],
    epilogueReads: [{ ...read, axes: [{ ...read.axes[0]!, extent: count }] }],
    epilogue: {
      code: [{ op: Op.add, dtype: DType.float32, a: 1, b: 0, c: 0 }],
      out: 2 + sum.constants.length,
    },
  };
}

/** Returns how shares are joined: plain sums, then what follows the sum in the uncut program. */
export const joinedDense =
  (step: Step, dense: Dense) =>
  (shares: number, inputs: readonly number[]): Parts => {
    const sums = dense(shares, inputs);
    const kept = readsOf(step.inputs, step.epilogueReads);
    const read = wholeView(kept.inputs.length, step.outDigits);
    const follows: Step = {
      ...step,
      ...{ inputs: [...kept.inputs, sibling(0, sums)], redDigits: [], reduce: Reduce.none, termReads: [] },
      epilogueReads: [...kept.views, { ...read, axes: [{ ...read.axes[0]!, extent: sums.count }] }],
      term: { code: [], outA: 0, outB: 0 },
    };
    delete follows.reduceType;
    return [sums, follows];
  };
