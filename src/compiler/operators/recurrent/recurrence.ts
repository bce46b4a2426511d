import { DType } from "../../../numerics/dtype.ts";
import type { Expr, Expressions } from "../../expressions/expression.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";

/** The function computed by a recurrent cell's activation, with alpha and beta. */
type Activation = (e: Expressions, x: Expr) => Expr;

const leaky = (e: Expressions, x: Expr, alpha: number): Expr =>
  e.select(e.lt(x, e.float(0)), e.mul(e.float(alpha), x), x);

/** Makes an activation from its alpha and beta. */
type MakeActivation = (alpha?: number, beta?: number) => Activation;

const ACTIVATIONS: Record<string, MakeActivation> = {
  sigmoid: () => (e, x) => e.sigmoid(x),
  tanh: () => (e, x) => e.tanh(x),
  relu: () => (e, x) => e.max(x, e.float(0)),
  affine:
    (alpha = 1, beta = 0) =>
    (e, x) =>
      e.add(e.mul(e.float(alpha), x), e.float(beta)),
  leakyrelu:
    (alpha = 0.01) =>
    (e, x) =>
      leaky(e, x, alpha),
  thresholdedrelu:
    (alpha = 1) =>
    (e, x) =>
      e.select(e.lt(e.float(alpha), x), x, e.float(0)),
  scaledtanh:
    (alpha = 1, beta = 1) =>
    (e, x) =>
      e.mul(e.float(alpha), e.tanh(e.mul(e.float(beta), x))),
  hardsigmoid:
    (alpha = 0.2, beta = 0.5) =>
    (e, x) =>
      e.clamp(e.add(e.mul(e.float(alpha), x), e.float(beta)), e.float(0), e.float(1)),
  softsign: () => (e, x) => e.div(x, e.add(e.float(1), e.abs(x))),
};
/** By name: names come from the model, and a name may equal a property that every object has. */
const KNOWN: ReadonlyMap<string, MakeActivation> = new Map(Object.entries(ACTIVATIONS));
/** How many of activation_alpha and activation_beta each takes. */
const TAKES: Record<string, readonly [number, number]> = {
  affine: [1, 1],
  leakyrelu: [1, 0],
  thresholdedrelu: [1, 0],
  scaledtanh: [1, 1],
  hardsigmoid: [1, 1],
};

/** An activation: the name in lower case, and the parameters where the activation takes some and they are given. */
export type NamedActivation = { name: string; alpha: number | undefined; beta: number | undefined };

/** Reads attribute `activations`: for each direction the functions of its gates. */
function readActivations(context: NodeContext, directions: number, defaults: readonly string[]): NamedActivation[][] {
  const names = context.strings("activations") ?? Array.from({ length: directions }, () => defaults).flat();
  const alphas = [...(context.floats("activation_alpha") ?? [])];
  const betas = [...(context.floats("activation_beta") ?? [])];
  if (names.length !== directions * defaults.length) return context.fail(`${names.length} activations`);
  const all = names.map((given): NamedActivation => {
    const name = given.toLowerCase();
    if (!KNOWN.has(name)) return context.refuse("activations", `has ${given}`);
    const [takesAlpha, takesBeta] = TAKES[name] ?? [0, 0];
    return { name, alpha: takesAlpha ? alphas.shift() : undefined, beta: takesBeta ? betas.shift() : undefined };
  });
  return Array.from({ length: directions }, (_, d) => all.slice(d * defaults.length, (d + 1) * defaults.length));
}

/** The sizes, directions and activations that RNN, GRU and LSTM share. */
export type Recurrence = {
  batchFirst: boolean;
  steps: number;
  batch: number;
  hidden: number;
  /** For each direction, whether it runs from the end. */
  reversed: readonly boolean[];
  activations: readonly (readonly Activation[])[];
  named: readonly (readonly NamedActivation[])[];
  /** Limits what goes into an activation; undefined if there is no clip. */
  clip: number | undefined;
  /** Lengths of the sequences, [batch], or undefined if all are whole. */
  lengths: LazyTensor | undefined;
};

/** Refuses biases, lengths, initial states and peepholes of other shapes. */
function checkOthers(
  context: NodeContext,
  directions: number,
  gates: number,
  hidden: number,
  batch: number,
  batchFirst: boolean,
): void {
  const state = batchFirst ? [batch, directions, hidden] : [directions, batch, hidden];
  const expected = [[directions, 2 * gates * hidden], [batch], state, state, [directions, 3 * hidden]];
  for (const [k, shape] of expected.entries()) {
    const found = context.optional(3 + k)?.shape.join();
    if (found !== undefined && found !== shape.join())
      context.fail(`input ${3 + k} is [${found}], expected [${shape.join()}]`);
  }
}

/** Reads what the three operators share and checks the shapes. */
export function readRecurrence(context: NodeContext, gates: number, defaults: readonly string[]): Recurrence {
  const [x, w, r] = [context.input(0), context.input(1), context.input(2)];
  if (x.dtype !== DType.float32) context.refuse("input 0", "is not float32");
  const batchFirst = context.int("layout", 0) !== 0;
  const [steps = 0, batch = 0] = batchFirst ? [x.shape[1], x.shape[0]] : x.shape;
  const direction = context.string("direction", "forward");
  const reversed =
    direction === "bidirectional"
      ? [false, true]
      : direction === "forward" || direction === "reverse"
        ? [direction === "reverse"]
        : context.refuse("direction", `is ${direction}`);
  const hidden = context.int("hidden_size", r.shape[2] ?? 0);
  const fits =
    x.shape.length === 3 &&
    w.shape.join() === [reversed.length, gates * hidden, x.shape[2]].join() &&
    r.shape.join() === [reversed.length, gates * hidden, hidden].join();
  if (!fits) context.fail(`data [${x.shape.join()}], weights [${w.shape.join()}] and [${r.shape.join()}]`);
  checkOthers(context, reversed.length, gates, hidden, batch, batchFirst);
  const named = readActivations(context, reversed.length, defaults);
  const given = context.optional(4);
  const known = given && context.builder.words(given);
  const whole = given === undefined || known?.every((word) => Number(word) === steps) === true;
  return {
    batchFirst,
    steps,
    batch,
    hidden,
    reversed,
    activations: named.map((all) => all.map(({ name, alpha, beta }) => KNOWN.get(name)!(alpha, beta))),
    named,
    clip: context.has("clip") ? context.float("clip", 0) : undefined,
    lengths: whole ? undefined : given,
  };
}
