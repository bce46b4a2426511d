import type { Hash } from "../merkle/hash.ts";
import type { MerkleList } from "../merkle/list.ts";
import { tensorTree } from "../merkle/tensor.ts";
import { decodeOutput, encodedBytes, type OutputPlace } from "./openedOutput.ts";

/** A tensor of a claim, named by item and step, with its length. */
type TensorName = { claimId: Hash; item: number; step: number; bytes: number };

/**
 * A source of a claim's tensors: somebody who publishes the worker's trace. Nothing that it returns is trusted.
 * @returns the tensor's bytes, or undefined if there are none
 */
export type TensorSource = (tensor: TensorName) => Promise<Uint8Array | undefined>;

/** An output of a claim, by item and number. */
type OutputName = { claimId: Hash; item: number; output: number };

/**
 * A source of a claim's outputs with their paths. Nothing that it returns is trusted.
 * @returns the encoded output, at most `bytes` of it, or undefined if there is none
 */
export type OutputSource = (output: OutputName, bytes: number) => Promise<Uint8Array | undefined>;

/**
 * A source of a run's snapshots: the carried tensors before an item. No root binds a snapshot.
 * @returns at most `bytes`; undefined without a snapshot
 */
export type SnapshotSource = (
  snapshot: { claimId: Hash; item: number },
  bytes: number,
) => Promise<Uint8Array | undefined>;

/** A tensor that a worker has committed to. */
export type PublishedTensor = { bytes: Uint8Array; tree: MerkleList };

/** A tree node to which the worker has committed. */
export type CommittedNode = { height: number; index: number; node: Hash };

/**
 * The end of a source's pause, in `performance.now` milliseconds. While a watcher waits for a source, the clocks in the
 * watcher's games run.
 */
const pausedUntil = new WeakMap<object, number>();

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
  return accepted(
    source,
    () => source(name),
    (bytes) => {
      const tree = bytes.length === name.bytes ? tensorTree(bytes) : undefined;
      return tree?.node(committed.height, committed.index) === committed.node ? { bytes, tree } : undefined;
    },
  );
}

/**
 * Asks a source for an output, and accepts the output only if the claim holds it.
 * @returns undefined as `publishedTensor`
 */
export async function publishedOutput(
  source: OutputSource,
  name: OutputName,
  place: OutputPlace,
): Promise<Uint8Array | undefined> {
  const ask = (): ReturnType<OutputSource> => source(name, encodedBytes(place));
  return (await accepted(source, ask, (bytes) => decodeOutput(place, bytes)))?.bytes;
}

/** Asks a source unless it pauses, and lets it pause if the answer is not accepted. */
async function accepted<T>(
  source: object,
  ask: () => Promise<Uint8Array | undefined>,
  accept: (bytes: Uint8Array) => T | undefined,
): Promise<T | undefined> {
  const asked = performance.now();
  if (asked < (pausedUntil.get(source) ?? 0)) return undefined;
  const bytes = await ask().catch(() => undefined);
  const answered = performance.now();
  const result = bytes && accept(bytes);
  if (result === undefined) pausedUntil.set(source, answered + PAUSE_FACTOR * (answered - asked));
  return result;
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
  ({ claimId, item, step, bytes }) =>
    readUpTo(`${url}/${claimId}/${item}/${step}`, bytes, timeoutMs);

/** Reads outputs over HTTP: `<url>/<claim id>/<item>/outputs/<output>`. @param url Without a slash at the end. */
export const httpOutputs =
  (url: string): OutputSource =>
  ({ claimId, item, output }, bytes) =>
    readUpTo(`${url}/${claimId}/${item}/outputs/${output}`, bytes, TIMEOUT_MS);

/** Reads snapshots over HTTP: `<url>/<claim id>/<item>/state`. @param url Without a slash at the end. */
export const httpSnapshots =
  (url: string): SnapshotSource =>
  ({ claimId, item }, bytes) =>
    readUpTo(`${url}/${claimId}/${item}/state`, bytes, TIMEOUT_MS);

async function readUpTo(address: string, bytes: number, timeoutMs: number): Promise<Uint8Array | undefined> {
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
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
}
