import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { FetchError, FetchRefusedError } from "../../base/fetchErrors.ts";
import { fetchError, openUrl } from "../../base/openUrl.ts";

/** The slowest accepted download, plus a spare minute. Slower downloads are given up. */
const BYTES_PER_SECOND = 2 ** 18;
const SPARE_SECONDS = 60;
const MAX_SECONDS = 86_400;
const SECONDS_OF_TEXT = 30;

/** A file as a catalogue names it. */
type NamedFile = { uri: string; sha256: string; bytes: number };

/**
 * Fetches a file into a new file, and checks length and hash on the way. No more bytes than the expected length are
 * taken.
 * @param options.allowFile Whether the source may be on this machine's disk.
 * @param options.seconds Time limit, instead of the limit by the slowest allowed speed.
 * @throws FetchError if a later try may succeed; FetchRefusedError. Written bytes are left to be deleted.
 */
export async function fetchModel(
  { uri, sha256, bytes }: NamedFile,
  target: string,
  { allowFile, signal, seconds = SPARE_SECONDS + bytes / BYTES_PER_SECOND }: FetchOptions,
): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(Math.min(seconds, MAX_SECONDS) * 1_000))]);
  const source = uri.startsWith("file:") ? await openFile(uri, bytes, allowFile) : await openSized(uri, bytes, limited);
  const hash = createHash("sha256");
  let length = 0;
  const check = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      length += piece.length;
      if (length > bytes) throw new FetchRefusedError(`${uri} has more than the ${bytes} bytes of the catalogue`);
      hash.update(piece);
      yield piece;
    }
  };
  await pipeline(source, check, createWriteStream(target, { flags: "wx" }), { signal: limited }).catch(
    (cause: unknown) => {
      throw fetchError(uri, cause);
    },
  );
  if (length < bytes) throw new FetchError(`${uri} ended after ${length} of ${bytes} bytes`);
  const found = hash.digest("hex");
  if (found !== sha256) throw new FetchRefusedError(`${uri} has the SHA-256 ${found}, not ${sha256}`);
}

type FetchOptions = { allowFile: boolean; signal: AbortSignal; seconds?: number };

/** Fetches a text. @throws FetchError, FetchRefusedError */
export async function fetchText(uri: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(SECONDS_OF_TEXT * 1_000)]);
  const response = await openUrl(uri, limited);
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > maxBytes) throw new FetchRefusedError(`${uri} has more than ${maxBytes} bytes`);
      pieces.push(piece);
    }
  } catch (cause) {
    throw fetchError(uri, cause);
  }
  return Buffer.concat(pieces).toString();
}

async function openFile(uri: string, bytes: number, allowFile: boolean): Promise<Readable> {
  // SAFETY: a catalogue from elsewhere must not name files on this machine.
  if (!allowFile) throw new FetchRefusedError(`${uri} is refused: only a catalogue on this machine may name files`);
  let path: string;
  try {
    path = fileURLToPath(uri);
  } catch (cause) {
    throw new FetchRefusedError(`${uri} names no file of this machine`, { cause });
  }
  const found = await stat(path).catch((cause: unknown) => {
    throw new FetchError(`${uri} cannot be read: ${(cause as Error).message}`, { cause });
  });
  if (!found.isFile() || found.size !== bytes)
    throw new FetchRefusedError(`${uri} is no file of the ${bytes} bytes of the catalogue`);
  return createReadStream(path);
}

async function openSized(uri: string, bytes: number, signal: AbortSignal): Promise<Readable> {
  const response = await openUrl(uri, signal);
  const announced = response.headers["content-length"];
  if (announced === undefined || Number(announced) === bytes) return response;
  response.destroy();
  throw new FetchRefusedError(`${uri} has ${announced} bytes, not the ${bytes} of the catalogue`);
}
