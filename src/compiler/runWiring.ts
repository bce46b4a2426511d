import { DType, dtypeName } from "../numerics/dtype.ts";
import { elementCount, type Model } from "../model/onnx/model.ts";
import type { InputSource } from "../program/types.ts";
import { RunWiringError } from "./errors.ts";
import type { Share } from "./passes/shares/cutBatch.ts";

/**
 * Where the items of a run take the inputs of a graph from, and which outputs of the graph are the program's, by their
 * names in the graph. An input that is not named is shared.
 */
export type RunWiring = {
  /** A batch: all inputs are `each`, all outputs too. Nothing else is given then. */
  batch?: true | undefined;
  /** Inputs that each item has of its own. */
  each?: readonly string[] | undefined;
  /** Inputs that are the item's number: int64, one element. */
  index?: readonly string[] | undefined;
  /** Inputs that take the previous item's output, by the input's name. */
  carried?: Readonly<Record<string, string>> | undefined;
  /** Outputs that each item has. */
  eachOutputs?: readonly string[] | undefined;
  /** Cuts a training step: see `cutBatch`. Inputs in `each` are cut. */
  share?: Share | undefined;
  /** Outputs that only the last item has. By default all that are neither carried nor each item's. */
  lastOutputs?: readonly string[] | undefined;
};

/**
 * Returns a wiring whose carried inputs have names of a model. A flag `INPUT=OUTPUT` is split before a model is known,
 * and both names may have equals signs: the longest input's name with an output's name behind it counts.
 */
export function carriedByName({ inputs, outputs }: Model["graph"], wiring: RunWiring): RunWiring {
  if (wiring.carried === undefined) return wiring;
  const has = (names: Names, name: string): boolean => names.some((value) => value.name === name);
  const named = Object.entries(wiring.carried).map(([input, output]) => {
    if (has(inputs, input) && has(outputs, output)) return [input, output];
    const text = `${input}=${output}`;
    const fits = inputs
      .map(({ name }) => name)
      .filter((name) => text.startsWith(`${name}=`) && has(outputs, text.slice(name.length + 1)));
    const [longest = input] = fits.sort((a, b) => b.length - a.length);
    return [longest, text.slice(longest.length + 1)];
  });
  return { ...wiring, carried: Object.fromEntries(named) as Record<string, string> };
}

/** The source of an input; for a carried input, by the output's number in the graph. */
type WiredSource = { kind: "each" } | { kind: "index" } | { kind: "carried"; output: number };

/** A wiring whose names were looked up. */
type Wired = {
  /** By the number of the input in the graph. */
  sources: ReadonlyMap<number, WiredSource>;
  /** The graph outputs that become program outputs, in the graph's order. */
  outputs: readonly { output: number; each: boolean }[];
};

/** Graph inputs without known types. */
type Names = readonly { name: string }[];

/**
 * Looks up the names of a wiring.
 * @param wiring Without one, all inputs are shared and all outputs the last item's.
 * @throws RunWiringError by the name that is unknown, given twice, or does not go with the others
 */
export function wire({ graph, source }: Model, wiring: RunWiring = {}): Wired {
  const { inputs, outputs } = graph;
  const refuse = (what: string): never => {
    throw new RunWiringError(`${source}: ${what}`);
  };
  const numberOf = (list: Names, kind: string, name: string): number => {
    const at = list.findIndex((value) => value.name === name);
    if (at >= 0) return at;
    return refuse(`it has no ${kind} "${name}"; its ${kind}s are ${list.map((value) => `"${value.name}"`).join(", ")}`);
  };
  const { batch, each = [], index = [], carried = {}, eachOutputs = [], lastOutputs } = wiring;
  if (batch === true) {
    const others = [...each, ...index, ...Object.keys(carried), ...eachOutputs, ...(lastOutputs ?? [])];
    if (others.length > 0) return refuse(`in a batch, all inputs and outputs are each item's; "${others[0]}" is named`);
    return {
      sources: new Map(inputs.map((_, i) => [i, { kind: "each" }])),
      outputs: outputs.map((_, output) => ({ output, each: true })),
    };
  }
  const sources = new Map<number, WiredSource>();
  const setSource = (name: string, source: () => WiredSource): void => {
    const input = numberOf(inputs, "input", name);
    if (sources.has(input)) refuse(`the input "${name}" is given two sources`);
    sources.set(input, source());
  };
  for (const name of each) setSource(name, () => ({ kind: "each" }));
  for (const name of index) setSource(name, () => ({ kind: "index" }));
  for (const [name, from] of Object.entries(carried))
    setSource(name, () => ({ kind: "carried", output: numberOf(outputs, "output", from) }));
  const scopes = new Map<number, boolean>();
  const setScope = (name: string, isEach: boolean): void => {
    const output = numberOf(outputs, "output", name);
    if (scopes.has(output)) refuse(`the output "${name}" is named twice`);
    scopes.set(output, isEach);
  };
  for (const name of eachOutputs) setScope(name, true);
  for (const name of lastOutputs ?? []) setScope(name, false);
  if (lastOutputs === undefined) {
    const isCarried = new Set([...sources.values()].map((from) => (from.kind === "carried" ? from.output : -1)));
    outputs.forEach((_, output) => {
      if (!scopes.has(output) && !isCarried.has(output)) scopes.set(output, false);
    });
  }
  if (scopes.size === 0)
    refuse("all outputs are carried, so the program has none: name those of the last item (--last-output)");
  const numbers = [...scopes.keys()].sort((a, b) => a - b);
  return { sources, outputs: numbers.map((output) => ({ output, each: scopes.get(output)! })) };
}

/** A tensor as the compiler knows it: its type and its shape. */
type Typed = { dtype: DType; shape: readonly number[] };

const text = ({ dtype, shape }: Typed): string => `${dtypeName(dtype)}[${shape.join(", ")}]`;

/**
 * Checks that an input can have the given source.
 * @param from The output that a carried input takes.
 * @throws RunWiringError by the input's name
 */
export function checkSource(
  source: string,
  input: Typed & { name: string },
  kind: InputSource["kind"],
  from?: Typed & { name: string },
): void {
  const refuse = (what: string): never => {
    throw new RunWiringError(`${source}: the input "${input.name}" is ${text(input)}: ${what}`);
  };
  if (kind === "shared") return;
  // A program has no input without elements: it would be a constant of all items.
  if (elementCount(input.shape) === 0) refuse(`without elements it cannot be ${kind}; give it a shape that has some`);
  if (kind === "index" && (input.dtype !== DType.int64 || elementCount(input.shape) !== 1))
    refuse("an item's number is one int64");
  if (from !== undefined && text(from) !== text(input))
    refuse(`it cannot be carried from the output "${from.name}", which is ${text(from)}`);
}
