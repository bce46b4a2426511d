import { formatEther, formatGwei, zeroHash, type Hex, type LocalAccount } from "viem";
import { BLOB_SECONDS } from "../chain/market/blobs.ts";
import { lastSecondOf } from "../chain/market/clock.ts";
import { blobsReference } from "../chain/market/references.ts";
import type { Session } from "../chain/market/session.ts";
import { withPackages } from "../base/optionalPackage.ts";
import { runWork } from "../program/run.ts";
import type { ProgramDescription } from "../parties/requester/description.ts";
import {
  blobCosts,
  blobTransactions,
  firstTimeOf,
  requireSent,
  sendBlobs,
  type BlobCosts,
  type PostBlobsOptions,
} from "../parties/requester/postBlobs.ts";
import type { JobTerms } from "../parties/requester/postJob.ts";
import { UsageError } from "./errors.ts";
import { bytes32, list, type Parse } from "./parse.ts";
import { optional, toggle } from "./settings.ts";

const hashes: Parse<Hex[]> = (given, name) => list(given, name).map((hash) => bytes32(hash, name));

export const blobSettings = {
  blobs: toggle("put the inputs into blobs (EIP-4844), in transactions that are sent before the job is posted"),
  blobsSent: optional<Hex[]>(
    "transactions",
    "comma-separated, of an earlier try: those with the first blobs, which are not sent again",
    hashes,
    "none",
  ),
};

/** The blobs for a job's inputs, before sending. */
export type PlannedBlobs = {
  costs: BlobCosts;
  /** As long as the place will be. */
  placeholder: string;
  /** The time when the oldest transaction already sent came into a block, unix seconds. */
  since: bigint | undefined;
  /** Sends them. @throws BlobsIncompleteError */
  send: (callbacks: Pick<PostBlobsOptions, "onSent" | "onOffered">) => Promise<SentBlobs>;
};

/** Blobs that are in blocks. */
type SentBlobs = { place: string; transactions: readonly Hex[]; since: bigint };

/**
 * @param file The inputs, as `packInputs` gives them.
 * @throws MissingPackageError, JobInputError, NoBlobsError, RpcUnavailableError, WrongBlobsError
 */
export async function planBlobs(
  session: Session,
  file: Uint8Array,
  { account, sent = [] }: { account: LocalAccount; sent?: readonly Hex[] | undefined },
): Promise<PlannedBlobs> {
  const costs = await blobCosts(session, file.length, sent.length);
  const kzg = await withPackages(["kzg-wasm"], "sending blobs", async () => (await import("kzg-wasm")).loadKZG());
  const placeholder = blobsReference(Array.from({ length: blobTransactions(file.length) }, () => zeroHash));
  await requireSent(session, file, { kzg, sent });
  const since = sent.length === 0 ? undefined : await firstTimeOf(session, sent);
  const { max } = costs;
  const send: PlannedBlobs["send"] = async ({ onSent, onOffered }) => {
    let transactions = sent;
    const note: typeof onSent = (done, total) => {
      transactions = done;
      onSent?.(done, total);
    };
    const place = await sendBlobs(session, file, { account, kzg, sent, max, onSent: note, onOffered });
    // The transactions sent now came one after the other.
    return { place, transactions, since: since ?? (await firstTimeOf(session, transactions.slice(0, 1))) };
  };
  return { costs, placeholder, since, send };
}

/** Returns a line with the cost of blobs, for people. */
export function blobCostLine({ blobs, transactions, gas, blobGas, blobGasPrice, cost, max }: BlobCosts): string {
  const [now, atMost] = [formatEther(cost), formatEther(max)];
  return (
    `${blobs} blobs in ${transactions} transactions cost ${now} of the native token now (${gas} gas, and ${blobGas} ` +
    `blob gas at ${formatGwei(blobGasPrice)} gwei), and never more than ${atMost}`
  );
}

/**
 * Nobody claims a job whose blobs nodes may forget before its last dispute ends.
 * @param since When the oldest blob came, or comes, into a block, unix seconds.
 * @throws UsageError
 */
export function requireBlobsLast(
  { deadline, window, items = 1, rare }: JobTerms,
  { work }: Pick<ProgramDescription, "work">,
  { deployment: { parameters } }: Session,
  since: bigint,
): void {
  const opensUntil = BigInt((rare?.openFrom ?? 0) + parameters.baseClock);
  const ends = lastSecondOf({ deadline, window, work: runWork(items, BigInt(work)) }, opensUntil, parameters);
  if (ends <= since + BLOB_SECONDS) return;
  throw new UsageError(
    `--blobs: nodes forget blobs after ${BLOB_SECONDS} seconds, and disputes about the job may end ${ends - since} ` +
      "after the first was sent, so that nobody would claim it: give less of --deadline-seconds or --window",
  );
}
