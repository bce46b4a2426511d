import { setTimeout as sleep } from "node:timers/promises";
import { TransactionNotFoundError } from "viem";
import type { Abi, Account, Address, Chain, ContractFunctionArgs, ContractFunctionName } from "viem";
import type { Hash, PublicClient, TransactionReceipt, Transport, WalletClient } from "viem";
import { TransactionDroppedError, TransactionRevertedError } from "./errors.ts";
import { translateError } from "./translateError.ts";

type Writable = "nonpayable" | "payable";

/** A call of a contract's function. */
export type Call<
  A extends Abi = Abi,
  Name extends ContractFunctionName<A, Writable> = ContractFunctionName<A, Writable>,
> = {
  address: Address;
  abi: A;
  functionName: Name;
  args: ContractFunctionArgs<A, Writable, Name>;
  /** Ether to send along, wei. */
  value?: bigint;
};

/** EIP-7825: no transaction may have more gas. */
const MAX_TRANSACTION_GAS = 16_777_216n;

const POLLING_MS = 500;
/** Polls in a row in which the node does not know a transaction that it took: a reorganisation, or a full pool, dropped it. */
const MISSES = 6;
/** A transaction that waits longer is given up, so that its action is looked at again. */
const LONGEST_WAIT_MS = 180_000;
/** A transaction that waits this long though its fee covers the base fee gets a higher one. */
const SLOW_MS = 45_000;

/**
 * Sends one account's transactions, one after the other, and waits for each to be mined. Several may wait together: a block takes
 * the moves of many games, where one move a block would let many sham games run an honest player's clocks out.
 */
export class Sender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #walletClient: WalletClient<Transport, Chain, Account>;
  readonly #pollingMs: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param pollingMs How often a transaction that was sent is asked for. */
  constructor(
    publicClient: PublicClient<Transport, Chain>,
    walletClient: WalletClient<Transport, Chain, Account>,
    pollingMs = POLLING_MS,
  ) {
    this.#publicClient = publicClient;
    this.#walletClient = walletClient;
    this.#pollingMs = pollingMs;
  }

  get address(): Address {
    return this.#walletClient.account.address;
  }

  /**
   * Sends a call and waits for its receipt. A call that would revert is refused before anything is sent.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, InsufficientGasFundsError, RpcUnavailableError
   */
  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt> {
    const sent = this.#last.then(() => this.#submit(call as unknown as Call));
    this.#last = sent.catch(() => undefined);
    try {
      const hash = await sent;
      const receipt = await this.#mined(call, hash);
      if (receipt.status === "reverted") throw new TransactionRevertedError(call.functionName, receipt.transactionHash);
      return receipt;
    } catch (error) {
      throw translateError(error, call.functionName);
    }
  }

  /**
   * Asks the chain, for free, whether a call would pass.
   * @throws ContractRevertError if it would not, RpcUnavailableError
   */
  async check<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(call: Call<A, Name>): Promise<void> {
    const request = { ...(call as unknown as Call), account: this.#walletClient.account, gas: MAX_TRANSACTION_GAS };
    await this.#publicClient.simulateContract(request).catch((error: unknown) => {
      throw translateError(error, call.functionName);
    });
  }

  /**
   * The receipt, once there is one. A clock may be running: a transaction that no node has any more is not waited for, and one that the base fee
   * has outrun is replaced by one with higher fees.
   */
  async #mined(call: Call, first: Hash): Promise<TransactionReceipt> {
    // Any of them may be the one that is mined.
    const hashes = [first];
    let misses = 0;
    let sentAt = Date.now();
    for (const end = Date.now() + LONGEST_WAIT_MS; misses < MISSES && Date.now() < end; await sleep(this.#pollingMs)) {
      for (const hash of hashes) {
        // A node that does not answer now may answer later.
        const receipt = await this.#publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
        if (receipt !== undefined) return receipt;
      }
      const waiting = await this.#publicClient.getTransaction({ hash: hashes.at(-1)! }).catch((error: unknown) => {
        return error instanceof TransactionNotFoundError ? undefined : ("unknown" as const);
      });
      misses = waiting === undefined ? misses + 1 : 0;
      if (waiting === undefined || waiting === "unknown") continue;
      const next = await this.#replace(call, waiting, Date.now() - sentAt).catch(() => undefined);
      if (next === undefined) continue;
      hashes.push(next);
      sentAt = Date.now();
    }
    throw new TransactionDroppedError(call.functionName, hashes.at(-1)!);
  }

  /** Sends a waiting transaction again, with the same nonce and higher fees, if its own are too low or it waits long. */
  async #replace(call: Call, waiting: Fees, waitedMs: number): Promise<Hash | undefined> {
    const { nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = waiting;
    if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined;
    const { baseFeePerGas } = await this.#publicClient.getBlock({ blockTag: "latest" });
    const isOutrun = (baseFeePerGas ?? 0n) > maxFeePerGas;
    if (!isOutrun && waitedMs < SLOW_MS) return undefined;
    const tip = raised(maxPriorityFeePerGas);
    const covering = 2n * (baseFeePerGas ?? 0n) + tip;
    const fee = raised(maxFeePerGas) > covering ? raised(maxFeePerGas) : covering;
    return this.#walletClient.writeContract({ ...call, gas, nonce, maxFeePerGas: fee, maxPriorityFeePerGas: tip });
  }

  async #submit(call: Call): Promise<Hash> {
    const { account } = this.#walletClient;
    // The nonce first: if this very move gets into a block after the simulation (a reorganisation put it back, another process has the same key),
    // the nonce is taken, and the node refuses what the contract would only refuse for the price of its gas.
    const nonce = await this.#publicClient.getTransactionCount({ address: account.address, blockTag: "pending" });
    const estimate = await this.#publicClient.estimateContractGas({ ...call, account });
    return this.#walletClient.writeContract({ ...call, nonce, gas: withMargin(estimate) });
  }
}

/** What a transaction that waits offers. */
type Fees = { nonce: number; gas: bigint; maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint };

/** An eighth more, and at least 1 wei: less is no replacement to a node. */
const raised = (fee: bigint): bigint => fee + fee / 8n + 1n;

/** Three words of storage that were filled at the estimate and are empty when the transaction is mined. */
const EMPTY_WORDS_GAS = 3n * 22_100n;

/**
 * 15 % over the estimate and some words of storage, because the state may change before the transaction is mined. An adversary sees to it that it does: a
 * sham game that ends in between makes the opening of an honest one dearer by a word, again and again, until the window is over.
 */
function withMargin(estimate: bigint): bigint {
  const gas = (estimate * 115n) / 100n + EMPTY_WORDS_GAS;
  return gas < MAX_TRANSACTION_GAS ? gas : MAX_TRANSACTION_GAS;
}
