import type { DecoderInterface } from "../../../src/compiler/wraps/decoderInterface.ts";
import { numbersOf, openPlainDecoder } from "../../../src/native/plain/decoder/plainDecoder.ts";

/** A token that plain onnxruntime chose, and the logits that it chose it by. */
type PlainChoice = { token: number; logits: readonly number[] };

/** The text that a loop over plain onnxruntime gives: always the first of the most probable tokens. */
export async function plainText(
  path: string,
  of: DecoderInterface,
  prompt: readonly number[],
  items: number,
): Promise<PlainChoice[]> {
  const plain = await openPlainDecoder(path, of);
  const text = plain.begin();
  const choices: PlainChoice[] = [];
  let token = prompt[0]!;
  for (let item = 0; item < items; item++) {
    const logits = numbersOf(await text.next([token]));
    token = prompt[item + 1] ?? logits.reduce((best, x, k) => (x > logits[best]! ? k : best), 0);
    choices.push({ token, logits });
  }
  await plain.close();
  return choices;
}

/**
 * How the tokens of both agree, in words. Where they differ first, the exact execution must have chosen a token that is
 * nearly as probable in plain onnxruntime: nearer than the logits of both may be apart.
 * @param difference How far logits are apart, as a part of their spread.
 */
export function agreement(tokens: readonly number[], choices: readonly PlainChoice[], difference: number): string {
  const at = choices.findIndex(({ token }, item) => token !== tokens[item]);
  if (at < 0) return `all ${tokens.length} tokens are those of plain onnxruntime`;
  const { token, logits } = choices[at]!;
  const gap = (logits[token]! - logits[tokens[at]!]!) / spreadOf(logits);
  const verdict = gap <= 2 * difference ? "a near tie" : "NO near tie";
  return (
    `the first ${at} tokens are those of plain onnxruntime; then its logits of both are ${gap.toExponential(1)} of ` +
    `their spread apart: ${verdict}`
  );
}

const spreadOf = (logits: readonly number[]): number =>
  logits.reduce((max, x) => Math.max(max, x), -Infinity) - logits.reduce((min, x) => Math.min(min, x), Infinity);
