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

/** What is used of a library of KZG commitments, such as what `loadKZG` of kzg-wasm gives. All is hexadecimal. */
export type Kzg = {
  blobToKZGCommitment: (blob: string) => string;
  computeCellsAndKZGProofs: (blob: string) => { proofs: string[] };
};

/** What a transaction with blobs offers at most, wei for a unit of gas and of blob gas. */
export type BlobFees = Fees & { maxFeePerBlobGas: bigint };

/** What a transaction to oneself takes, and a blob (EIP-4844). */
export const BLOB_TRANSACTION_GAS = 21_000n;
export const GAS_PER_BLOB = 131_072n;
/**
 * How often what is offered is doubled at most, for a transaction that waits: to replace one with blobs, pools ask for
 * twice as much of each fee.
 */
export const BLOB_FEE_DOUBLINGS = 2;
/** Blobs have little room in a block: a transaction with some may wait for many of them. */
const BLOB_PATIENCE = { ...PATIENCE, longestMs: 600_000 };
/** The form of sidecars with a proof for each cell of a blob (EIP-7594): the only one that is taken since Fusaka. */
const WRAPPER_VERSION = "0x01";
const TYPE = "0x03";
const WHAT = "sending blobs";

/** What blobs cost now, and what is offered for them at first: room for a price of blob gas that doubles. */
export type BlobPrice = { gasPrice: bigint; blobGasPrice: bigint; offered: BlobFees };

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
export type BlobSending = {
  /** The most that it may offer, in wei. */
  max: bigint;
  /** Called with the hash of each transaction, before it is sent. One of them comes into a block. */
  onOffered?: ((transaction: Hex) => void) | undefined;
};

/** A transaction with blobs that was sent, once or several times with one nonce. */
type Waiting = BlobSending & {
  nonce: number;
  gas: bigint;
  blobGas: bigint;
  fees: BlobFees;
  doublings: number;
  /** Of all that were offered, also of those that no pool took: one may take them later. */
  hashes: Hex[];
  raw: Hex;
  /** The latest that a pool took. */
  taken: Hex | undefined;
};

const offeredBy = ({ gas, blobGas, fees }: Pick<Waiting, "gas" | "blobGas" | "fees">): bigint =>
  gas * fees.maxFeePerGas + blobGas * fees.maxFeePerBlobGas;

/**
 * Sends blobs of one account, in one transaction to itself after the other: pools take no other transaction of an
 * account that has one with blobs in them. Nothing else may be sent for the account meanwhile.
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
   * Sends a transaction with blobs, and waits until it is in a block. One that waits long is sent again with twice its
   * fees, twice at most, and as far as `max` goes.
   * @param blobs As many as a transaction may have.
   * @returns The hash of the transaction that is in a block, and what it cost, in wei.
   * @throws NoBlobsError, SignerError for an account that does not sign such transactions, NonceTakenError,
   *   BlobsTooDearError if prices rose above `max`, InsufficientGasFundsError, TransactionRefusedError,
   *   RpcUnavailableError: nothing of it was sent;
   *   TransactionDroppedError if it is not in a block in time, and may still come into one
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

  /** @returns Whether the pool asks for more. A node that gives no answer may have taken it. */
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
    const end = Date.now() + longestMs;
    for (let sentAt = Date.now(); Date.now() < end; await pause(pollingMs)) {
      for (const hash of waiting.hashes) {
        // A node that does not answer now may answer later.
        const receipt = await this.#publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
        if (receipt !== undefined) return receipt;
      }
      if (Date.now() - sentAt < slowMs) continue;
      sentAt = Date.now();
      await this.#offerAgain(waiting, payload).catch(() => undefined);
    }
    throw new TransactionDroppedError(WHAT, waiting.taken!);
  }

  /** With twice the fees; with those of before if that would be too much. */
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

/** Blobs by their versioned hashes, and what goes beside the transaction. */
type Payload = { hashes: Hex[]; sidecar: [Hex, Hex[], Hex[], Hex[]] };
