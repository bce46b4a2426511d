import { commitmentToVersionedHash, hexToBytes, isHex, type Hex, type PublicClient } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { BLOB_BYTES, blobCount, BLOBS_PER_TRANSACTION, fileOf, USUAL_SLOTS } from "../../chain/market/blobs.ts";
import type { Reference } from "../../chain/market/references.ts";
import { FetchError, FetchRefusedError } from "../../base/fetchErrors.ts";
import { openUrl } from "../../base/openUrl.ts";
import { readBody } from "./readBody.ts";

/** The chain reads needed to locate a transaction's blobs. */
export type BlobChain = Pick<PublicClient, "getTransaction" | "getBlock">;

/** JSON of anything but blobs, bytes; of a blob, with what comes beside it. */
const MAX_JSON = 2 ** 20;
const BLOB_JSON = 2 * BLOB_BYTES + 8_192;

type Options = {
  chain: BlobChain;
  /** The URL of a node's beacon API. */
  beaconUrl: string;
  signal: AbortSignal;
  /** The time (unix seconds) at which the blobs must still be kept by nodes; any if it is absent. */
  until?: bigint | undefined;
};

/**
 * Reads the blobs of transactions back through a beacon API: `/eth/v1/beacon/blobs`, or `blob_sidecars` where a node
 * does not know that yet.
 * @param bytes Of the file that they hold. It is not checked.
 * @throws FetchError if it may succeed later; FetchRefusedError, also if nodes may forget a blob before `until`
 */
export async function fetchBlobs(
  { uri, transactions }: Extract<Reference, { kind: "blobs" }>,
  bytes: number,
  { chain, beaconUrl, signal, until }: Options,
): Promise<Uint8Array> {
  if (transactions.length > blobCount(bytes) || transactions.length * BLOBS_PER_TRANSACTION < blobCount(bytes))
    throw new FetchRefusedError(`${uri} names ${transactions.length} transactions for ${blobCount(bytes)} blobs`);
  const api = new BeaconApi(beaconUrl, signal);
  const times = await api.times();
  const blobs: Uint8Array[] = [];
  const blocks: Blocks = new Map();
  const ofSlots = new Map<number, Promise<Uint8Array[]>>();
  for (const hash of transactions) {
    signal.throwIfAborted();
    const { timestamp, positions, hashes } = await placeOf(chain, hash, blocks);
    const kept = timestamp + BigInt(Math.floor(times.keptSeconds));
    if (until !== undefined && kept < until)
      throw new FetchRefusedError(
        `blobs of ${hash} may be forgotten at ${dateOf(kept)}, and disputes of the job may end at ${dateOf(until)}`,
      );
    const slot = Math.floor(Number(timestamp - BigInt(times.genesis)) / times.slotSeconds);
    const all = await getOrAdd(ofSlots, slot, () => api.blobs(String(slot), hashes));
    blobs.push(...positions.map((position) => all[position]!));
  }
  const file = fileOf(blobs, bytes);
  if (file === undefined) throw new FetchRefusedError(`${uri} has ${blobs.length} blobs, expected ${blobCount(bytes)}`);
  return file;
}

/** For how many seconds a node keeps blobs at least. @throws FetchError */
export async function blobSeconds(beaconUrl: string, signal: AbortSignal): Promise<bigint> {
  return BigInt(Math.floor((await new BeaconApi(beaconUrl, signal).times()).keptSeconds));
}

/** When the oldest of the blobs of transactions came into a block, unix seconds. @throws FetchError */
export async function oldestBlob(
  { transactions }: Extract<Reference, { kind: "blobs" }>,
  { chain, signal }: Pick<Options, "chain" | "signal">,
): Promise<bigint> {
  let earliest: bigint | undefined;
  for (const hash of transactions) {
    signal.throwIfAborted();
    const { timestamp } = await chain.getBlock({ blockHash: await blockHashOf(chain, hash) });
    if (earliest === undefined || timestamp < earliest) earliest = timestamp;
  }
  return earliest ?? 0n;
}

/** @throws FetchError */
async function blockHashOf(chain: BlobChain, hash: Hex): Promise<Hex> {
  const { blockHash } = await chain.getTransaction({ hash }).catch((cause: unknown) => {
    throw new FetchError(`no node has the transaction ${hash} of blobs`, { cause });
  });
  if (blockHash === null) throw new FetchError(`the transaction ${hash} of blobs is in no block yet`);
  return blockHash;
}

/** A time, as it is said to people. @param time Unix seconds. */
export const dateOf = (time: bigint): string => new Date(Number(time) * 1_000).toISOString();

/** Blocks with their transactions, by hash: several transactions with blobs may be in one. */
type Blocks = Map<Hex, ReturnType<typeof blockOf>>;

const blockOf = (chain: BlobChain, blockHash: Hex) => chain.getBlock({ blockHash, includeTransactions: true });

/**
 * Finds a transaction's block, all versioned hashes in this block in order, and the positions of the transaction's own
 * hashes.
 */
async function placeOf(chain: BlobChain, hash: Hex, blocks: Blocks) {
  const blockHash = await blockHashOf(chain, hash);
  const { timestamp, transactions } = await getOrAdd(blocks, blockHash, () => blockOf(chain, blockHash));
  const hashes: Hex[] = [];
  const positions: number[] = [];
  for (const one of transactions)
    for (const versioned of one.blobVersionedHashes ?? []) {
      if (one.hash === hash) positions.push(hashes.length);
      hashes.push(versioned);
    }
  if (positions.length === 0) throw new FetchRefusedError(`the transaction ${hash} has no blobs`);
  return { timestamp, hashes, positions };
}

/** The used part of a node's beacon API. */
class BeaconApi {
  readonly #base: string;
  readonly #signal: AbortSignal;
  readonly #hosts: ReadonlySet<string>;

  constructor(url: string, signal: AbortSignal) {
    [this.#base, this.#signal] = [url.replace(/\/+$/, ""), signal];
    this.#hosts = new Set([new URL(url).host]);
  }

  /** When slots began, how long one is, and how long blobs are kept, seconds. */
  async times(): Promise<{ genesis: number; slotSeconds: number; keptSeconds: number }> {
    const genesis = numberOf((await this.#data("genesis", "beacon/genesis")).genesis_time);
    // Not every server of blobs knows it.
    const spec = await this.#data("specification", "config/spec").catch((error: unknown): Record<string, unknown> => {
      if (error instanceof FetchError) return {};
      throw error;
    });
    const older = spec.SECONDS_PER_SLOT === undefined ? undefined : 1_000 * numberOf(spec.SECONDS_PER_SLOT);
    const slotSeconds = numberOf(spec.SLOT_DURATION_MS ?? older, 1_000 * USUAL_SLOTS.seconds) / 1_000;
    const epochs = Math.min(
      numberOf(spec.MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS, USUAL_SLOTS.epochs),
      numberOf(spec.MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS, USUAL_SLOTS.epochs),
    );
    const slots = epochs * numberOf(spec.SLOTS_PER_EPOCH, USUAL_SLOTS.perEpoch);
    return { genesis, slotSeconds, keptSeconds: slots * slotSeconds };
  }

  /** All blobs of a block, in order. @param hashes Their versioned hashes. */
  async blobs(slot: string, hashes: readonly Hex[]): Promise<Uint8Array[]> {
    const max = hashes.length * BLOB_JSON + MAX_JSON;
    const plain = await this.#data("blobs", `beacon/blobs/${slot}`, max).catch((error: unknown) => {
      if (error instanceof FetchError) return undefined;
      throw error;
    });
    const list: unknown = plain ?? (await this.#data("blob sidecars", `beacon/blob_sidecars/${slot}`, max));
    if (!Array.isArray(list) || list.length !== hashes.length)
      throw new FetchError(`the beacon node does not give the ${hashes.length} blobs of slot ${slot}`);
    const blobs = new Array<Uint8Array>(hashes.length);
    for (const [place, one] of (list as unknown[]).entries()) {
      const isPlain = typeof one === "string";
      const {
        blob,
        index,
        kzg_commitment: commitment,
      } = (isPlain ? { blob: one } : Object(one)) as Record<string, unknown>;
      const at = isPlain ? place : Number(index);
      // A blob named twice would leave another blob out.
      if (!isHex(blob) || !(at in hashes) || blobs[at] !== undefined)
        throw new FetchError(`the beacon node's blobs of slot ${slot} are none`);
      if (!isPlain && (!isHex(commitment) || commitmentToVersionedHash({ commitment }) !== hashes[at]))
        throw new FetchError(`the beacon node's blob ${at} of slot ${slot} is not the one of its transaction`);
      blobs[at] = hexToBytes(blob);
    }
    return blobs;
  }

  async #data(what: string, path: string, max = MAX_JSON): Promise<Record<string, unknown>> {
    const url = `${this.#base}/eth/v1/${path}`;
    const response = await openUrl(url, this.#signal, { thisMachine: false, hosts: this.#hosts });
    const body = await readBody(response, max, `the beacon node's ${what}`);
    try {
      const { data } = JSON.parse(body.toString()) as { data?: unknown };
      if (typeof data === "object" && data !== null) return data as Record<string, unknown>;
    } catch {
      // Said below.
    }
    throw new FetchError(`the beacon node's ${what} is no JSON with data`);
  }
}

function numberOf(text: unknown, usual?: number): number {
  const number = text === undefined ? (usual ?? NaN) : Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new FetchError(`the beacon node says ${String(text)} where a number is expected`);
}
