import { DType } from "../../numerics/dtype.ts";
import type { Model, Node, ValueInfo } from "../../model/onnx/model.ts";
import { DecoderError, DecoderRequestError } from "../errors.ts";
import { MAX_ITEMS } from "../../program/run.ts";
import type { RunWiring } from "../runWiring.ts";
import { decoderInterface, type Cache, type DecoderInterface } from "./decoderInterface.ts";

import { NodeList } from "../nodes.ts";
import { greedyToken, sampledToken } from "./sampling.ts";

/** The prefix of all names added by the wrapping, except input and output names. */
const PREFIX = "decoder.";

/** How a decoder becomes a run. Another choice is another program. */
export type DecoderOptions = {
  /** Rows of each cache: a text has one token more at most. */
  slots: number;
  /** Tokens ending a text: once chosen, an end token repeats for the rest. By default none. */
  endTokens?: readonly number[] | undefined;
  /** If true, the next token is always the most probable token. By default, run inputs control the drawing. */
  greedy?: true | undefined;
  /** If true, the caches after the last item are outputs too: another run can go on with the text. */
  chain?: true | undefined;
};

/** The inputs and the output that a wrapped decoder has, by their names; its caches have the model's names. */
export const DECODER = {
  prompt: "prompt",
  promptLength: "prompt_length",
  temperature: "temperature",
  topK: "top_k",
  topP: "top_p",
  seed: "seed",
  index: "index",
  before: "tokens_before",
  tokens: "tokens",
  /** A value within the graph: the logits of the item's token, float32[vocabulary]. */
  logits: `${PREFIX}logits`,
} as const;

/** No run has more items. */
const MAX_SLOTS = MAX_ITEMS;

/**
 * Wraps a decoder into a run that generates one text: item i puts the token at place i into the caches and chooses the
 * token at place i + 1, element i of `tokens`.
 *
 * - Tokens up to `prompt_length` (at least 1) come from `prompt`; places are counted from 0.
 * - A cache has `slots` rows. Item i reads rows 0 .. i - 1, the mask hides the others, and row i is written.
 * - An item beyond the slots writes neither a row nor a token.
 *
 * @returns the model to compile, the run's wiring, and the decoder's interface; all shapes are known
 * @throws DecoderError naming the missing or unfitting input or output, DecoderRequestError for the slots
 */
export function wrapDecoder(
  model: Model,
  options: DecoderOptions,
): { model: Model; run: RunWiring; decoder: DecoderInterface } {
  const { graph, source } = model;
  const { slots, endTokens = [] } = options;
  const refuse = (what: string): never => {
    throw new DecoderError(`${source} cannot be wrapped as a decoder: ${what}`);
  };
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > MAX_SLOTS)
    throw new DecoderRequestError(`${slots} slots, expected a whole number from 1 to ${MAX_SLOTS} (--slots)`);
  const of = decoderInterface(model);
  const own = new Set<string>(Object.values(DECODER));
  const values = [...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)];
  const taken = [...values, ...graph.inputs.map(({ name }) => name)].find(
    (name) => own.has(name) || name.startsWith(PREFIX),
  );
  if (taken !== undefined) refuse(`it has a value "${taken}" of its own, a name that the run needs`);

  const n = new NodeList(PREFIX);
  const places = n.integers(...Array.from({ length: slots }, (_, slot) => slot));
  const isForced = n.node("Less", [DECODER.index, DECODER.promptLength]);
  const current = n.node("Where", [
    isForced,
    elementAt(n, DECODER.prompt, DECODER.index, slots),
    elementAt(n, DECODER.before, n.node("Sub", [DECODER.index, n.integers(1)]), slots),
  ]);
  const isHere = n.node("Equal", [places, DECODER.index]);
  givenInputs(n, of, { current, places, slots });
  const column = n.reshape(isHere, [1, 1, slots, 1]);
  const before = n.nodes.splice(0);

  // A cache is written right after computing the new row. Otherwise the new rows would be kept until the end, and
  // committed to.
  const writes = new Map<string, Node[]>();
  for (const cache of of.caches) {
    const inputs = [column, newRow(n, model, cache), cache.past];
    n.node("Where", inputs, {}, { output: nextOf(cache) });
    writes.set(cache.present, n.nodes.splice(0));
  }
  const made = new Set(graph.nodes.flatMap(({ outputs }) => outputs));
  const layers = [
    // Values made by no node are given to the graph.
    ...[...writes].flatMap(([present, nodes]) => (made.has(present) ? [] : nodes)),
    ...graph.nodes.flatMap((node) => [node, ...node.outputs.flatMap((name) => writes.get(name) ?? [])]),
  ];

  const logits = castTo(n, n.reshape(of.logits, [-1]), DType.float32, DECODER.logits);
  const chosen = options.greedy === true ? greedyToken(n, logits) : sampledToken(n, logits, DECODER);
  const next = nextToken(n, { current, chosen, isForced, endTokens, slots });
  n.node("Where", [isHere, next, DECODER.before], {}, { output: DECODER.tokens });

  const int64 = (name: string, length: number): ValueInfo => ({ name, dtype: DType.int64, shape: [length] });
  const float32 = (name: string): ValueInfo => ({ name, dtype: DType.float32, shape: [1] });
  const { temperature, topK, topP, seed, index } = DECODER;
  return {
    decoder: of,
    model: {
      ...model,
      graph: {
        ...graph,
        inputs: [
          int64(DECODER.prompt, slots),
          int64(DECODER.promptLength, 1),
          ...(options.greedy === true ? [] : [float32(temperature), int64(topK, 1), float32(topP), int64(seed, 1)]),
          int64(index, 1),
          int64(DECODER.before, slots),
          ...of.caches.map(({ past: name, dtype, heads, size }) => ({ name, dtype, shape: [1, heads, slots, size] })),
        ],
        outputs: [int64(DECODER.tokens, slots), ...of.caches.map(({ past, ...cache }) => outputInfo(past, cache))],
        nodes: [...before, ...layers, ...n.nodes],
        initializers: new Map([...graph.initializers, ...n.initializers]),
      },
    },
    run: {
      index: [index],
      carried: {
        [DECODER.before]: DECODER.tokens,
        ...Object.fromEntries(of.caches.map((cache) => [cache.past, nextOf(cache)])),
      },
      lastOutputs: [DECODER.tokens, ...(options.chain === true ? of.caches.map(nextOf) : [])],
    },
  };
}

/** The name of a cache with the new row. */
const nextOf = ({ past }: Pick<Cache, "past">): string => `${PREFIX}next.${past}`;

const outputInfo = (past: string, { dtype }: Pick<Cache, "dtype">): ValueInfo => ({
  name: nextOf({ past }),
  dtype,
  shape: undefined,
});

/** The element of int64[length] at a place, int64[1]; of places outside, the nearest one. */
function elementAt(n: NodeList, list: string, place: string, length: number): string {
  const within = n.node("Max", [n.node("Min", [place, n.integers(length - 1)]), n.integers(0)]);
  return n.node("Gather", [list, within], { axis: 0 });
}

function castTo(n: NodeList, x: string, to: DType, output: string): string {
  return n.node("Cast", [x], { to }, { output });
}

/** Gives the model's inputs besides caches: the token, the mask for the slots and the new row, the position. */
function givenInputs(
  n: NodeList,
  { ids, mask, positions }: DecoderInterface,
  { current, places, slots }: { current: string; places: string; slots: number },
): void {
  castTo(n, n.reshape(current, [1, 1]), ids.dtype, ids.name);
  const written = n.node("Cast", [n.node("Less", [places, DECODER.index])], { to: DType.int64 });
  const all = n.node("Concat", [written, n.integers(1)], { axis: 0 });
  castTo(n, n.reshape(all, [1, slots + 1]), mask.dtype, mask.name);
  if (positions !== undefined) castTo(n, n.reshape(DECODER.index, [1, 1]), positions.dtype, positions.name);
}

/** Writes the next place's token: from the prompt, the token that ended the text, or the chosen token. */
function nextToken(
  n: NodeList,
  of: { current: string; chosen: string; isForced: string; endTokens: readonly number[]; slots: number },
): string {
  const place = n.node("Add", [DECODER.index, n.integers(1)]);
  const isPrompt = n.node("Less", [place, DECODER.promptLength]);
  let free = of.chosen;
  for (const token of of.endTokens) {
    const isEnd = n.node("Equal", [of.current, n.integers(token)]);
    const isOver = n.node("And", [n.node("Not", [of.isForced]), isEnd]);
    free = n.node("Where", [isOver, of.current, free]);
  }
  return n.node("Where", [isPrompt, elementAt(n, DECODER.prompt, place, of.slots), free]);
}

/** The row of present keys or values that the item's token has made: [1, heads, 1, size]. */
function newRow(n: NodeList, { graph }: Model, { present }: Cache): string {
  const made = graph.nodes.find(({ outputs }) => outputs.includes(present));
  // GroupQueryAttention puts the row behind the rows counted by the mask, not behind all given rows.
  const isCounted = made?.operator === "GroupQueryAttention" && made.domain === "com.microsoft";
  return n.node("Gather", [present, isCounted ? DECODER.index : n.integers(-1)], { axis: 2 });
}
