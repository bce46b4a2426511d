import type { Hash } from "../merkle/hash.ts";
import type { MerkleList } from "../merkle/list.ts";
import { tensorTree } from "../merkle/tensor.ts";

/**
 * Where a claim's tensors may be had from: somebody who publishes the worker's trace. Nothing that it gives is trusted.
 * @returns `bytes` bytes, or undefined if there are none
 */
export type TensorSource = (claimId: Hash, step: number, bytes: number) => Promise<Uint8Array | undefined>;

/** A tensor that a worker has committed to. */
export type PublishedTensor = { bytes: Uint8Array; tree: MerkleList };

/** A node of a tensor's tree that the worker is bound to. */
export type CommittedNode = { height: number; index: number; node: Hash };

/**
 * Until when a source is not asked, milliseconds of `performance.now`: while a watcher waits for it the clocks of its
 * games run.
 */
const resting = new WeakMap<TensorSource, number>();
/**
 * A source that gave nothing rests for so many times as long as that took: many games cannot be kept waiting for more
 * than a tenth of the time.
 */
const REST = 9;

/**
 * Takes what a source gives only if it is what the worker committed to.
 * @param length The tensor's bytes.
 * @returns undefined if the source has nothing, fails, gives anything else, or did so a while ago
 */
export async function publishedTensor(
  source: TensorSource,
  claimId: Hash,
  step: number,
  length: number,
  committed: CommittedNode,
): Promise<PublishedTensor | undefined> {
  const asked = performance.now();
  if (asked < (resting.get(source) ?? 0)) return undefined;
  const bytes = await source(claimId, step, length).catch(() => undefined);
  const answered = performance.now();
  const tree = bytes?.length === length ? tensorTree(bytes) : undefined;
  if (bytes !== undefined && tree?.node(committed.height, committed.index) === committed.node) return { bytes, tree };
  resting.set(source, answered + REST * (answered - asked));
  return undefined;
}

/** How long a source may take to answer, in milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Tensors over HTTP: `<url>/<claim id>/<step>` is the tensor's bytes. An answer that is too long is not read to its
 * end.
 * @param url Without a slash at the end.
 */
export const httpTensors =
  (url: string, patienceMs = PATIENCE_MS): TensorSource =>
  async (claimId, step, bytes) => {
    const response = await fetch(`${url}/${claimId}/${step}`, { signal: AbortSignal.timeout(patienceMs) });
    if (!response.ok || response.body === null) return undefined;
    const parts: Uint8Array[] = [];
    let read = 0;
    // Leaving the loop cancels the answer.
    for await (const part of response.body as AsyncIterable<Uint8Array>) {
      read += part.length;
      if (read > bytes) return undefined;
      parts.push(part);
    }
    return new Uint8Array(Buffer.concat(parts));
  };
