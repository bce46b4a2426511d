import type { DecoderInterface } from "../../compiler/wraps/decoderInterface.ts";
import type { DecidingTensor } from "../../model/decision/margin.ts";
import { openPlainDecoder, type PlainDecoder } from "../plain/decoder/plainDecoder.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import { decidingTensor } from "../decidingTensor.ts";
import { NativeModelError, NativeRuntimeError } from "../errors.ts";
import type { NativeResult, NativeRuntime, NativeSignature } from "../nativeRuntime.ts";
import { onnxruntimeName } from "../onnxruntimeNative.ts";
import { textOf, tokensBytes } from "./text.ts";

/** The decoder to open, and the number of threads. */
type NativeDecoderOptions = {
  /** The path of the model's own file, or the file's bytes. */
  from: string | Uint8Array;
  decoder: DecoderInterface;
  bound: ReadonlyMap<string, TensorData>;
  endTokens: readonly number[];
  signature: NativeSignature;
  threads: number;
};

/**
 * Opens a decoder's own model in plain onnxruntime, to act like its wrapping's run: the prompt in one pass, then one
 * token per step, always the most probable. The deciding tensor has a row of logits for each chosen token.
 * @throws NativeModelError if onnxruntime rejects the file; MissingPackageError
 */
export async function openNativeDecoder(options: NativeDecoderOptions): Promise<NativeRuntime> {
  const { from, decoder, bound, threads } = options;
  let plain: PlainDecoder;
  try {
    plain = await openPlainDecoder(from, decoder, bound, threads);
  } catch (cause) {
    throw new NativeModelError(`onnxruntime does not open the decoder: ${(cause as Error).message}`, { cause });
  }
  const name = onnxruntimeName(threads);
  return { name, run: (inputs) => generated(plain, options, inputs), close: plain.close };
}

async function generated(
  plain: PlainDecoder,
  { endTokens, signature }: NativeDecoderOptions,
  inputs: readonly Uint8Array[],
): Promise<NativeResult> {
  const { prompt, items } = textOf(inputs);
  const tokens = prompt.slice(1, items + 1);
  const rows: DecidingTensor["data"][] = [];
  const text = plain.begin();
  let given: readonly number[] = prompt;
  while (tokens.length < items) {
    const row = await nextRow(text.next(given));
    const token = largestPlace(row);
    rows.push(row);
    tokens.push(token);
    given = [token];
    // After an end token, the text repeats the token: nothing more is decided.
    if (endTokens.includes(token)) while (tokens.length < items) tokens.push(token);
  }
  const [chosen, logits] = [signature.outputs[0]!, signature.deciding[0]!];
  return {
    outputs: [tokensBytes(tokens, chosen.shape[0]!)],
    deciding: new Map([[logits.name, stacked(rows, logits.shape[0]!)]]),
  };
}

/** Logits as the program has them, float32[vocabulary]. @throws NativeRuntimeError */
async function nextRow(next: Promise<TensorData>): Promise<Float32Array> {
  try {
    const { bytes, dtype, shape } = await next;
    return new Float32Array(decidingTensor(bytes, dtype, shape).data);
  } catch (cause) {
    throw new NativeRuntimeError(`onnxruntime: ${(cause as Error).message}`, { cause });
  }
}

/** Rows of logits as one tensor, [rows, vocabulary]. */
export function stacked(rows: readonly DecidingTensor["data"][], vocabulary: number): DecidingTensor {
  const data = new Float32Array(rows.length * vocabulary);
  rows.forEach((row, k) => data.set(row, k * vocabulary));
  return { dims: [rows.length, vocabulary], data };
}

/** The first place of the largest number. */
function largestPlace(row: DecidingTensor["data"]): number {
  let best = 0;
  for (let k = 1; k < row.length; k++) if (row[k]! > row[best]!) best = k;
  return best;
}
