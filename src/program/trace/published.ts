import type { Hash } from "../merkle/hash.ts";
import type { MerkleList } from "../merkle/list.ts";
import { tensorTree } from "../merkle/tensor.ts";

/** A tensor of a claim, named by item and step, with its length. */
type TensorName = { claimId: Hash; item: number; step: number; bytes: number };

/**
 * A source of a claim's tensors: somebody who publishes the worker's trace. Nothing that it returns is trusted.
 * @returns the tensor's bytes, or undefined if there are none
 */
export type TensorSource = (tensor: TensorName) => Promise<Uint8Array | undefined>;

/** A tensor that a worker has committed to. */
export type PublishedTensor = { bytes: Uint8Array; tree: MerkleList };

/** A tree node to which the worker has committed. */
export type CommittedNode = { height: number; index: number; node: Hash };

/**
 * The end of a source's pause, in `performance.now` milliseconds. While a watcher waits for a source, the clocks in the
 * watcher's games run.
 */
const pausedUntil = new WeakMap<TensorSource, number>();

/**
 * After an empty answer, a source pauses for this many times the answer's duration. Sources can therefore keep many
 * games waiting for at most a tenth of the time.
 */
const PAUSE_FACTOR = 9;

/**
 * Asks a source for a tensor, and accepts it only if the worker committed to it.
 * @returns undefined if the source has nothing, fails, gives anything else, or did so recently
 */
export async function publishedTensor(
  source: TensorSource,
  name: TensorName,
  committed: CommittedNode,
): Promise<PublishedTensor | undefined> {
  const asked = performance.now();
  if (asked < (pausedUntil.get(source) ?? 0)) return undefined;
  const bytes = await source(name).catch(() => undefined);
  const answered = performance.now();
  const tree = bytes?.length === name.bytes ? tensorTree(bytes) : undefined;
  if (bytes !== undefined && tree?.node(committed.height, committed.index) === committed.node) return { bytes, tree };
  pausedUntil.set(source, answered + PAUSE_FACTOR * (answered - asked));
  return undefined;
}

/** The maximum time of a source's answer, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Reads tensors over HTTP: `<url>/<claim id>/<item>/<step>` gives the tensor's bytes. Reading stops if an answer is too
 * long.
 * @param url Without a slash at the end.
 */
export const httpTensors =
  (url: string, timeoutMs = TIMEOUT_MS): TensorSource =>
  async ({ claimId, item, step, bytes }) => {
    const response = await fetch(`${url}/${claimId}/${item}/${step}`, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok || response.body === null) return undefined;
    const parts: Uint8Array[] = [];
    let read = 0;
    // Leaving the loop cancels the response.
    for await (const part of response.body as AsyncIterable<Uint8Array>) {
      read += part.length;
      if (read > bytes) return undefined;
      parts.push(part);
    }
    return new Uint8Array(Buffer.concat(parts));
  };
