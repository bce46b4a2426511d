import { DType } from "../../../numerics/dtype.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";
import { contract, type Labelled } from "../contract.ts";
import { reverseTimes } from "../reverseSequence.ts";
import { readRecurrence, type Recurrence } from "./recurrence.ts";
import { addTensors, broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { slicedAlong } from "../../lowering/slices.ts";

/** One direction of a recurrent operator: its parameters, and what a cell computes with. */
type Cell = {
  context: NodeContext;
  recurrence: Recurrence;
  direction: number;
  /** Rows `from .. to` of the recurrent weights' gates, each of the hidden size, times a state. */
  recurrent: (state: LazyTensor, from: number, to: number) => LazyTensor;
  /** Gates `from .. to` of the inputs' part at the present time. */
  input: (from: number, to: number) => LazyTensor;
  /** Returns gates from a direction's bias, or undefined. */
  bias: (from: number, to: number) => LazyTensor | undefined;
  peephole: (gate: number) => LazyTensor | undefined;
  /** The activation of gate function k, after the clip. */
  activate: (k: number, x: Expr) => Expr;
};

/** The state after a time step: h, and c for LSTM. `undefined` before the first step stands for zeros. */
type State = readonly (LazyTensor | undefined)[];
type Step = (cell: Cell, state: State) => LazyTensor[];

/** One of the first dimension, which vanishes. */
const at = (context: NodeContext, tensor: LazyTensor, index: number): LazyTensor =>
  context.builder.reshape(slicedAlong(context, tensor, 0, index, 1), tensor.shape.slice(1));

function labelledProduct(context: NodeContext, a: Labelled, b: Labelled, output: readonly string[]): LazyTensor {
  const sizes = new Map(
    [a, b].flatMap(({ tensor, labels }) => labels.map((label, d) => [label, tensor.shape[d]!] as const)),
  );
  return contract(context.builder, [a, b], output, sizes);
}

const plus = (context: NodeContext, a: LazyTensor, b: LazyTensor | undefined): LazyTensor =>
  b === undefined ? a : addTensors(context, a, b);

/** The way in which gate biases join the inputs' part: W's bias, and R's bias for gates that simply add R's bias. */
type BiasRule = { gates: number; addedGates: number };

function runDirection(
  context: NodeContext,
  recurrence: Recurrence,
  direction: number,
  x: LazyTensor,
  states: State,
  rule: BiasRule,
  step: Step,
): { outputs: LazyTensor[]; last: LazyTensor[] } {
  const { builder, expressions: e } = context;
  const { steps, batch, hidden, lengths, clip } = recurrence;
  const { gates } = rule;
  const backwards = recurrence.reversed[direction]!;
  const turned = backwards && lengths !== undefined;
  const data = turned ? reverseTimes(context, x, lengths) : x;
  const w = at(context, context.input(1), direction);
  const r = at(context, context.input(2), direction);
  const b = context.optional(3) && at(context, context.input(3), direction);
  const bias = (from: number, to: number): LazyTensor | undefined =>
    b && slicedAlong(context, b, 0, from * hidden, (to - from) * hidden);
  const p = context.optional(7) && at(context, context.input(7), direction);

  let inputs = labelledProduct(context, { tensor: data, labels: ["t", "b", "i"] }, { tensor: w, labels: ["g", "i"] }, [
    "t",
    "b",
    "g",
  ]);
  const [wBias, rBias] = [bias(0, gates), bias(gates, gates + rule.addedGates)];
  if (wBias !== undefined && rBias !== undefined) {
    const parts = [plus(context, slicedAlong(context, wBias, 0, 0, rule.addedGates * hidden), rBias)];
    if (rule.addedGates < gates)
      parts.push(slicedAlong(context, wBias, 0, rule.addedGates * hidden, (gates - rule.addedGates) * hidden));
    parts.forEach((one) => builder.realise(one));
    inputs = plus(context, inputs, concatenate(context, parts, 0));
  }
  builder.realise(inputs);

  const outputs: LazyTensor[] = [];
  let state = states;
  for (let k = 0; k < steps; k++) {
    const t = backwards && !turned ? steps - 1 - k : k;
    const now = at(context, inputs, t);
    const next = step(
      {
        context,
        recurrence,
        direction,
        recurrent: (h, from, to) =>
          labelledProduct(
            context,
            { tensor: h, labels: ["b", "k"] },
            { tensor: slicedAlong(context, r, 0, from * hidden, (to - from) * hidden), labels: ["g", "k"] },
            ["b", "g"],
          ),
        input: (from, to) => slicedAlong(context, now, 1, from * hidden, (to - from) * hidden),
        bias,
        peephole: (gate) => p && slicedAlong(context, p, 0, gate * hidden, hidden),
        activate: (n, v) => {
          const limited = clip === undefined ? v : e.clamp(v, e.float(-clip), e.float(clip));
          return recurrence.activations[direction]![n]!(e, limited);
        },
      },
      state,
    );
    const [kept, output] = masked(context, recurrence, t, next, state);
    state = kept;
    outputs[t] = builder.reshape(output, [1, batch, hidden]);
  }
  const y = lengths !== undefined && turned ? reverseAll(context, outputs, lengths) : outputs;
  return { outputs: y, last: state as LazyTensor[] };
}

/** Keeps a sequence's state past the sequence's end, and sets the output to 0. */
function masked(
  context: NodeContext,
  { lengths, batch }: Recurrence,
  t: number,
  next: readonly LazyTensor[],
  before: State,
): [LazyTensor[], LazyTensor] {
  const { builder, expressions: e } = context;
  if (lengths === undefined) return [[...next], next[0]!];
  const column = builder.reshape(lengths, [batch, 1]);
  const choose = (value: LazyTensor, other: LazyTensor | undefined): LazyTensor => {
    const otherwise = other ?? builder.filled(DType.float32, [], 0n);
    const result = broadcast(
      context,
      [column, value, otherwise],
      (length, a, b) => e.select(e.lt(e.int64(t), e.cast(length, DType.int64)), a, b),
      true,
    );
    builder.realise(result);
    return result;
  };
  return [next.map((value, k) => choose(value, before[k])), choose(next[0]!, undefined)];
}

function reverseAll(context: NodeContext, outputs: readonly LazyTensor[], lengths: LazyTensor): LazyTensor[] {
  const turned = reverseTimes(context, concatenate(context, outputs, 0), lengths);
  context.builder.realise(turned);
  return outputs.map((_, t) => slicedAlong(context, turned, 0, t, 1));
}

/** Runs all directions and lays out Y, Y_h (and Y_c). */
function runRecurrence(
  context: NodeContext,
  defaults: readonly string[],
  rule: BiasRule,
  stateCount: number,
  step: Step,
): LazyTensor[] {
  const { builder, expressions: e } = context;
  const recurrence = readRecurrence(context, rule.gates, defaults);
  const { batchFirst, batch, hidden, reversed } = recurrence;
  const x = batchFirst ? transposed(e, context.input(0), [1, 0, 2]) : context.input(0);
  const initial = Array.from({ length: stateCount }, (_, k) => {
    const given = context.optional(5 + k);
    return given && batchFirst ? transposed(e, given, [1, 0, 2]) : given;
  });
  const runs = reversed.map((_, d) => {
    const states = initial.map((given) => given && at(context, given, d));
    return runDirection(context, recurrence, d, x, states, rule, step);
  });
  const time = runs.map(({ outputs }) => {
    const y = concatenate(context, outputs, 0);
    builder.realise(y);
    return builder.reshape(y, [recurrence.steps, 1, batch, hidden]);
  });
  const y = concatenate(context, time, 1);
  const finals = Array.from({ length: stateCount }, (_, k) =>
    concatenate(
      context,
      runs.map(({ last }) => builder.reshape(last[k]!, [1, batch, hidden])),
      0,
    ),
  );
  if (!batchFirst) return [y, ...finals];
  return [transposed(e, y, [2, 0, 1, 3]), ...finals.map((final) => transposed(e, final, [1, 0, 2]))];
}

/** Returns a gate: the recurrent part, the inputs' part and further addends, then the gate's activation. */
function gate(
  cell: Cell,
  from: number,
  to: number,
  h: LazyTensor | undefined,
  activation: number,
  extra: readonly LazyTensor[] = [],
): LazyTensor {
  const { context } = cell;
  const e = context.expressions;
  const parts = [...(h === undefined ? [] : [cell.recurrent(h, from, to)]), cell.input(from, to), ...extra];
  const result = broadcast(context, parts, (...terms) => cell.activate(activation, terms.reduce(e.add)));
  context.builder.realise(result);
  return result;
}

const combined = (cell: Cell, inputs: readonly LazyTensor[], build: (...args: Expr[]) => Expr): LazyTensor => {
  const result = broadcast(cell.context, inputs, build);
  cell.context.builder.realise(result);
  return result;
};

/** RNN: h = f(xW + hR + b). */
export const rnn: Lower = (context) =>
  runRecurrence(context, ["Tanh"], { gates: 1, addedGates: 1 }, 1, (cell, [h]) => [gate(cell, 0, 1, h, 0)]);

/** GRU, gates z, r, h: h = (1 - z) * g + z * h. */
export const gru: Lower = (context) => {
  const afterwards = context.int("linear_before_reset", 0) !== 0;
  const rule = { gates: 3, addedGates: afterwards ? 2 : 3 };
  return runRecurrence(context, ["Sigmoid", "Tanh"], rule, 1, (cell, [h]) => {
    const { expressions: e, builder } = context;
    const { hidden } = cell.recurrence;
    const zr = gate(cell, 0, 2, h, 0);
    const [z, r] = [0, 1].map((k) => slicedAlong(context, zr, 1, k * hidden, hidden)) as [LazyTensor, LazyTensor];
    let g: LazyTensor;
    const rBias = cell.bias(5, 6);
    if (!afterwards) {
      const reset = h && combined(cell, [r, h], e.mul);
      g = gate(cell, 2, 3, reset, 1);
    } else if (h === undefined && rBias === undefined) {
      g = gate(cell, 2, 3, undefined, 1);
    } else {
      const linear = h === undefined ? rBias! : plus(context, cell.recurrent(h, 2, 3), rBias);
      builder.realise(linear);
      g = combined(cell, [r, linear, cell.input(2, 3)], (a, b, x) => cell.activate(1, e.add(e.mul(a, b), x)));
    }
    const mix = (zv: Expr, gv: Expr): Expr => e.mul(e.sub(e.float(1), zv), gv);
    if (h === undefined) return [combined(cell, [z, g], mix)];
    return [combined(cell, [z, g, h], (zv, gv, hv) => e.add(mix(zv, gv), e.mul(zv, hv)))];
  });
};

/** LSTM, gates i, o, f, c: c = f * c + i * g; h = o * tanh(c). Peepholes add P * c to i, f and (the new c) to o. */
export const lstm: Lower = (context) => {
  const coupled = context.int("input_forget", 0) !== 0;
  return runRecurrence(context, ["Sigmoid", "Tanh", "Tanh"], { gates: 4, addedGates: 4 }, 2, (cell, [h, c]) => {
    const { expressions: e } = context;
    const { hidden } = cell.recurrence;
    const peep = (k: number, state: LazyTensor | undefined): LazyTensor[] => {
      const weights = cell.peephole(k);
      return weights === undefined || state === undefined ? [] : [combined(cell, [state, weights], e.mul)];
    };
    let [i, o, f]: (LazyTensor | undefined)[] = [];
    if (context.optional(7) === undefined) {
      const iof = gate(cell, 0, 3, h, 0);
      [i, o, f] = [0, 1, 2].map((k) => slicedAlong(context, iof, 1, k * hidden, hidden));
    } else {
      i = gate(cell, 0, 1, h, 0, peep(0, c));
      f = gate(cell, 2, 3, h, 0, peep(2, c));
    }
    if (coupled) f = combined(cell, [i!], (v) => e.sub(e.float(1), v));
    const g = gate(cell, 3, 4, h, 1);
    const next =
      c === undefined
        ? combined(cell, [i!, g], e.mul)
        : combined(cell, [f!, c, i!, g], (fv, cv, iv, gv) => e.add(e.mul(fv, cv), e.mul(iv, gv)));
    o ??= gate(cell, 1, 2, h, 0, peep(1, next));
    const activation = cell.recurrence.activations[cell.direction]![2]!;
    return [combined(cell, [o, next], (ov, cv) => e.mul(ov, activation(e, cv))), next];
  });
};
