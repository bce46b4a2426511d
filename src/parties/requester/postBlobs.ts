import type { Hex, LocalAccount } from "viem";
import {
  BLOB_FEE_DOUBLINGS,
  BLOB_TRANSACTION_GAS,
  blobPrice,
  BlobSender,
  GAS_PER_BLOB,
  versionedHashOf,
  type Kzg,
} from "../../chain/blobSender.ts";
import { TransactionDroppedError } from "../../chain/errors.ts";
import type { Patience } from "../../chain/resendTimes.ts";
import { translateError } from "../../chain/translateError.ts";
import { blobCount, blobsOf, BLOBS_PER_TRANSACTION } from "../../chain/market/blobs.ts";
import { blobsReference, MAX_BLOB_TRANSACTIONS } from "../../chain/market/references.ts";
import { BlobsIncompleteError, JobInputError, WrongBlobsError } from "./errors.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** The cost of putting a file into blobs, at current prices. Amounts in wei of the native token. */
export type BlobCosts = {
  blobs: number;
  transactions: number;
  gas: bigint;
  blobGas: bigint;
  /** Price of a unit of blob gas. */
  blobGasPrice: bigint;
  cost: bigint;
  /** The transactions' first offer: a node requires the sender to hold the amount. */
  offered: bigint;
  /** The most that they offer by these prices, sent again where they wait long: a bound for {@link postBlobs}. */
  max: bigint;
};

/**
 * Returns the number of transactions for blobs with the given bytes. @throws JobInputError if a job cannot name as many
 */
export function blobTransactions(bytes: number): number {
  const transactions = Math.ceil(blobCount(bytes) / BLOBS_PER_TRANSACTION);
  if (transactions > 0 && transactions <= MAX_BLOB_TRANSACTIONS) return transactions;
  throw new JobInputError(
    `${bytes} bytes of inputs take ${transactions} transactions with blobs, and a job names 1 to ` +
      `${MAX_BLOB_TRANSACTIONS}: have them lie elsewhere, or post them`,
  );
}

/**
 * Returns the current cost of a file's blobs.
 * @param bytes The file's bytes. @param sent Number of the file's transactions already sent.
 * @throws JobInputError, NoBlobsError, RpcUnavailableError
 */
export async function blobCosts(
  { publicClient }: Pick<Reader, "publicClient">,
  bytes: number,
  sent = 0,
): Promise<BlobCosts> {
  const transactions = Math.max(0, blobTransactions(bytes) - sent);
  const blobs = Math.max(0, blobCount(bytes) - sent * BLOBS_PER_TRANSACTION);
  const [gas, blobGas] = [BigInt(transactions) * BLOB_TRANSACTION_GAS, BigInt(blobs) * GAS_PER_BLOB];
  const { gasPrice, blobGasPrice, offered: fees } = await blobPrice(publicClient);
  const cost = gas * gasPrice + blobGas * blobGasPrice;
  const offered = gas * fees.maxFeePerGas + blobGas * fees.maxFeePerBlobGas;
  return {
    blobs,
    transactions,
    gas,
    blobGas,
    blobGasPrice,
    cost,
    offered,
    max: offered << BigInt(BLOB_FEE_DOUBLINGS),
  };
}

/** How a file is put into blobs. */
export type PostBlobsOptions = {
  /** A key of this process: the session's own. Wallets and remote signers sign no such transactions. */
  account: LocalAccount;
  /** The result of `await loadKZG()` from the package kzg-wasm, or another library with the same functions. */
  kzg: Kzg;
  /** Transactions with the first blobs, of an earlier try. */
  sent?: readonly Hex[];
  /** The most that all transactions may cost and offer, wei: {@link BlobCosts}' `max`. That of now if it is absent. */
  max?: bigint | undefined;
  /** Called with each transaction's hash before sending. A transaction sent again has a new hash. */
  onOffered?: ((transaction: Hex) => void) | undefined;
  /** Called with the transactions that are in blocks, after each, and how many there are going to be. */
  onSent?: ((transactions: readonly Hex[], total: number) => void) | undefined;
  patience?: Partial<Patience>;
};

/**
 * Puts a file into blobs, with several transactions if needed, one after the other: the account must not send other
 * transactions meanwhile. Post the job with the references soon: nodes forget blobs after about 18 days.
 * @param file A job's inputs, in the format that `packInputs` returns.
 * @returns The place of the file, for a job's `references`.
 * @throws JobInputError, NoBlobsError, WrongBlobsError if `sent` has other blobs: nothing was sent;
 *   BlobsIncompleteError with the transactions that need not be sent again
 */
export async function postBlobs(
  reader: Pick<Reader, "publicClient">,
  file: Uint8Array,
  options: PostBlobsOptions,
): Promise<string> {
  await requireSent(reader, file, options);
  return sendBlobs(reader, file, options);
}

const ofTransaction = (blobs: readonly Uint8Array[], k: number): readonly Uint8Array[] =>
  blobs.slice(k * BLOBS_PER_TRANSACTION, (k + 1) * BLOBS_PER_TRANSACTION);

/** @throws JobInputError, WrongBlobsError if `sent` has other blobs than the first of the file, RpcUnavailableError */
export async function requireSent(
  { publicClient }: Pick<Reader, "publicClient">,
  file: Uint8Array,
  { kzg, sent = [] }: Pick<PostBlobsOptions, "kzg" | "sent">,
): Promise<void> {
  const total = blobTransactions(file.length);
  if (sent.length > total)
    throw new WrongBlobsError(`${sent.length} transactions are named, and the blobs of the inputs take ${total}`);
  const blobs = blobsOf(file);
  for (const [k, hash] of sent.entries())
    await requireBlobs(publicClient, hash, { kzg, blobs: ofTransaction(blobs, k) });
}

/** When the first of some transactions came into a block, unix seconds. @throws RpcUnavailableError */
export async function firstTimeOf(
  { publicClient }: Pick<Reader, "publicClient">,
  transactions: readonly Hex[],
): Promise<bigint> {
  let first: bigint | undefined;
  try {
    for (const hash of transactions) {
      const { blockNumber } = await publicClient.getTransactionReceipt({ hash });
      const { timestamp } = await publicClient.getBlock({ blockNumber });
      if (first === undefined || timestamp < first) first = timestamp;
    }
  } catch (error) {
    throw translateError(error, "reading when blobs were sent");
  }
  return first!;
}

/** The same as {@link postBlobs}, for whom {@link requireSent} did not refuse. */
export async function sendBlobs(
  { publicClient }: Pick<Reader, "publicClient">,
  file: Uint8Array,
  { account, kzg, sent = [], onSent, onOffered, patience, ...given }: PostBlobsOptions,
): Promise<string> {
  const total = blobTransactions(file.length);
  const blobs = blobsOf(file);
  let max = given.max ?? (await blobCosts({ publicClient }, file.length, sent.length)).max;
  const sender = new BlobSender(publicClient, account, kzg, patience);
  const done = [...sent];
  for (let k = done.length; k < total; k++) {
    try {
      const { transaction, cost } = await sender.send(ofTransaction(blobs, k), { max, onOffered });
      max -= cost;
      done.push(transaction);
    } catch (cause) {
      throw incomplete(done, total, cause as Error);
    }
    onSent?.(done, total);
  }
  return blobsReference(done);
}

function incomplete(done: readonly Hex[], total: number, cause: Error): BlobsIncompleteError {
  const isSent = cause instanceof TransactionDroppedError;
  const why = isSent
    ? `transaction ${cause.transactionHash} is in no block yet: once it is, it belongs to those too`
    : cause.message;
  const next = done.length === 0 ? "none is in a block" : `in blocks are those in order: ${done.join()}`;
  return new BlobsIncompleteError(
    done,
    `${done.length} of ${total} transactions with blobs are sent, ${next}; number ${done.length + 1}: ${why}. No job ` +
      "was posted. To go on without paying for them again, name them (--blobs-sent, `sent` in the SDK)",
    { cause },
  );
}

/** @throws WrongBlobsError if a transaction is in no block or has other blobs, RpcUnavailableError */
async function requireBlobs(
  publicClient: Reader["publicClient"],
  hash: Hex,
  { kzg, blobs }: { kzg: Kzg; blobs: readonly Uint8Array[] },
): Promise<void> {
  const found = await publicClient.getTransaction({ hash }).catch((error: unknown) => {
    const known = translateError(error, "reading a transaction with blobs");
    throw "code" in known ? known : new WrongBlobsError(`no node has the transaction ${hash}`, { cause: error });
  });
  if (found.blockNumber === null) throw new WrongBlobsError(`the transaction ${hash} is in no block yet: wait for it`);
  const wanted = blobs.map((blob) => versionedHashOf(kzg, blob));
  if (found.blobVersionedHashes?.join() !== wanted.join())
    throw new WrongBlobsError(`the transaction ${hash} has not the blobs of these inputs that belong into it`);
}
