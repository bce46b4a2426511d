import type { IncomingMessage } from "node:http";
import { FetchError, FetchRefusedError } from "../../base/fetchErrors.ts";

/**
 * The minimum speed of a place: nothing for some seconds, then so many bytes a second. Strangers name the places, and a
 * slow place would keep other jobs' inputs waiting.
 */
const SPARE_SECONDS = 15;
const BYTES_PER_SECOND = 2 ** 20;
const minBytes = (seconds: number): number => (seconds - SPARE_SECONDS) * BYTES_PER_SECOND;
/** Returns the maximum seconds that a place may take for so many bytes. */
export const secondsFor = (bytes: number): number => SPARE_SECONDS + bytes / BYTES_PER_SECOND;
/** Room that is made at first: what a server announces is not believed. */
const FIRST_BYTES = 2 ** 20;

/**
 * Reads an answer.
 * @param max The maximum bytes of the answer. @param name The answer's name, for errors.
 * @throws FetchError if the answer is too slow; FetchRefusedError if the answer exceeds the maximum
 */
export async function readBody(response: IncomingMessage, max: number, name: string): Promise<Buffer> {
  const begin = performance.now();
  let file: Buffer = Buffer.allocUnsafe(Math.min(max, FIRST_BYTES));
  let length = 0;
  // Pieces are copied: each original piece, however small, would hold far more memory than its bytes.
  for await (const piece of response as AsyncIterable<Buffer>) {
    if (length + piece.length > max) throw new FetchRefusedError(`${name} has more than the ${max} bytes expected`);
    while (file.length < length + piece.length) file = grown(file, max);
    piece.copy(file, length);
    length += piece.length;
    if (length < minBytes((performance.now() - begin) / 1_000)) throw new FetchError(`${name} is too slow`);
  }
  return file.subarray(0, length);
}

/** The same bytes with room for as many again, but not for more than there may be. */
function grown(file: Buffer, max: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(2 * file.length, max));
  file.copy(larger);
  return larger;
}
