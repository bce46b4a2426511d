import { Op } from "../../../program/operations.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../../program/types.ts";
import { SharesError } from "../../errors.ts";
import type { Draft } from "./draft.ts";
import { exampleDigit, type ExampleDigit, type Rows } from "./exampleDigit.ts";

/** The examples that a tensor depends on: on none, a row for each example, or all examples through sums. */
type Reach = { kind: "none" | "all" } | ({ kind: "rows" } & Rows);

/**
 * A step, the reach of each input, and the tensor's own reach. `counts` is the example-counting digit: an out digit if
 * the tensor has rows, a reduction digit in a sum over the batch.
 */
export type Traced = { step: Step; inputs: readonly Reach[]; reach: Reach; counts?: ExampleDigit };

/**
 * Follows a batch's examples through a program's steps.
 * @param rowInputs The inputs with the examples as first dimension.
 * @throws SharesError naming the first node that mixes examples otherwise than by a sum
 */
export function traceExamples(
  { steps, inputs, origins }: Draft,
  rowInputs: readonly string[],
  batch: number,
): Traced[] {
  const given = inputs.map(({ name, shape }): Reach =>
    rowInputs.includes(name) ? { kind: "rows", batch, inner: product(shape) / batch } : { kind: "none" },
  );
  const traced: Traced[] = [];
  const reachOf = (ref: TensorRef): Reach => {
    if (ref.kind === "constant") return { kind: "none" };
    return ref.kind === "input" ? given[ref.index]! : traced[ref.index]!.reach;
  };
  for (const [s, step] of steps.entries()) {
    const refuse = (what: string): never => {
      const { node, operator } = origins[s]!;
      throw new SharesError(`${operator} (node ${node}) cannot be cut along the batch of ${batch} examples: ${what}`);
    };
    traced.push(traceStep(step, step.inputs.map(reachOf), batch, refuse));
  }
  return traced;
}

function traceStep(step: Step, inputs: readonly Reach[], batch: number, refuse: (what: string) => never): Traced {
  const views = [...step.termReads, ...step.epilogueReads];
  const reads = (kind: Reach["kind"], among: readonly View[]): View[] =>
    among.filter(({ input }) => inputs[input]!.kind === kind);
  const [rows, all] = [reads("rows", views), reads("all", views)];
  if (rows.length === 0) return { step, inputs, reach: { kind: all.length > 0 ? "all" : "none" } };
  const radices = [...step.outDigits, ...step.redDigits];
  const [counts, ...others] = rows.map((view) => exampleDigit(view, inputs[view.input] as Rows, radices));
  if (counts === undefined || others.some((each) => each?.digit !== counts.digit || each.below !== counts.below))
    return refuse("examples meet otherwise than in a sum over the batch");
  const names = ({ axes }: View): boolean =>
    axes.some(({ coeffs }) => coeffs.some(({ digit, coeff }) => digit === counts.digit && coeff !== 0));
  const code = [...step.term.code, ...step.epilogue.code];
  if ([...reads("none", views), ...all].some(names) || code.some(({ op, a }) => op === Op.digit && a === counts.digit))
    return refuse("its result depends on the number of the example");
  const isRow = counts.digit < step.outDigits.length;
  if (reads("all", isRow ? views : step.termReads).length > 0)
    return refuse("each example reads a result of all examples");
  if (isRow) {
    const inner = counts.below * product(step.outDigits.slice(counts.digit + 1));
    return { step, inputs, reach: { kind: "rows", batch, inner }, counts };
  }
  if (step.reduce !== Reduce.sum && step.reduce !== Reduce.dot)
    return refuse("over the batch it takes no sum, but another reduction");
  return { step, inputs, reach: { kind: "all" }, counts };
}
