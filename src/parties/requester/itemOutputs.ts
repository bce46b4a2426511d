import { hexToBytes, type Hex } from "viem";
import type { Claim, Delivery } from "../../chain/structs.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { toHex } from "../../program/merkle/hash.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { followMarket } from "../../chain/market/session.ts";
import { readHeader } from "../../program/header.ts";
import { decodeOutput, encodedBytes, outputPlace, type OutputPlace } from "../../program/trace/openedOutput.ts";
import { ItemOutputError, JobInputError } from "./errors.ts";
import { requireJob } from "./result.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** Outputs of a run's item, by number, and the claim that holds the outputs. */
export type ItemOutputs = {
  /** Root of the requested program. */
  programRoot: Hex;
  /** Root of the claim. */
  root: Hex;
  /** Whether the claim is final: before that it may be refuted. */
  finalised: boolean;
  /** The key under which the claim was proven, if it was. */
  provenBy?: Hex;
  /** Little-endian, row-major. */
  outputs: ReadonlyMap<number, Uint8Array>;
  /** Arguments for the market's `requireOutput`, to check the outputs: the claim, and each output with an opening. */
  claim: Claim;
  deliveries: ReadonlyMap<number, Delivery>;
};

/** Longest wait for a worker's answer: it may have to execute the item, or the whole run, again. */
const TIMEOUT_MS = 600_000;

/**
 * Fetches an item's outputs from any server that publishes the claim, and checks the outputs against the claim on
 * chain: the result is always the worker's committed output, whichever server answers. The last item returns all
 * outputs, any other item the outputs of each item.
 * @param url The URL of the worker's server (`refute worker --publish-port`).
 * @param item From 0.
 * @throws JobUnknownError, JobInputError for an item that the job does not have, ItemOutputError
 */
export async function itemOutputs(
  reader: Reader,
  jobId: Hex,
  from: { item: number; url: string },
): Promise<ItemOutputs> {
  const { history } = await followMarket(reader)();
  const record = requireJob(reader, history, jobId);
  const { claims } = record;
  const claim = claims.find(({ finalised }) => finalised) ?? claims.filter(({ refuted }) => !refuted).at(-1);
  if (claim === undefined) throw new ItemOutputError(`job ${jobId} has no claim that stands: nothing was computed yet`);
  return claimedOutputs(record, claim, from);
}

/**
 * Fetches an item's outputs for a known claim, for callers that follow the market.
 * @throws JobInputError for an item that the job does not have, ItemOutputError
 */
export async function claimedOutputs(
  { job, program }: Pick<JobRecord, "job" | "program">,
  claim: Pick<ClaimRecord, "id" | "claim" | "finalised" | "proven">,
  { item, url }: { item: number; url: string },
): Promise<ItemOutputs> {
  if (!Number.isInteger(item) || item < 0 || item >= job.items)
    throw new JobInputError(`item ${item}: the job has ${job.items}, counted from 0`);
  const isLast = item === job.items - 1;
  const { root } = claim.claim;
  const outputs = new Map<number, Uint8Array>();
  const deliveries = new Map<number, Delivery>();
  for (const [output, described] of readHeader(hexToBytes(program.header)).outputs.entries()) {
    if (!described.each && !isLast) continue;
    const place = outputPlace(job, root, item, output, described);
    const encoded = await fetchBytes(`${url.replace(/\/+$/, "")}/${claim.id}/${item}/outputs/${output}`, place);
    const opened = decodeOutput(place, encoded);
    if (opened === undefined)
      throw new ItemOutputError(
        `${url} served an output of item ${item} that is not part of the claim: ask another one`,
      );
    outputs.set(output, opened.bytes);
    deliveries.set(output, { program, output, data: toHex(opened.bytes), siblings: opened.siblings });
  }
  if (outputs.size === 0)
    throw new JobInputError(`item ${item}: all outputs of the program are the last item's: ask for ${job.items - 1}`);
  const { programRoot } = job;
  return {
    programRoot,
    root,
    finalised: claim.finalised,
    ...(claim.proven && { provenBy: claim.proven.keyHash }),
    outputs,
    claim: claim.claim,
    deliveries,
  };
}

async function fetchBytes(address: string, place: OutputPlace): Promise<Uint8Array> {
  const fail = (why: string, cause?: unknown): ItemOutputError =>
    new ItemOutputError(`${address} ${why}: is the worker running, with --publish-port?`, { cause });
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause: unknown) => {
    throw fail("cannot be reached", cause);
  });
  if (!response.ok || response.body === null) throw fail(`answered ${response.status}`);
  const max = encodedBytes(place);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // A reader, because not all browsers iterate over a body.
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const read = () =>
    reader.read().catch((cause: unknown) => {
      throw fail("did not send all of its answer", cause);
    });
  for (let next = await read(); !next.done; next = await read()) {
    bytes += next.value.length;
    parts.push(next.value);
    if (bytes <= max) continue;
    await reader.cancel();
    throw fail(`sent more than the ${max} bytes that the output has`);
  }
  return concatenated(parts);
}
