import { bytesToHex, commitmentToVersionedHash, concatHex, formatEther, fromRlp, keccak256, slice, toRlp } from "viem";
import type { Chain, Hex, LocalAccount, PublicClient, TransactionReceipt, Transport } from "viem";
import {
  BlobsTooDearError,
  NoBlobsError,
  NonceTakenError,
  RpcUnavailableError,
  SignerError,
  SIGNS_NO_BLOBS,
  TransactionDroppedError,
} from "./errors.ts";
import type { Fees } from "./fees.ts";
import { PATIENCE, type Patience } from "./resendTimes.ts";
import { pause } from "./pause.ts";
import { refusalIn } from "./refusals.ts";
import { translateError, translateRefusal } from "./translateError.ts";

/** The KZG library functions in use, for example from kzg-wasm's `loadKZG`. All values are hexadecimal. */
export type Kzg = {
  blobToKZGCommitment: (blob: string) => string;
  computeCellsAndKZGProofs: (blob: string) => { proofs: string[] };
};

/** The maximum fees that a transaction with blobs offers, in wei per unit of gas and blob gas. */
type BlobFees = Fees & { maxFeePerBlobGas: bigint };

/** The gas for a transaction to oneself, and a blob's blob gas (EIP-4844). */
export const BLOB_TRANSACTION_GAS = 21_000n;
export const GAS_PER_BLOB = 131_072n;
/**
 * How often a waiting transaction's offered fees are doubled at most. Pools replace a transaction with blobs only if
 * each fee doubles.
 */
export const BLOB_FEE_DOUBLINGS = 2;

/** Blocks have little room for blobs: a transaction with blobs may wait for many blocks. */
const BLOB_PATIENCE = { ...PATIENCE, longestMs: 600_000 };

/** The form of sidecars with a proof for each cell of a blob (EIP-7594): the only one that is taken since Fusaka. */
const WRAPPER_VERSION = "0x01";
const TYPE = "0x03";
const WHAT = "sending blobs";

/** Current blob prices, and the first offered fees. The offer leaves room for the blob gas price to double. */
type BlobPrice = { gasPrice: bigint; blobGasPrice: bigint; offered: BlobFees };

/**
 * Reads what blobs cost on a chain.
 * @throws NoBlobsError if it has none, RpcUnavailableError
 */
export async function blobPrice(publicClient: PublicClient<Transport, Chain>): Promise<BlobPrice> {
  try {
    const { excessBlobGas, baseFeePerGas } = await publicClient.getBlock({ blockTag: "latest" });
    if (typeof excessBlobGas !== "bigint")
      throw new NoBlobsError(`chain ${publicClient.chain.id} has no blobs (EIP-4844): have the inputs lie elsewhere`);
    const blobGasPrice = await publicClient.getBlobBaseFee();
    const { maxFeePerGas, maxPriorityFeePerGas } = await publicClient.estimateFeesPerGas();
    const offered = { maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas: 2n * blobGasPrice };
    return { gasPrice: (baseFeePerGas ?? 0n) + maxPriorityFeePerGas, blobGasPrice, offered };
  } catch (error) {
    throw translateError(error, "reading the price of blobs");
  }
}

const doubled = ({ maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas }: BlobFees): BlobFees => ({
  maxFeePerGas: 2n * maxFeePerGas,
  maxPriorityFeePerGas: 2n * maxPriorityFeePerGas,
  maxFeePerBlobGas: 2n * maxFeePerBlobGas,
});

/** The versioned hash by which the chain names a blob. */
export const versionedHashOf = (kzg: Kzg, blob: Uint8Array): Hex =>
  commitmentToVersionedHash({ commitment: kzg.blobToKZGCommitment(bytesToHex(blob)) as Hex });

/** How a transaction with blobs is sent. */
type BlobSending = {
  /** The most that it may offer, in wei. */
  max: bigint;
  /** Called with each transaction's hash before sending. One of the transactions comes into a block. */
  onOffered?: ((transaction: Hex) => void) | undefined;
};

/** A transaction with blobs that was sent, once or several times with one nonce. */
type Waiting = BlobSending & {
  nonce: number;
  gas: bigint;
  blobGas: bigint;
  fees: BlobFees;
  doublings: number;
  /**
   * The hashes of all offered transactions, including transactions refused by every pool: a pool may take them later.
   */
  hashes: Hex[];
  raw: Hex;
  /** The latest that a pool took. */
  taken: Hex | undefined;
};

const offeredBy = ({ gas, blobGas, fees }: Pick<Waiting, "gas" | "blobGas" | "fees">): bigint =>
  gas * fees.maxFeePerGas + blobGas * fees.maxFeePerBlobGas;

/**
 * Sends an account's blobs in successive transactions from the account to itself. While a pool holds an account's
 * transaction with blobs, it takes no other transaction of the account. Nothing else may be sent for the account
 * meanwhile.
 */
export class BlobSender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #account: LocalAccount;
  readonly #kzg: Kzg;
  readonly #patience: Patience;

  constructor(
    publicClient: PublicClient<Transport, Chain>,
    account: LocalAccount,
    kzg: Kzg,
    patience: Partial<Patience> = {},
  ) {
    [this.#publicClient, this.#account, this.#kzg] = [publicClient, account, kzg];
    this.#patience = { ...BLOB_PATIENCE, ...patience };
  }

  /**
   * Sends a transaction with blobs, and waits until a block includes it. A long waiting transaction is sent again with
   * twice its fees, at most twice and only up to `max`.
   * @param blobs No more blobs than one transaction may have.
   * @returns The included transaction's hash, and its cost in wei.
   * @throws NoBlobsError, SignerError for an account that does not sign such transactions, NonceTakenError,
   *   BlobsTooDearError if prices rose above `max`, InsufficientGasFundsError, TransactionRefusedError,
   *   RpcUnavailableError: nothing was sent; TransactionDroppedError if no block includes the transaction in time,
   *   although a later block may
   */
  async send(blobs: readonly Uint8Array[], sending: BlobSending): Promise<{ transaction: Hex; cost: bigint }> {
    try {
      // The proofs take their time: prices are read after them.
      const payload = this.#payloadOf(blobs);
      const { offered } = await blobPrice(this.#publicClient);
      const nonce = await this.#freeNonce();
      const { address } = this.#account;
      // More than usual where the account has code.
      const gas = await this.#publicClient.estimateGas({ account: address, to: address });
      const blobGas = BigInt(blobs.length) * GAS_PER_BLOB;
      const price = { nonce, gas, blobGas, fees: offered };
      const waiting: Waiting = { ...sending, ...price, doublings: 0, hashes: [], raw: "0x", taken: undefined };
      requireWithin(waiting);
      await this.#offer(waiting, payload);
      const { transactionHash, gasUsed, effectiveGasPrice, blobGasPrice } = await this.#mined(waiting, payload);
      const ofBlobs = blobGas * (blobGasPrice ?? waiting.fees.maxFeePerBlobGas);
      return { transaction: transactionHash, cost: gasUsed * effectiveGasPrice + ofBlobs };
    } catch (error) {
      throw translateError(error, WHAT);
    }
  }

  /** @throws NonceTakenError while another transaction of the account waits */
  async #freeNonce(): Promise<number> {
    const { address } = this.#account;
    const nonce = await this.#publicClient.getTransactionCount({ address, blockTag: "latest" });
    if ((await this.#publicClient.getTransactionCount({ address, blockTag: "pending" })) <= nonce) return nonce;
    throw new NonceTakenError(`${WHAT}: a transaction of ${address} waits to be mined; try again once it is`);
  }

  #payloadOf(blobs: readonly Uint8Array[]): Payload {
    const all = blobs.map((blob) => bytesToHex(blob));
    const commitments = all.map((blob) => this.#kzg.blobToKZGCommitment(blob) as Hex);
    return {
      hashes: commitments.map((commitment) => commitmentToVersionedHash({ commitment })),
      sidecar: [
        WRAPPER_VERSION,
        all,
        commitments,
        all.flatMap((blob) => this.#kzg.computeCellsAndKZGProofs(blob).proofs as Hex[]),
      ],
    };
  }

  /** Signs and sends, with twice the fees where a pool asks for more. */
  async #offer(waiting: Waiting, payload: Payload): Promise<void> {
    for (;;) {
      const signed = await this.#signed(waiting, payload);
      waiting.raw = concatHex([TYPE, toRlp([fromRlp(slice(signed, 1), "hex"), ...payload.sidecar])]);
      const hash = keccak256(signed);
      waiting.hashes.push(hash);
      waiting.onOffered?.(hash);
      if (!(await this.#isTooCheap(waiting.raw))) {
        waiting.taken = hash;
        return;
      }
      if (waiting.doublings >= BLOB_FEE_DOUBLINGS)
        throw new NonceTakenError(`${WHAT}: the pool asks for more than four times the usual fees`);
      this.#double(waiting);
    }
  }

  /** @throws BlobsTooDearError: nothing is changed then */
  #double(waiting: Waiting): void {
    const fees = doubled(waiting.fees);
    requireWithin({ ...waiting, fees });
    waiting.fees = fees;
    waiting.doublings++;
  }

  /** @throws SignerError */
  async #signed({ nonce, gas, fees }: Waiting, { hashes }: Payload): Promise<Hex> {
    const { address } = this.#account;
    const signed = await this.#account.signTransaction({
      type: "eip4844",
      chainId: this.#publicClient.chain.id,
      nonce,
      to: address,
      gas,
      ...fees,
      blobVersionedHashes: hashes,
      sidecars: false,
    });
    if (signed.startsWith(TYPE)) return signed;
    throw new SignerError(`the signer of ${address} ${SIGNS_NO_BLOBS}`);
  }

  /** @returns Whether the pool asks for higher fees. A node that gives no answer may have taken the transaction. */
  async #isTooCheap(raw: Hex): Promise<boolean> {
    try {
      await this.#publicClient.sendRawTransaction({ serializedTransaction: raw });
      return false;
    } catch (error) {
      const words = refusalIn(error);
      if (words === "known" || words === "poolFull") return false;
      if (words === "baseFee" || words === "underpriced" || words === "replacement") return true;
      const refusal = translateRefusal(error, WHAT, raw.length / 2 - 1);
      if (refusal instanceof RpcUnavailableError) return false;
      throw refusal;
    }
  }

  async #mined(waiting: Waiting, payload: Payload): Promise<TransactionReceipt> {
    const { pollingMs, slowMs, longestMs } = this.#patience;
    const end = performance.now() + longestMs;
    for (let sentAt = performance.now(); performance.now() < end; await pause(pollingMs)) {
      for (const hash of waiting.hashes) {
        // A node that does not answer now may answer later.
        const receipt = await this.#publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
        if (receipt !== undefined) return receipt;
      }
      if (performance.now() - sentAt < slowMs) continue;
      sentAt = performance.now();
      await this.#offerAgain(waiting, payload).catch(() => undefined);
    }
    throw new TransactionDroppedError(WHAT, waiting.taken!);
  }

  /** Offers the transaction again with twice the fees, or with unchanged fees if doubling would exceed `max`. */
  async #offerAgain(waiting: Waiting, payload: Payload): Promise<void> {
    if (waiting.doublings < BLOB_FEE_DOUBLINGS && 2n * offeredBy(waiting) <= waiting.max) {
      this.#double(waiting);
      await this.#offer(waiting, payload);
    } else if (!(await this.#isTooCheap(waiting.raw))) waiting.taken = waiting.hashes.at(-1);
  }
}

/** @throws BlobsTooDearError if a transaction offers more than it may */
function requireWithin(waiting: Pick<Waiting, "gas" | "blobGas" | "fees" | "max">): void {
  const offered = offeredBy(waiting);
  if (offered <= waiting.max) return;
  throw new BlobsTooDearError(
    `${WHAT}: the next transaction would offer ${formatEther(offered)} of the native token, and ` +
      `${formatEther(waiting.max)} is left of the most that was to be offered: prices rose; try again when they fell`,
  );
}

/** Versioned hashes of the blobs, and the sidecar sent with the transaction. */
type Payload = { hashes: Hex[]; sidecar: [Hex, Hex[], Hex[], Hex[]] };
