import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../model/onnx/tensorData.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { sharedZeros } from "../../program/merkle/tensor.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { Guess } from "../../program/trace/runItems.ts";
import { DecoderRequestError } from "../errors.ts";
import { DECODER } from "./wrapDecoder.ts";

/** The inputs for generating a text. */
export type Generation = {
  /** At least one token. */
  prompt: readonly number[];
  /** 0, the default: always the most probable token. */
  temperature?: number | undefined;
  /** Only the most probable k tokens; 0, the default: all. */
  topK?: number | undefined;
  /** Only the most probable tokens with this probability together; 1, the default: all. */
  topP?: number | undefined;
  /** 64 bits, by default 0. */
  seed?: bigint | undefined;
};

/** The limits for requests to a wrapped decoder. */
export type DecoderLimits = {
  slots: number;
  /** The number of tokens that the model knows; undefined if nobody knows yet. */
  vocabulary: number | undefined;
  /** Whether it draws nothing. */
  isGreedy: boolean;
};

/** @throws DecoderRequestError if the program is no wrapped decoder */
export function decoderLimits({
  inputs,
  valueLocations,
}: Pick<CompiledModel, "inputs" | "valueLocations">): DecoderLimits {
  const slots = inputs.find(({ name }) => name === DECODER.before)?.shape[0];
  if (slots === undefined)
    throw new DecoderRequestError("the program is no wrapped decoder: compile it with --decoder");
  const isGreedy = !inputs.some(({ name }) => name === DECODER.temperature);
  return { slots, vocabulary: valueLocations?.get(DECODER.logits)?.shape[0], isGreedy };
}

/**
 * @param items Of the run, if they are known.
 * @throws DecoderRequestError if the prompt does not fit or has a token that the model does not know, if the items need
 *   more slots than there are, or if a greedy program is asked to draw
 */
export function requireGeneration(
  { slots, vocabulary, isGreedy }: DecoderLimits,
  { prompt, temperature = 0, topK = 0, topP = 1, seed }: Generation,
  items = 1,
): void {
  if (prompt.length < 1 || prompt.length > slots)
    throw new DecoderRequestError(`a prompt of ${prompt.length} tokens, expected 1 to ${slots} (--slots)`);
  if (items > slots)
    throw new DecoderRequestError(
      `a text of ${items + 1} tokens needs ${items} slots, the program has ${slots} (--slots)`,
    );
  const unknown = vocabulary === undefined ? undefined : prompt.find((token) => token < 0 || token >= vocabulary);
  if (unknown !== undefined)
    throw new DecoderRequestError(`the prompt's token ${unknown}: the model knows tokens from 0 to ${vocabulary! - 1}`);
  if (isGreedy && (temperature !== 0 || topK !== 0 || topP !== 1 || seed !== undefined))
    throw new DecoderRequestError(
      "the program is greedy and draws nothing: compile it without --greedy to draw tokens",
    );
}

/**
 * Returns a job's tensors for generating a text with a wrapped decoder, in program order: the tensors of all items, and
 * for the first item the carried tensors, caches of zeros. The index has no bytes.
 * @throws DecoderRequestError as `requireGeneration`
 */
export function decoderInputs(
  model: Pick<CompiledModel, "inputs" | "valueLocations">,
  generation: Generation,
): Uint8Array[] {
  const limits = decoderLimits(model);
  requireGeneration(limits, generation);
  const { slots } = limits;
  const { prompt, temperature = 0, topK = 0, topP = 1, seed } = generation;
  const given = new Map<string, Uint8Array>([
    [DECODER.prompt, int64Tensor([...prompt, ...new Array<number>(slots - prompt.length).fill(0)]).bytes],
    [DECODER.promptLength, int64Tensor([prompt.length]).bytes],
    [DECODER.temperature, floatTensor([temperature]).bytes],
    [DECODER.topK, int64Tensor([topK]).bytes],
    [DECODER.topP, floatTensor([topP]).bytes],
    [DECODER.seed, int64Tensor([BigInt.asIntN(64, seed ?? 0n)]).bytes],
    [DECODER.index, new Uint8Array()],
  ]);
  return model.inputs.map(
    ({ name, dtype, shape }) => given.get(name) ?? sharedZeros(elementCount(shape) * dtypeBytes(dtype)),
  );
}

/**
 * A guess for the carried tensors in a wrapped decoder's run: `tokens`.
 * @param run The run's inputs, or the inputs for some consecutive items.
 * @param text The last item's `tokens`, as somebody says. Without it, only tokens of the prompt are guessed.
 * @returns undefined for other programs
 */
export function tokensGuess(
  { program, inputs }: Pick<CompiledModel, "program" | "inputs">,
  run: RunInputs,
  text?: Uint8Array,
): Guess | undefined {
  const find = (name: string): number => inputs.findIndex((input) => input.name === name);
  const [prompt, promptLength, before] = [DECODER.prompt, DECODER.promptLength, DECODER.before].map(find) as Three;
  const source = program.inputs[before]?.source;
  const places = program.inputs[prompt];
  const [tokens, start, length] = [run.bytes[prompt], run.bytes[before], run.bytes[promptLength]];
  if (source?.kind !== "carried" || places?.dtype !== DType.int64 || length?.length !== TOKEN_BYTES) return undefined;
  if (tokens?.length !== places.count * TOKEN_BYTES || start?.length !== tokens.length) return undefined;
  // Element k of `tokens` is the token at place k + 1, of the prompt the one at place k.
  const known = text ?? tokens.subarray(TOKEN_BYTES);
  const end = text === undefined ? Math.min(chosenToken(length, 0), places.count) : Infinity;
  const { firstItem } = run.length;
  return {
    checkpoints: [source.checkpoint],
    of(item) {
      const index = firstItem + item;
      if (index >= end) return undefined;
      const guess = Uint8Array.from(start);
      const from = firstItem * TOKEN_BYTES;
      guess.set(known.subarray(from, Math.min(index * TOKEN_BYTES, guess.length)), from);
      return new Map([[before, guess]]);
    },
  };
}

type Three = [number, number, number];
const TOKEN_BYTES = dtypeBytes(DType.int64);

/** Returns the token chosen by an item, from the item's `tokens`. @param item The item's index, below the slots */
export const chosenToken = (tokens: Uint8Array, item: number): number =>
  Number(new DataView(tokens.buffer, tokens.byteOffset).getBigInt64(item * dtypeBytes(DType.int64), true));
