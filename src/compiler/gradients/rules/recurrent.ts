import { DType } from "../../../numerics/dtype.ts";
import { readRecurrence, type NamedActivation, type Recurrence } from "../../operators/recurrent/recurrence.ts";
import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** One direction of a recurrent node: what its cell computes with. Rows are the batch, columns the hidden size. */
type Cell = {
  b: Backward;
  hidden: number;
  /** Gates `from .. to` of the inputs' part at the present time. */
  input: (from: number, to: number) => string;
  /** Gates `from .. to` of the recurrent weights, times a state. */
  recurrent: (state: string, from: number, to: number) => string;
  /** Returns a gate's recurrent bias, for a gate that does not simply add the bias; undefined if no bias exists. */
  bias: (gate: number) => string | undefined;
  peephole: (gate: number) => string | undefined;
  /** The activation of function k, after the clip. */
  activate: (k: number, x: string) => string;
  /** The same without the clip. */
  squash: (k: number, x: string) => string;
};

type Kind = {
  gates: number;
  /** The gates whose two biases are added. */
  added: number;
  defaults: readonly string[];
  /** How many tensors are the state. */
  states: number;
  /** The state after a time step. */
  step: (cell: Cell, state: readonly string[]) => string[];
};

function activated(b: Backward, { name, alpha, beta }: NamedActivation, x: string): string {
  const float = (value: number): { float: number } => ({ float: value });
  switch (name) {
    case "sigmoid":
      return b.op("Sigmoid", x);
    case "tanh":
      return b.op("Tanh", x);
    case "relu":
      return b.op("Relu", x);
    case "softsign":
      return b.op("Softsign", x);
    case "affine":
      return b.add(b.mul(b.f(alpha ?? 1), x), b.f(beta ?? 0));
    case "scaledtanh":
      return b.mul(b.f(alpha ?? 1), b.op("Tanh", b.mul(b.f(beta ?? 1), x)));
    case "leakyrelu":
      return b.opWith("LeakyRelu", { alpha: float(alpha ?? 0.01) }, x);
    case "thresholdedrelu":
      return b.opWith("ThresholdedRelu", { alpha: float(alpha ?? 1) }, x);
    case "hardsigmoid":
      return b.opWith("HardSigmoid", { alpha: float(alpha ?? 0.2), beta: float(beta ?? 0.5) }, x);
    default:
      return b.refuse(`its activation ${name} has no gradient rule`);
  }
}

/** Part `d` of the first dimension, which vanishes. */
const at = (b: Backward, x: string, shape: readonly number[], d: number): string =>
  b.shaped(part(b, x, 0, d, d + 1), shape.slice(1));

const columns = (b: Backward, x: string, from: number, to: number, size: number): string =>
  part(b, x, 1, from * size, to * size);

/** The inputs' part of all gates and times, with the biases that are simply added: [times, batch, gates]. */
function inputsPart(b: Backward, kind: Kind, of: Recurrence, direction: number, x: string): string {
  const { steps, batch, hidden } = of;
  const [width, size] = [kind.gates * hidden, b.shape(0).at(-1)!];
  const w = at(b, b.x(1), b.shape(1), direction);
  const rows = b.shaped(x, [steps * batch, size]);
  let result = b.op("MatMul", rows, b.transpose(w, [1, 0]));
  if (b.has(3)) {
    const own = at(b, b.x(3), b.shape(3), direction);
    const second = part(b, own, 0, width, width + kind.added * hidden);
    const missing = width - kind.added * hidden;
    const whole = missing === 0 ? second : b.op("Pad", second, b.integers(0, missing));
    result = b.add(result, b.add(part(b, own, 0, 0, width), whole));
  }
  return b.shaped(result, [steps, batch, width]);
}

/** One direction: the outputs of all times, [times, batch, hidden], and the last state. */
function runDirection(
  b: Backward,
  kind: Kind,
  of: Recurrence,
  direction: number,
  x: string,
  initial: readonly string[],
): { y: string; last: readonly string[] } {
  const { steps, batch, hidden, clip } = of;
  const lengths = of.lengths === undefined ? undefined : b.opWith("Cast", { to: DType.int64 }, b.x(4));
  const backwards = of.reversed[direction]!;
  const turn = (data: string): string =>
    backwards && lengths !== undefined
      ? b.opWith("ReverseSequence", { batch_axis: 1, time_axis: 0 }, data, lengths)
      : data;
  const inputs = inputsPart(b, kind, of, direction, turn(x));
  const r = at(b, b.x(2), b.shape(2), direction);
  const turned = b.transpose(r, [1, 0]);
  const squash = (k: number, v: string): string => activated(b, of.named[direction]![k]!, v);
  const cellAt = (time: number): Cell => {
    const now = b.shaped(part(b, inputs, 0, time, time + 1), [batch, kind.gates * hidden]);
    return {
      b,
      hidden,
      input: (from, to) => columns(b, now, from, to, hidden),
      recurrent: (state, from, to) =>
        b.op("MatMul", state, from === 0 && to === kind.gates ? turned : columns(b, turned, from, to, hidden)),
      bias: (gate) => {
        if (!b.has(3)) return undefined;
        const own = at(b, b.x(3), b.shape(3), direction);
        return part(b, own, 0, (kind.gates + gate) * hidden, (kind.gates + gate + 1) * hidden);
      },
      peephole: (gate) =>
        b.has(7) ? part(b, at(b, b.x(7), b.shape(7), direction), 0, gate * hidden, (gate + 1) * hidden) : undefined,
      squash,
      activate: (k, v) => squash(k, clip === undefined ? v : b.op("Clip", v, b.f(-clip), b.f(clip))),
    };
  };
  let state = initial;
  const outputs: string[] = [];
  for (let k = 0; k < steps; k++) {
    const time = backwards && lengths === undefined ? steps - 1 - k : k;
    const next = kind.step(cellAt(time), state);
    let [kept, output] = [next, next[0]!];
    if (lengths !== undefined) {
      // A sequence past its end keeps the state and outputs 0.
      const isOn = b.op("Less", b.f(time, DType.int64), b.shaped(lengths, [batch, 1]));
      kept = next.map((value, n) => b.where(isOn, value, state[n]!));
      output = b.where(isOn, output, b.f(0));
    }
    state = kept;
    outputs[time] = b.shaped(output, [1, batch, hidden]);
  }
  return { y: turn(b.opWith("Concat", { axis: 0 }, ...outputs)), last: state };
}

/** A recurrent node written step by step, both directions, laid out as its outputs are. */
const unrolled =
  (kindOf: (b: Backward) => Kind): Rule =>
  (b) => {
    const kind = kindOf(b);
    const of = readRecurrence(b.attributes, kind.gates, kind.defaults);
    const { batchFirst, steps, batch, hidden, reversed } = of;
    const swapped = (x: string): string => (batchFirst ? b.transpose(x, [1, 0, 2]) : x);
    const x = swapped(b.x(0));
    const state = [reversed.length, batch, hidden];
    const runs = reversed.map((_, d) => {
      const initial = Array.from({ length: kind.states }, (_, k) =>
        b.has(5 + k) ? at(b, swapped(b.x(5 + k)), state, d) : b.zeros([batch, hidden]),
      );
      return runDirection(b, kind, of, d, x, initial);
    });
    const whole = runs.map(({ y }) => b.shaped(y, [steps, 1, batch, hidden]));
    const y = b.opWith("Concat", { axis: 1 }, ...whole);
    const finals = Array.from({ length: kind.states }, (_, k) => {
      const parts = runs.map(({ last }) => b.shaped(last[k]!, [1, batch, hidden]));
      return swapped(b.opWith("Concat", { axis: 0 }, ...parts));
    });
    return [batchFirst ? b.transpose(y, [2, 0, 1, 3]) : y, ...finals];
  };

/** h = f(xW + hR + b). */
export const rnn = unrolled(() => ({
  ...{ gates: 1, added: 1, defaults: ["Tanh"], states: 1 },
  step: ({ b, input, recurrent, activate }, [h]) => [activate(0, b.add(recurrent(h!, 0, 1), input(0, 1)))],
}));

/** Gates z, r, g: h = (1 - z) * g + z * h. */
export const gru = unrolled((whole) => {
  const afterwards = whole.attributes.int("linear_before_reset", 0) !== 0;
  return {
    ...{ gates: 3, added: afterwards ? 2 : 3, defaults: ["Sigmoid", "Tanh"], states: 1 },
    step: (cell, [state]) => {
      const { b, hidden, input, recurrent, activate } = cell;
      const h = state!;
      const zr = activate(0, b.add(recurrent(h, 0, 2), input(0, 2)));
      const [z, r] = [columns(b, zr, 0, 1, hidden), columns(b, zr, 1, 2, hidden)];
      const reset = (): string => {
        if (!afterwards) return recurrent(b.mul(r, h), 2, 3);
        const [linear, bias] = [recurrent(h, 2, 3), cell.bias(2)];
        return b.mul(r, bias === undefined ? linear : b.add(linear, bias));
      };
      const g = activate(1, b.add(reset(), input(2, 3)));
      return [b.add(b.mul(b.sub(b.f(1), z), g), b.mul(z, h))];
    },
  };
});

/** Gates i, o, f, c: c = f * c + i * g; h = o * tanh(c). Peepholes add P * c to i, f and (the new c) to o. */
export const lstm = unrolled((whole) => {
  const coupled = whole.attributes.int("input_forget", 0) !== 0;
  return {
    ...{ gates: 4, added: 4, defaults: ["Sigmoid", "Tanh", "Tanh"], states: 2 },
    step: ({ b, hidden, input, recurrent, peephole, activate, squash }, [h, c]) => {
      const all = b.add(recurrent(h!, 0, 4), input(0, 4));
      const gate = (k: number, seen: number | undefined, from: string, activation = 0): string => {
        const own = columns(b, all, k, k + 1, hidden);
        const weights = seen === undefined ? undefined : peephole(seen);
        return activate(activation, weights === undefined ? own : b.add(own, b.mul(from, weights)));
      };
      const i = gate(0, 0, c!);
      const f = coupled ? b.sub(b.f(1), i) : gate(2, 2, c!);
      const next = b.add(b.mul(f, c!), b.mul(i, gate(3, undefined, c!, 1)));
      return [b.mul(gate(1, 1, next), squash(2, next)), next];
    },
  };
});
