import { decoderLimits } from "../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { generate } from "../plain/decoder/generate.ts";
import { createExecutor } from "../../executor/createExecutor.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { ExactDeciding } from "../exactDeciding.ts";
import type { NativeResult } from "../nativeRuntime.ts";
import { stacked } from "./nativeDecoder.ts";
import { textOf, tokensBytes } from "./text.ts";

/**
 * Opens the exact execution of a wrapped decoder's run, which also gives the logits for each chosen token.
 * @param logits The logits' name in the model.
 * @throws the executor's errors
 */
export async function openExactDecoder(
  compiled: CompiledModel,
  logits: string,
  endTokens: readonly number[],
): Promise<ExactDeciding> {
  const location = compiled.valueLocations!.get(DECODER.logits)!;
  const { slots, vocabulary } = decoderLimits(compiled);
  const executor = await createExecutor(compiled);
  const run = async (inputs: readonly Uint8Array[]): Promise<NativeResult> => {
    const { prompt, items } = textOf(inputs);
    const tokens: number[] = [];
    const rows: Float32Array[] = [];
    for await (const { token, tensors } of generate(compiled, executor, { prompt }, items, [location.step])) {
      const place = tokens.length;
      const isOver = place >= prompt.length && endTokens.includes(tokens[place - 1]!);
      if (place + 1 >= prompt.length && !isOver)
        rows.push(new Float32Array(Uint8Array.from(tensors[location.step]!).buffer));
      tokens.push(token);
    }
    return { outputs: [tokensBytes(tokens, slots)], deciding: new Map([[logits, stacked(rows, vocabulary!)]]) };
  };
  const deciding = [{ name: logits, dtype: location.dtype, shape: location.shape }];
  return { deciding, run, close: () => executor.close() };
}

/** Returns the part of two results following from equal tokens: the logits up to the first differing choice. */
export function sameBeginning(
  inputs: readonly Uint8Array[],
  results: readonly [NativeResult, NativeResult],
): [NativeResult, NativeResult] {
  const { prompt } = textOf(inputs);
  const [own, other] = results.map(({ outputs }) => new BigInt64Array(Uint8Array.from(outputs[0]!).buffer));
  const at = own!.findIndex((token, item) => token !== other![item]);
  if (at < 0) return [...results];
  const rows = at - prompt.length + 2;
  const [first, second] = results;
  return [beginning(first, rows), beginning(second, rows)];
}

const beginning = ({ outputs, deciding }: NativeResult, rows: number): NativeResult => ({
  outputs,
  deciding: new Map(
    [...deciding].map(([name, { dims, data }]) => {
      const vocabulary = dims[1]!;
      return [name, { dims: [rows, vocabulary], data: data.slice(0, rows * vocabulary) }];
    }),
  ),
});
