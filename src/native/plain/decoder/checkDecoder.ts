import type { DecoderInterface } from "../../../compiler/wraps/decoderInterface.ts";
import { decoderLimits } from "../../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../../compiler/wraps/wrapDecoder.ts";
import { DecoderError } from "../../../compiler/errors.ts";
import { createExecutor } from "../../../executor/createExecutor.ts";
import type { TensorData } from "../../../model/onnx/model.ts";
import type { CompiledModel } from "../../../program/compiled.ts";
import { Prng } from "../../../base/prng.ts";
import { generate } from "./generate.ts";
import { numbersOf, openPlainDecoder } from "./plainDecoder.ts";

/** Tokens that are compared: a model that takes positions from the slots differs at the first. */
const TOKENS = 6;

/**
 * The maximum difference between logits, in fractions of the plain logits' spread. onnxruntime's 4-bit and 16-bit
 * kernels are off by some 2^-8. The value only affects a refusal; the program's meaning does not depend on it.
 */
const TOLERANCE = 0.02;

/** The largest difference found between logits, in fractions of their spread. */
type DecoderCheck = { tokens: number; difference: number };

/**
 * Compares a wrapped decoder with its model in plain onnxruntime, on random tokens. A model taking positions or masks
 * from its past's shape would compute something else with slots.
 * @param from Path of the model's own file, or the file's bytes.
 * @throws DecoderError if the logits differ
 */
export async function checkDecoder(
  from: string | Uint8Array,
  wrapped: CompiledModel,
  of: DecoderInterface,
  { bound, seed = 1 }: { bound?: ReadonlyMap<string, TensorData>; seed?: number } = {},
): Promise<DecoderCheck> {
  const location = wrapped.valueLocations!.get(DECODER.logits)!;
  const vocabulary = location.shape[0]!;
  const prng = new Prng(seed);
  const count = Math.min(TOKENS, decoderLimits(wrapped).slots);
  const prompt = Array.from({ length: count }, () => prng.below(vocabulary));
  const plain = await openPlainDecoder(from, of, bound);
  const text = plain.begin();
  const executor = await createExecutor(wrapped);
  let difference = 0;
  try {
    let place = 0;
    for await (const { tensors } of generate(wrapped, executor, { prompt }, count, [location.step])) {
      const bytes = tensors[location.step]!;
      const exact = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
      const expected = numbersOf(await text.next([prompt[place]!]));
      difference = Math.max(difference, differenceOf(exact, expected));
      if (!(difference <= TOLERANCE))
        throw new DecoderError(
          `with slots, the model gives other logits than without: at place ${place} of random tokens they differ by ` +
            `${(100 * difference).toPrecision(2)} % of their spread. It takes positions or a mask from the shape of ` +
            "its past: export it with the input position_ids, or with positions from attention_mask",
        );
      place++;
    }
  } finally {
    await executor.close();
    await plain.close();
  }
  return { tokens: count, difference };
}

/**
 * Returns the largest difference, divided by the distance from the smallest to the largest finite logit; NaN if any
 * logits that are not finite differ.
 */
function differenceOf(exact: Float32Array, expected: readonly number[]): number {
  if (exact.length !== expected.length) return NaN;
  const finite = expected.filter(Number.isFinite);
  const [low, high] = finite.reduce(([min, max], x) => [Math.min(min, x), Math.max(max, x)], [Infinity, -Infinity] as [
    number,
    number,
  ]);
  // Object.is treats two NaN as equal.
  const largest = expected.reduce(
    (max, x, k) => Math.max(max, Object.is(x, exact[k]) ? 0 : Number.isFinite(x) ? Math.abs(x - exact[k]!) : NaN),
    0,
  );
  return largest === 0 ? 0 : largest / (high - low);
}
