import type { TensorInfo } from "../../../program/compiled.ts";
import type { Step, TensorRef, View } from "../../../program/types.ts";
import { SharesError } from "../../errors.ts";
import { withoutUnused, type Draft } from "./draft.ts";
import { withStepNumbers, type Parts } from "../provable/parts.ts";
import { withExamples } from "./exampleDigit.ts";
import { cutSum, type SumForm, type SumSteps } from "./sumSteps.ts";
import { traceExamples, type Traced } from "./trace.ts";

/** The share of a training step: the sums over `part` examples of the batch, or the update from `join` shares. */
export type Share = ({ part: number } | { join: number }) & {
  /** The form for sums, `exact` by default. */
  sums?: SumForm | undefined;
};

/**
 * Names for a share's k-th sum: outputs in every share's program, inputs in the joining program. A form with a feedback
 * has an input `feedback_1` and an output `feedback_1_next` for sum 1, and so on.
 */
const SUM_NAMES = [(k: number): string => `sum_${k}`, (k: number): string => `scale_${k}`] as const;
const feedbackName = (k: number): string => `feedback_${k}`;
const nextFeedback = (name: string): string => `${name}_next`;
/** The names that a share's program or the joining program gives to further inputs, in any form. */
const OWN_NAME = /^(sum|scale|feedback)_\d+$/;

/**
 * Cuts a training step along its batch. A share's program gives a sum over some of the examples for each sum over the
 * batch. The joining program adds the sums of all shares and updates the state. Exact sums have no order, so the state
 * has the bits of the uncut program, for any cut.
 * @param draft The uncut program: one training step over the whole batch.
 * @param rowInputs The inputs with the examples as first dimension.
 * @throws SharesError naming the node that mixes examples otherwise than by a sum, or what else does not fit
 */
export function cutBatch(draft: Draft, rowInputs: readonly string[], share: Share, source: string): Draft {
  const refuse = (what: string): never => {
    throw new SharesError(`${source}: ${what}`);
  };
  const taken = draft.inputs.find(({ name }) => OWN_NAME.test(name));
  if (taken !== undefined) refuse(`its input "${taken.name}" has a name that shares use: give it another name`);
  const batch = batchOf(draft, rowInputs, refuse);
  const [count, most] = "part" in share ? [share.part, batch] : [share.join, batch];
  if (!Number.isSafeInteger(count) || count < 1 || count > most)
    refuse(`a share with ${JSON.stringify(share)}, expected a whole number from 1 to the ${batch} examples`);
  const traced = traceExamples(draft, rowInputs, batch);
  const rows = draft.outputs.find(({ step }) => traced[step]!.reach.kind === "rows");
  if (rows !== undefined) refuse(`the output "${rows.name}" has a row for each example, so no sum gives it`);
  const sums = new Map<number, SumSteps>();
  let feedbacks = 0;
  traced.forEach((each, s) => {
    if (each.counts === undefined || each.reach.kind !== "all") return;
    const examples = "part" in share ? share.part : batch;
    const step = fewerExamples(each, batch, examples);
    const cut = cutSum(step, share.sums ?? "exact", batch / examples, draft.inputs.length + feedbacks);
    if (cut.feedback !== undefined) feedbacks++;
    sums.set(s, cut);
  });
  if (sums.size === 0) refuse("no output needs a sum over the batch: there is nothing to cut");
  return withoutUnused(
    "part" in share
      ? partDraft(draft, traced, sums, { rowInputs, batch, examples: share.part })
      : joinDraft(draft, traced, sums, share.join),
  );
}

/** The number of examples: the first dimension of each of the inputs. */
function batchOf({ inputs }: Draft, rowInputs: readonly string[], refuse: (what: string) => never): number {
  const all = inputs.filter(({ name }) => rowInputs.includes(name));
  const batch = all[0]?.shape[0] ?? 0;
  if (batch < 2) return refuse("it has no batch to cut: the inputs need two examples or more as first dimension");
  const other = all.find(({ shape }) => shape[0] !== batch);
  if (other === undefined) return batch;
  const { name, shape } = other;
  return refuse(`the input "${name}" is [${shape.join(", ")}], expected ${batch} examples like "${all[0]!.name}"`);
}

/** The step over fewer examples. */
function fewerExamples({ step, inputs, reach, counts }: Traced, batch: number, examples: number): Step {
  if (counts === undefined) return step;
  const fewer = (whole: number): number => (whole / batch) * examples;
  const radices = [...step.outDigits, ...step.redDigits];
  radices[counts.digit] = fewer(radices[counts.digit]!);
  const views = (reads: readonly View[]): View[] =>
    reads.map((view) => {
      const own = inputs[view.input]!;
      return own.kind === "rows" ? withExamples(view, own, examples, radices) : view;
    });
  return {
    ...step,
    outDigits: radices.slice(0, step.outDigits.length),
    redDigits: radices.slice(step.outDigits.length),
    count: reach.kind === "rows" ? fewer(step.count) : step.count,
    inputs: step.inputs.map((ref, k) => (inputs[k]!.kind === "rows" ? { ...ref, count: fewer(ref.count) } : ref)),
    termReads: views(step.termReads),
    epilogueReads: views(step.epilogueReads),
  };
}

/** Collects the steps of a program under new numbers. */
class Steps {
  readonly steps: Step[] = [];
  readonly origins: Draft["origins"][number][] = [];
  readonly #numbers = new Map<number, readonly number[]>();
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Adds steps in place of step `s`; the last gives the tensor. */
  add(s: number, ...parts: Parts): void {
    const own: number[] = [];
    for (const part of parts) {
      const moved = (ref: TensorRef): TensorRef =>
        ref.kind === "step" && ref.index >= 0 ? { ...ref, index: this.numberOf(ref.index) } : ref;
      const step = withStepNumbers({ ...part, inputs: part.inputs.map(moved) }, own);
      own.push(this.steps.push(step) - 1);
      this.origins.push(this.#draft.origins[s]!);
    }
    this.#numbers.set(s, own);
  }

  /** The new number for step `s` or a part. */
  numberOf(s: number, part?: number): number {
    const own = this.#numbers.get(s)!;
    return own[part ?? own.length - 1]!;
  }
}

/** A share's results for a sum; `shares` stands before each shape. */
const sumInfos = (k: number, { parts, given }: SumSteps, shares: readonly number[]): TensorInfo[] =>
  given.map((part, n) => {
    const { dtype, count } = parts[part]!;
    return { name: SUM_NAMES[n]!(k), dtype, shape: [...shares, count] };
  });

type Examples = { rowInputs: readonly string[]; batch: number; examples: number };

function partDraft(draft: Draft, traced: readonly Traced[], sums: ReadonlyMap<number, SumSteps>, of: Examples): Draft {
  const all = new Steps(draft);
  traced.forEach((each, s) => {
    const sum = sums.get(s);
    if (sum !== undefined) all.add(s, ...sum.parts);
    else if (each.reach.kind !== "all") all.add(s, fewerExamples(each, of.batch, of.examples));
  });
  const inputs = draft.inputs.map((input) => ({
    ...input,
    carried: undefined,
    source: input.source === "carried" ? ("shared" as const) : input.source,
    shape: of.rowInputs.includes(input.name) ? [of.examples, ...input.shape.slice(1)] : input.shape,
  }));
  const outputs = [...sums].flatMap(([s, sum], k) =>
    sumInfos(k, sum, []).map((info, n) => ({ ...info, step: all.numberOf(s, sum.given[n]), each: true })),
  );
  const kept = [...sums].flatMap(([s, { parts, feedback }], k) => {
    if (feedback === undefined) return [];
    const { dtype, count } = parts[feedback]!;
    return [{ name: feedbackName(k), dtype, shape: [count], step: all.numberOf(s, feedback) }];
  });
  const before = kept.map(({ name, dtype, shape }) => ({ name, dtype, shape, source: "each" as const }));
  const after = kept.map((each) => ({ ...each, name: nextFeedback(each.name), each: true }));
  return { steps: all.steps, origins: all.origins, inputs: [...inputs, ...before], outputs: [...outputs, ...after] };
}

function joinDraft(
  draft: Draft,
  traced: readonly Traced[],
  sums: ReadonlyMap<number, SumSteps>,
  shares: number,
): Draft {
  const all = new Steps(draft);
  const infos = [...sums.values()].map((sum, k) => sumInfos(k, sum, [shares]));
  const given = infos.flat().map((info) => ({ ...info, source: "each" as const }));
  const inputOf = (name: string): number => draft.inputs.length + given.findIndex((info) => info.name === name);
  const numbers = [...sums.keys()];
  traced.forEach(({ step, reach }, s) => {
    const own = sums.get(s);
    if (own !== undefined) {
      const from = infos[numbers.indexOf(s)]!.map(({ name }) => inputOf(name));
      all.add(s, ...own.join(shares, from));
    } else if (reach.kind !== "rows") all.add(s, step);
  });
  const inputs = draft.inputs.map((input) => ({
    ...input,
    ...(input.carried !== undefined && { carried: all.numberOf(input.carried) }),
  }));
  const outputs = draft.outputs.map((output) => ({ ...output, step: all.numberOf(output.step) }));
  return { steps: all.steps, origins: all.origins, inputs: [...inputs, ...given], outputs };
}
