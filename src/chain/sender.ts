import { setTimeout as sleep } from "node:timers/promises";
import { TransactionNotFoundError, encodeFunctionData, keccak256 } from "viem";
import type { Abi, Address, Chain, ContractFunctionArgs, ContractFunctionName } from "viem";
import type { Hash, Hex, LocalAccount, PublicClient, TransactionReceipt, Transport } from "viem";
import {
  NonceTakenError,
  RpcUnavailableError,
  TransactionDroppedError,
  TransactionRevertedError,
  TransactionTooLargeError,
} from "./errors.ts";
import { detailsMatch, translateError, translateRefusal } from "./translateError.ts";

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

/** How long a sender waits for what. */
export type Patience = {
  /** Pause between two looks for a receipt. */
  pollingMs: number;
  /**
   * A transaction that waits this long although its fee covers the base fee is sent again with a higher one. One of an
   * earlier process is replaced after this time.
   */
  slowMs: number;
  /**
   * A transaction that waits longer is given up, so that its action is considered anew. Its nonce is used again. For as
   * long, no node is offered a transaction larger than one that was refused for its size.
   */
  longestMs: number;
};

const PATIENCE: Patience = { pollingMs: 500, slowMs: 45_000, longestMs: 180_000 };
/**
 * Polls in a row in which no node knows a transaction that one took. After these it counts as dropped, by a
 * reorganisation or by a full pool.
 */
const MAX_MISSED_POLLS = 6;
/** Maximum tip of a transaction that waits although its fee covers the base fee, in multiples of the usual tip. */
const MAX_TIP_FACTOR = 4n;
/**
 * How often a fee is raised at once, by an eighth each time, to replace a transaction whose fee is not known. 12 times
 * make it four times the usual one.
 */
const MAX_RAISES = 12;

/**
 * Sends one account's transactions, one after the other, and waits for each to be mined. Several may wait together, so
 * that a block takes the moves of many games. With one move a block, many sham games would run an honest player's
 * clocks out.
 *
 * A nonce is used again until a transaction with it is mined. So a transaction that was given up, or that an earlier
 * process left in the pools, is replaced and not followed by another: a move that is considered anew takes the nonce of
 * its first try, and cannot be made twice.
 */
export class Sender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #account: LocalAccount;
  readonly #patience: Patience;
  #last: Promise<unknown> = Promise.resolve();
  /** Nonces of transactions that are waited for. */
  readonly #awaited = new Set<number>();
  /** Nonces of transactions of this process that were given up and may be in a pool still. */
  readonly #givenUp = new Set<number>();
  /** A nonce that a transaction of another process has, and since when that was seen. */
  #foreign: { nonce: number; since: number } | undefined;
  /** The last refusal of a transaction for its size, and when it was. */
  #refused: { error: TransactionTooLargeError; at: number } | undefined;

  constructor(publicClient: PublicClient<Transport, Chain>, account: LocalAccount, patience: Partial<Patience> = {}) {
    this.#publicClient = publicClient;
    this.#account = account;
    this.#patience = { ...PATIENCE, ...patience };
  }

  get address(): Address {
    return this.#account.address;
  }

  /**
   * Sends a call and waits for its receipt. A call that would revert is refused before anything is sent.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, NonceTakenError,
   *   InsufficientGasFundsError, TransactionTooLargeError, TransactionRefusedError, RpcUnavailableError
   */
  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt> {
    const sent = this.#last.then(() => this.#submit(call as unknown as Call));
    this.#last = sent.catch(() => undefined);
    try {
      const receipt = await this.#mined(await sent);
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
    const request = { ...(call as unknown as Call), account: this.#account, gas: MAX_TRANSACTION_GAS };
    await this.#publicClient.simulateContract(request).catch((error: unknown) => {
      throw translateError(error, call.functionName);
    });
  }

  async #submit(call: Call): Promise<Waiting> {
    // The nonce is read first. If this very move gets into a block after the simulation, by a reorganisation or by
    // another process with the same key, its nonce is taken, and the node refuses it free of charge. The contract would
    // refuse it too, but for the price of the gas.
    const nonce = await this.#freeNonce(call);
    const { address, abi, functionName, args, value = 0n } = call;
    const gas = withMargin(await this.#publicClient.estimateContractGas({ ...call, account: this.#account }));
    const usual = await this.#publicClient.estimateFeesPerGas();
    const fees = refundedFees(usual);
    const data = encodeFunctionData({ abi, functionName, args });
    const waiting: Waiting = {
      functionName,
      nonce,
      fees,
      usual,
      hashes: [],
      action: { to: address, data, value, gas },
    };
    await this.#offer(waiting);
    this.#awaited.add(nonce);
    return waiting;
  }

  /**
   * The first nonce without a transaction that is mined or waited for.
   * @throws NonceTakenError while a transaction of an earlier process has it.
   */
  async #freeNonce({ functionName }: Call): Promise<number> {
    const count = (blockTag: "latest" | "pending") =>
      this.#publicClient.getTransactionCount({ address: this.address, blockTag });
    let nonce = await count("latest");
    for (const old of this.#givenUp) if (old < nonce) this.#givenUp.delete(old);
    while (this.#awaited.has(nonce)) nonce++;
    if (this.#givenUp.has(nonce) || (await count("pending")) <= nonce) {
      this.#foreign = undefined;
      return nonce;
    }
    if (this.#foreign?.nonce !== nonce) this.#foreign = { nonce, since: Date.now() };
    if (Date.now() - this.#foreign.since >= this.#patience.slowMs) return nonce;
    throw new NonceTakenError(`${functionName}: a transaction that an earlier process sent waits to be mined`);
  }

  /** Signs and sends, with higher fees where a pool asks for more than another transaction has. */
  async #offer(waiting: Waiting): Promise<void> {
    const { action, nonce, hashes } = waiting;
    const chainId = this.#publicClient.chain.id;
    for (let raises = 0; ; raises++) {
      const raw = await this.#account.signTransaction({ ...action, ...waiting.fees, nonce, chainId, type: "eip1559" });
      const hash = keccak256(raw);
      this.#checkSize(waiting.functionName, bytesIn(raw));
      const refusal = await this.#broadcast(raw, waiting.functionName);
      if (refusal === "underpriced" && raises < MAX_RAISES) {
        waiting.fees = raised(maxFees(waiting.fees, waiting.usual));
        continue;
      }
      if (refusal === "underpriced")
        throw new NonceTakenError(`${waiting.functionName}: another transaction with nonce ${nonce} offers more`);
      hashes.push(hash);
      return;
    }
  }

  /**
   * Only what was refused says what is too large: words about a limit may mean anything, and smaller moves must go on.
   * @throws TransactionTooLargeError without asking a node, if the nodes have lately refused one that is no larger.
   */
  #checkSize(functionName: string, bytes: number): void {
    if (this.#refused === undefined || Date.now() - this.#refused.at >= this.#patience.longestMs) return;
    const { error } = this.#refused;
    if (bytes >= error.bytes) throw new TransactionTooLargeError(functionName, bytes, error.limit, { cause: error });
  }

  /**
   * @returns Whether a pool asks for higher fees. A node that gives no answer may have taken the transaction, and a
   *   full pool may take it later, so the transaction counts as sent.
   */
  async #broadcast(raw: Hex, functionName: string): Promise<"underpriced" | undefined> {
    try {
      await this.#publicClient.sendRawTransaction({ serializedTransaction: raw });
    } catch (error) {
      if (detailsMatch(error, /already (known|imported)|known transaction/i)) return undefined;
      if (detailsMatch(error, /underpriced|replacement ?(transaction|not ?allowed)|fee too low to replace/i))
        return "underpriced";
      if (detailsMatch(error, /less than (the )?block base fee/i)) return "underpriced";
      // It may be taken when it is offered again.
      if (detailsMatch(error, /pool is full/i)) return undefined;
      const refusal = translateRefusal(error, functionName, bytesIn(raw));
      if (refusal instanceof TransactionTooLargeError) this.#refused = { error: refusal, at: Date.now() };
      if (!(refusal instanceof RpcUnavailableError)) throw refusal;
    }
    return undefined;
  }

  /**
   * The receipt, once there is one. A clock may be running: a transaction that no node has any more is not waited for,
   * and one whose fee is below the base fee is replaced by one with higher fees.
   */
  async #mined(waiting: Waiting): Promise<TransactionReceipt> {
    const { nonce, functionName } = waiting;
    const { pollingMs, longestMs } = this.#patience;
    try {
      const end = Date.now() + longestMs;
      let sentAt = Date.now();
      for (let misses = 0; misses < MAX_MISSED_POLLS && Date.now() < end; await sleep(pollingMs)) {
        const receipt = await this.#receipt(waiting);
        if (receipt !== undefined) return receipt;
        const seen = await this.#seen(waiting);
        misses = seen === "nowhere" ? misses + 1 : 0;
        if (seen === "pool" && (await this.#replace(waiting, Date.now() - sentAt).catch(() => false)))
          sentAt = Date.now();
      }
      this.#givenUp.add(nonce);
      throw new TransactionDroppedError(functionName, waiting.hashes.at(-1)!);
    } finally {
      this.#awaited.delete(nonce);
    }
  }

  /** Any of the transactions that were sent with a nonce may be the one that is mined. */
  async #receipt({ hashes }: Waiting): Promise<TransactionReceipt | undefined> {
    for (const hash of hashes) {
      // A node that does not answer now may answer later.
      const receipt = await this.#publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
      if (receipt !== undefined) return receipt;
    }
    return undefined;
  }

  /** Where the latest of the transactions is; "unknown" if no node answers. */
  #seen({ hashes }: Waiting): Promise<"pool" | "nowhere" | "unknown"> {
    return this.#publicClient.getTransaction({ hash: hashes.at(-1)! }).then(
      () => "pool",
      (error: unknown) => (error instanceof TransactionNotFoundError ? "nowhere" : "unknown"),
    );
  }

  /**
   * Sends a waiting transaction again, with the same nonce and higher fees, if its own are too low or it waits long.
   * @returns Whether it did.
   */
  async #replace(waiting: Waiting, waitedMs: number): Promise<boolean> {
    const { baseFeePerGas } = await this.#publicClient.getBlock({ blockTag: "latest" });
    const base = baseFeePerGas ?? 0n;
    let higher = raised(waiting.fees);
    if (base <= waiting.fees.maxFeePerGas) {
      if (waitedMs < this.#patience.slowMs) return false;
      const usual = await this.#publicClient.estimateFeesPerGas();
      // The tip has a maximum, so that nobody gains by keeping the transaction out of blocks.
      if (higher.maxPriorityFeePerGas > MAX_TIP_FACTOR * (usual.maxPriorityFeePerGas + 1n)) return false;
      higher = maxFees(higher, usual);
    }
    const covering = 2n * base + higher.maxPriorityFeePerGas;
    const next = { ...waiting, fees: maxFees(higher, { ...higher, maxFeePerGas: covering }) };
    await this.#offer(next);
    waiting.fees = next.fees;
    return true;
  }
}

const bytesIn = (raw: Hex): number => raw.length / 2 - 1;

/** What a transaction offers, wei. */
type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** A transaction that was sent, once or several times with one nonce. */
type Waiting = {
  functionName: string;
  nonce: number;
  fees: Fees;
  /** What the node advised. */
  usual: Fees;
  /** Oldest first. */
  hashes: Hash[];
  action: { to: Address; data: Hex; value: bigint; gas: bigint };
};

/** An eighth more, and at least 1 wei: less is no replacement to a node. */
const raised = (fees: Fees): Fees => ({
  maxFeePerGas: eighthMore(fees.maxFeePerGas),
  maxPriorityFeePerGas: eighthMore(fees.maxPriorityFeePerGas),
});
const eighthMore = (fee: bigint): bigint => fee + fee / 8n + 1n;

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const maxFees = (a: Fees, b: Fees): Fees => ({
  maxFeePerGas: max(a.maxFeePerGas, b.maxFeePerGas),
  maxPriorityFeePerGas: max(a.maxPriorityFeePerGas, b.maxPriorityFeePerGas),
});

/** The minimum tip of pools and block builders by default, with a margin: 0.01 gwei. */
const MIN_TIP = 10_000_000n;

/**
 * What is offered at first. The tip is at most a quarter of the base fee: what a game pays a worker back
 * (contracts/game/DisputeGame.sol). When gas is cheap, the usual tip is many times that, so that many sham games would
 * use up an honest worker's ether; and blocks then have room. The usual tip is offered if no block takes this one.
 * @param usual Its maximum fee is the base fee, a fifth of it, and the tip.
 */
function refundedFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees {
  const base = ((maxFeePerGas - maxPriorityFeePerGas) * 5n) / 6n;
  const tip = max(base / 4n, MIN_TIP);
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxPriorityFeePerGas ? tip : maxPriorityFeePerGas };
}

/** Three words of storage that were filled at the estimate and are empty when the transaction is mined. */
const EMPTY_WORDS_GAS = 3n * 22_100n;

/**
 * 15 % over the estimate and some words of storage, because the state may change before the transaction is mined. An
 * adversary can change it on purpose: a sham game that ends in between makes the opening of an honest game dearer by a
 * word, again and again, until the window is over.
 */
function withMargin(estimate: bigint): bigint {
  const gas = (estimate * 115n) / 100n + EMPTY_WORDS_GAS;
  return gas < MAX_TRANSACTION_GAS ? gas : MAX_TRANSACTION_GAS;
}
