import { DType } from "../../../numerics/dtype.ts";
import { int64Tensor } from "../../../model/onnx/tensorData.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import {
  ABSENT,
  isSequence,
  plainTensor,
  tensorOperand,
  type ControlContext,
  type LowerControl,
  type GraphValue,
} from "./types.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { slicedAlong } from "../../lowering/slices.ts";

/** The maximum number of iterations in an unrolled loop. */
const MAX_ITERATIONS = 4096;

/** If: the branch taken, or, where the condition is data, both branches and a choice. */
export const ifThenElse: LowerControl = (control) => {
  const { context, run } = control;
  const { builder, expressions: e } = context;
  const [yes, no] = [context.graph("then_branch"), context.graph("else_branch")];
  const condition = tensorOperand(control, 0);
  const known = builder.words(condition);
  if (known !== undefined) return run(known[0] === 0n ? no : yes, []);
  const scalar = builder.reshape(condition, []);
  const others = run(no, []);
  return run(yes, []).map((a, k): GraphValue => {
    const b = others[k];
    if (b === undefined || isSequence(a) || isSequence(b))
      return context.refuse("cond", "is not known at compile time, and the branches give sequences");
    if (a.dtype !== b.dtype || a.shape.join() !== b.shape.join())
      return context.refuse(
        "cond",
        `is not known at compile time: output ${k} is [${a.shape.join()}] or [${b.shape.join()}]`,
      );
    const [first, second] = [a, b].map((one) => plainTensor(context, one, `output ${k}`));
    const chosen = broadcast(context, [scalar, first!, second!], e.select, true);
    builder.realise(chosen);
    return chosen;
  });
};

/**
 * Joins the results of a body along a new axis.
 * @param otherwise If there are none: a result that gives type and shape.
 */
function stack(
  context: NodeContext,
  parts: readonly GraphValue[],
  axis: number,
  otherwise: () => GraphValue | undefined,
): LazyTensor {
  const model = parts.length > 0 ? undefined : (otherwise() ?? context.fail("its body gives too few outputs"));
  const tensors = (model === undefined ? parts : [model]).map((part) => {
    if (isSequence(part)) return context.fail("a scan output is a sequence");
    plainTensor(context, part, "a scan output");
    const at = axis < 0 ? axis + part.shape.length + 1 : axis;
    return context.builder.reshape(part, [...part.shape.slice(0, at), 1, ...part.shape.slice(at)]);
  });
  const first = tensors[0]!;
  const at = axis < 0 ? axis + first.shape.length : axis;
  if (model === undefined) return concatenate(context, tensors, at);
  const shape = first.shape.map((dim, d) => (d === at ? 0 : dim));
  return context.builder.filled(first.dtype, shape, 0n);
}

/** The results that a body would give, computed on demand and once: for types and shapes of what never runs. */
function imagined(run: () => GraphValue[]): (output: number) => GraphValue | undefined {
  let results: GraphValue[] | undefined;
  return (output) => (results ??= run())[output];
}

/**
 * Loop, unrolled: the trip count, or the iteration where the condition becomes false, must be known at compile time.
 */
export const loop: LowerControl = (control) => {
  const { context, operands, run } = control;
  const { builder } = context;
  const body = context.graph("body");
  const limit = operands[0] === undefined ? undefined : context.constantWords(tensorOperand(control, 0), "M")[0];
  const truth = (value: GraphValue | undefined): boolean => {
    if (value === undefined) return true;
    if (isSequence(value)) return context.fail("the condition is a sequence");
    return context.constantWords(value, "cond")[0] !== 0n;
  };
  let running = truth(operands[1]);
  let state = operands.slice(2).map((value, k) => value ?? context.fail(`input ${k + 2} is missing`));
  const scanOutputs = body.outputs.length - 1 - state.length;
  if (scanOutputs < 0) return context.fail(`its body gives ${body.outputs.length} outputs for ${state.length} states`);
  const scans: GraphValue[][] = Array.from({ length: scanOutputs }, () => []);
  for (let i = 0n; running && (limit === undefined || i < limit); i++) {
    if (i === BigInt(MAX_ITERATIONS)) return context.refuse("M", `is above ${MAX_ITERATIONS} iterations`);
    const iteration = builder.constant(int64Tensor([i], []));
    const results = run(body, [iteration, context.scalar(DType.bool, 1n), ...state]);
    running = truth(results[0]);
    const carried = state.length;
    state = results.slice(1, 1 + carried);
    results.slice(1 + carried).forEach((value, k) => scans[k]!.push(value));
  }
  const { outputs } = context.node;
  const carried = state.length;
  const used = (k: number): boolean => (outputs[carried + k] ?? "") !== "";
  const first = imagined(() =>
    run(body, [builder.constant(int64Tensor([0], [])), context.scalar(DType.bool, 1n), ...state]),
  );
  return [
    ...state,
    ...scans.map((parts, k) => (used(k) ? stack(context, parts, 0, () => first(1 + carried + k)) : ABSENT)),
  ];
};

/**
 * Scan of operator set 8: each item of a batch (dimension 0) has a separate scan along dimension 1. All sequences in
 * the batch have full length.
 */
function batchedScan(control: ControlContext): GraphValue[] {
  const { context, operands, run } = control;
  const body = context.graph("body");
  if (operands[0] !== undefined) return context.refuse("input 0", "gives lengths of sequences: cut them to one length");
  const scanned = context.int("num_scan_inputs", 0);
  const count = operands.length - 1;
  if (scanned < 1 || scanned > count) return context.fail(`it scans ${scanned} of ${count} inputs`);
  const tensors = operands.slice(1).map((_, k) => tensorOperand(control, k + 1));
  const backwards = context.ints("directions") ?? new Array<number>(scanned).fill(0);
  if (backwards.length !== scanned) return context.fail(`directions has ${backwards.length} values for ${scanned}`);
  const carried = count - scanned;
  const batch = tensors[0]!.shape[0] ?? 0;
  const length = tensors[carried]!.shape[1] ?? 0;
  const fits = tensors.every(({ shape }, k) => shape[0] === batch && (k < carried || shape[1] === length));
  if (!fits || batch < 1) return context.fail("its inputs differ in batch or length");
  if (length * batch > MAX_ITERATIONS)
    return context.refuse("body", `runs ${length * batch} times, at most ${MAX_ITERATIONS}`);
  const at = (tensor: LazyTensor, axis: number, index: number): LazyTensor =>
    context.builder.reshape(
      slicedAlong(context, tensor, axis, index, 1),
      tensor.shape.filter((_, d) => d !== axis),
    );
  const items = Array.from({ length: batch }, (_, b) => {
    const own = tensors.map((tensor) => at(tensor, 0, b));
    let state: GraphValue[] = own.slice(0, carried);
    const results: GraphValue[][] = body.outputs.slice(carried).map(() => []);
    const step = (t: number): GraphValue[] =>
      run(body, [
        ...state,
        ...own.slice(carried).map((tensor, k) => at(tensor, 0, backwards[k] === 0 ? t : Math.max(length - 1 - t, 0))),
      ]);
    const first = imagined(() => step(0));
    for (let t = 0; t < length; t++) {
      const out = step(t);
      state = out.slice(0, carried);
      out.slice(carried).forEach((value, k) => results[k]!.push(value));
    }
    return [...state, ...results.map((parts, k) => stack(context, parts, 0, () => first(carried + k)))];
  });
  return body.outputs.map((_, k) =>
    stack(
      context,
      items.map((item) => item[k]!),
      0,
      () => undefined,
    ),
  );
}

/** Scan, unrolled over the scanned dimension. */
export const scan: LowerControl = (control: ControlContext) => {
  const { context, operands, run } = control;
  if (context.opset < 9) return batchedScan(control);
  const body = context.graph("body");
  const scanned = context.int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > operands.length) return context.fail(`it scans ${scanned} of ${operands.length} inputs`);
  const carried = operands.length - scanned;
  const tensors = operands.slice(carried).map((_, k) => tensorOperand(control, carried + k));
  const outputs = body.outputs.length - carried;
  if (outputs < 0) return context.fail(`its body gives ${body.outputs.length} outputs for ${carried} states`);
  const list = (name: string, length: number): number[] => {
    const given = context.ints(name) ?? new Array<number>(length).fill(0);
    return given.length === length ? given : context.fail(`${name} has ${given.length} values, expected ${length}`);
  };
  const axes = list("scan_input_axes", scanned).map((axis, k) => context.axis(axis, tensors[k]!.shape.length));
  const backwards = list("scan_input_directions", scanned);
  const [outputAxes, outputBackwards] = [list("scan_output_axes", outputs), list("scan_output_directions", outputs)];
  const length = tensors[0]?.shape[axes[0]!] ?? context.fail("it scans nothing");
  if (tensors.some((tensor, k) => tensor.shape[axes[k]!] !== length))
    return context.fail("the scanned inputs differ in length");
  if (length > MAX_ITERATIONS) return context.refuse("body", `runs ${length} times, at most ${MAX_ITERATIONS}`);
  let state = operands.slice(0, carried).map((value, k) => value ?? context.fail(`input ${k} is missing`));
  const results: GraphValue[][] = Array.from({ length: outputs }, () => []);
  const step = (t: number): GraphValue[] => {
    const slices = tensors.map((tensor, k) => {
      const start = backwards[k] === 0 ? t : Math.max(length - 1 - t, 0);
      const shape = tensor.shape.filter((_, d) => d !== axes[k]);
      return context.builder.reshape(slicedAlong(context, tensor, axes[k]!, start, 1), shape);
    });
    return run(body, [...state, ...slices]);
  };
  const first = imagined(() => step(0));
  for (let t = 0; t < length; t++) {
    const out = step(t);
    state = out.slice(0, carried);
    out.slice(carried).forEach((value, k) => {
      if (outputBackwards[k] === 0) results[k]!.push(value);
      else results[k]!.unshift(value);
    });
  }
  return [...state, ...results.map((parts, k) => stack(context, parts, outputAxes[k]!, () => first(carried + k)))];
};
