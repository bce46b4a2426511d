import type { DecoderLimits } from "../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import type { CompiledModel, TensorInfo } from "../../program/compiled.ts";
import { usualRange, type Box, type InputRange } from "../inputRange.ts";
import { NativeRuntimeError } from "../errors.ts";

/** A text that is generated: places are counted from 0, and item i chooses the token at place i + 1. */
type Text = { prompt: readonly number[]; items: number };

/** A runtime's inputs for a text, in order: the prompt, the prompt's length, and the last item's index. */
const TAKEN: readonly string[] = [DECODER.prompt, DECODER.promptLength, DECODER.index];

/** Returns a wrapped decoder's program inputs for a runtime: int64[slots], int64[1], int64[1]. */
export const textInfos = ({ inputs }: Pick<CompiledModel, "inputs">): TensorInfo[] =>
  TAKEN.map((taken) => inputs.find(({ name }) => name === taken)!);

/** Returns the widest range of such an input: known tokens, a prompt that fits, and items with slots. */
export function textRange({ slots, vocabulary }: DecoderLimits, info: Pick<TensorInfo, "name" | "dtype">): InputRange {
  const usual = usualRange(info);
  if (info.name === DECODER.promptLength) return { ...usual, low: 1, high: slots };
  return {
    ...usual,
    low: 0,
    high: info.name === DECODER.index || vocabulary === undefined ? slots - 1 : vocabulary - 1,
  };
}

/** Limits a box to the longest texts it allows: errors are measured on these texts. */
export const longestTexts = (box: Box): Box =>
  box.map((range) => (range.name === DECODER.index ? { ...range, low: range.high } : range));

/** @param inputs As `textInfos` has them. @throws NativeRuntimeError if they are no text that has slots */
export function textOf(inputs: readonly Uint8Array[]): Text {
  const [prompt, [length], [last]] = inputs.map(numbersOfInt64) as [number[], number[], number[]];
  const isFitting = (count: number): boolean => Number.isSafeInteger(count) && count >= 1 && count <= prompt.length;
  if (!isFitting(length!) || !isFitting(last! + 1))
    throw new NativeRuntimeError(
      `a prompt of ${length} tokens and ${last! + 1} items do not fit ${prompt.length} slots`,
    );
  return { prompt: prompt.slice(0, length), items: last! + 1 };
}

const numbersOfInt64 = (bytes: Uint8Array): number[] =>
  Array.from(new BigInt64Array(Uint8Array.from(bytes).buffer), Number);

/** Returns the tokens chosen by each item, in an item's format, int64[slots]. */
export const tokensBytes = (tokens: readonly number[], slots: number): Uint8Array =>
  new Uint8Array(BigInt64Array.from({ length: slots }, (_, k) => BigInt(tokens[k] ?? 0)).buffer);
