import { hexToBytes, type Hex } from "viem";
import { dtypeBytes, DType } from "../../numerics/dtype.ts";
import { STREAMED_BYTES, type StreamedLine } from "../../program/trace/streamedItem.ts";
import { elementsOf, type ProgramDescription } from "./description.ts";
import { ItemOutputError } from "./errors.ts";
import { Fields } from "../../base/fields.ts";

/** A worker's message about an executed item. */
export type StreamedItem = {
  /** From 0. */
  item: number;
  /** The outputs after it, by their numbers, little-endian; those of more than 64 KiB are left out. */
  outputs: ReadonlyMap<number, Uint8Array>;
};

/**
 * Follows a job during a worker's execution: yields the outputs after each item of a run with carried state, for
 * example the tokens of a text so far. The outputs are unproven, and a worker may send anything: only the final claim
 * counts.
 * @param url The URL of the worker's server (`refute worker --publish-port`).
 * @param items Items of the job.
 * @throws ItemOutputError if nothing can be read, or a line has the wrong form; errors that the signal causes are
 *   thrown
 */
export async function* streamedItems(
  program: Pick<ProgramDescription, "outputs">,
  jobId: Hex,
  { url, items, signal }: { url: string; items: number; signal?: AbortSignal },
): AsyncGenerator<StreamedItem> {
  const address = `${url.replace(/\/+$/, "")}/jobs/${jobId}/items`;
  const fail = (why: string, cause?: unknown): ItemOutputError =>
    new ItemOutputError(`${address} ${why}: is it a worker's server (--publish-port)?`, { cause });
  const sizes = program.outputs.map((output) => elementsOf(output) * dtypeBytes(DType[output.dtype]));
  // A byte takes two digits; what stands around it is short.
  const longest = 4_096 + sizes.reduce((sum, bytes) => sum + (bytes <= STREAMED_BYTES ? 2 * bytes + 128 : 0), 0);
  const outputs = new Map<number, Uint8Array>();
  let last = -1;
  for await (const line of linesOf(address, longest, fail, signal)) {
    const { item, items: of, changes } = lineIn(line, address);
    if (of !== items || item >= items || item <= last) refuse();
    for (const { output, at, data } of changes) {
      const size = sizes[output] ?? Infinity;
      const bytes = hexToBytes(data);
      if (size > STREAMED_BYTES || at + bytes.length > size) refuse();
      const tensor = Uint8Array.from(outputs.get(output) ?? new Uint8Array(size));
      tensor.set(bytes, at);
      outputs.set(output, tensor);
    }
    yield { item: (last = item), outputs: new Map(outputs) };
  }

  function refuse(): never {
    throw fail("answered something else than items of the job in their order");
  }
}

/** @throws ItemOutputError */
function lineIn(text: string, address: string): StreamedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ItemOutputError(`${address} answered a line that is not JSON: is it a worker's server?`, { cause });
  }
  const line = new Fields(value, `a line of ${address}`, ItemOutputError);
  const changes = line
    .objects("changes")
    .map((change) => ({ output: change.count("output"), at: change.count("at"), data: change.hex("data") }));
  return { item: line.count("item"), items: line.count("items"), changes };
}

/** Yields the nonempty lines of a body. @param longest Characters. */
async function* linesOf(
  address: string,
  longest: number,
  fail: (why: string, cause?: unknown) => ItemOutputError,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const orFail =
    (why: string) =>
    (cause: unknown): never => {
      throw signal?.aborted === true ? cause : fail(why, cause);
    };
  const response = await fetch(address, { signal: signal ?? null }).catch(orFail("cannot be reached"));
  if (!response.ok || response.body === null) throw fail(`answered ${response.status}`);
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(orFail("broke off"));
      text += decoder.decode(value, { stream: !done });
      const parts = text.split("\n");
      text = parts.pop()!;
      if (text.length > longest || parts.some((part) => part.length > longest)) throw fail("answered too long a line");
      yield* parts.filter((part) => part !== "");
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
