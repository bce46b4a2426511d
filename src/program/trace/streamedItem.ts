import { toHex, type Hash } from "../merkle/hash.ts";

/** Outputs of more bytes are not streamed: as many as are delivered on chain. */
export const STREAMED_BYTES = 65_536;

/** An output's bytes that differ from the previous item's: from `at` on, the bytes of `data`. */
type StreamedChange = { output: number; at: number; data: Hash };

/** A worker's report on an executed item; the first report contains all bytes. */
export type StreamedLine = { item: number; items: number; changes: StreamedChange[] };

/**
 * Returns the change in an output: one range of bytes.
 * @returns undefined if nothing has changed
 */
export function changeOf(
  output: number,
  tensor: Uint8Array,
  before: Uint8Array = new Uint8Array(),
): StreamedChange | undefined {
  let [at, end] = [0, tensor.length];
  if (before.length === tensor.length) {
    while (at < end && tensor[at] === before[at]) at++;
    if (at === end) return undefined;
    while (tensor[end - 1] === before[end - 1]) end--;
  }
  return { output, at, data: toHex(tensor.subarray(at, end)) };
}
