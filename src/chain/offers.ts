import { keccak256, maxUint256, serializeTransaction, size, toHex } from "viem";
import type { Chain, Hex, LocalAccount, PublicClient, TransactionSerializableEIP1559, Transport } from "viem";
import { FeeCapError, NonceTakenError, RpcUnavailableError, TransactionTooLargeError } from "./errors.ts";
import { capped, covering, maxFees, raised, type Fees } from "./fees.ts";
import { capIn, refusalIn } from "./refusals.ts";
import { isTooCheap, type SendOutcome, type Waiting } from "./sentTransaction.ts";
import { FEE_PART, FIRST_RESEND_PART, MAX_RAISES, MAX_TIP_FACTOR, type Patience } from "./resendTimes.ts";
import { sharedRead } from "./sharedRead.ts";
import { translateRefusal } from "./translateError.ts";

/** The parts of a new transaction. */
type Made = Pick<Waiting, "functionName" | "nonce" | "action" | "fees" | "usual" | "hashes">;

/** Counts for the size only. */
const LONGEST_SIGNATURE = { r: toHex(maxUint256), s: toHex(maxUint256), yParity: 1 };

/** Signs one account's transactions, and offers the transactions to the pools with fees that the pools take. */
export class Offers {
  readonly #client: PublicClient<Transport, Chain>;
  readonly #account: LocalAccount;
  readonly #patience: Patience;
  readonly #usualFees: (notBefore: number) => Promise<Fees>;
  readonly #latestBase: (notBefore: number) => Promise<bigint>;
  /** The last refusal of a transaction for size, with the time. */
  #refused: { error: TransactionTooLargeError; at: number } | undefined;

  constructor(client: PublicClient<Transport, Chain>, account: LocalAccount, patience: Patience) {
    [this.#client, this.#account, this.#patience] = [client, account, patience];
    this.#usualFees = sharedRead(() => client.estimateFeesPerGas());
    this.#latestBase = sharedRead(() => this.#baseFee());
  }

  /** Returns the fees that the node advises, of the last moments. @throws the client's errors */
  usualFees(): Promise<Fees> {
    return this.#usualFees(this.#soon);
  }

  get #soon(): number {
    return performance.now() - this.#patience.pollingMs * FEE_PART;
  }

  /** Returns a transaction that was not offered yet. */
  waiting(made: Made): Waiting {
    return {
      ...made,
      raw: "0x",
      resend: this.#firstResend(),
      passedAt: performance.now(),
      refusals: 0,
      unclear: undefined,
    };
  }

  /**
   * Signs and sends, with higher fees where a pool asks for more than another transaction has.
   * @throws NonceTakenError, FeeCapError, and the refusals of `broadcast`
   */
  async offer(waiting: Waiting, maxRaises = MAX_RAISES): Promise<void> {
    const { action, nonce, hashes } = waiting;
    for (let raises = 0; ; raises++) {
      const raw = await this.#account.signTransaction(this.#unsigned(waiting));
      const hash = keccak256(raw);
      this.#checkSize(waiting.functionName, size(raw));
      const outcome = await this.broadcast(raw, waiting).catch(async (error: unknown) => {
        if (!(error instanceof FeeCapError)) throw error;
        // The base fee must be covered: a transaction below it waits.
        const lower = capped(waiting.fees, action.gas, capIn(error.words), await this.#baseFee());
        if (lower === undefined) throw error;
        waiting.fees = lower;
        return "feeCap" as const;
      });
      if (outcome === "feeCap") continue;
      if (isTooCheap(outcome) && raises < maxRaises) {
        waiting.fees = raised(maxFees(waiting.fees, waiting.usual));
        if (outcome === "baseFee") waiting.fees = covering(waiting.fees, await this.#baseFee());
        continue;
      }
      if (isTooCheap(outcome))
        throw new NonceTakenError(`${waiting.functionName}: another transaction with nonce ${nonce} offers more`);
      hashes.push(hash);
      [waiting.raw, waiting.resend, waiting.refusals] = [raw, this.#firstResend(), 0];
      return;
    }
  }

  /** @throws TransactionTooLargeError if a transaction with a nonce would be larger than the nodes take, as of late. */
  checkSize(made: Made): void {
    if (this.#refused !== undefined)
      this.#checkSize(made.functionName, size(serializeTransaction(this.#unsigned(made), LONGEST_SIGNATURE)));
  }

  #unsigned({ action, fees, nonce }: Made): TransactionSerializableEIP1559 {
    return { ...action, ...fees, nonce, chainId: this.#client.chain.id, type: "eip1559" };
  }

  #firstResend(): Waiting["resend"] {
    const pauseMs = this.#patience.pollingMs / FIRST_RESEND_PART;
    return { at: performance.now() + pauseMs, pauseMs };
  }

  async #baseFee(): Promise<bigint> {
    return (await this.#client.getBlock({ blockTag: "latest" })).baseFeePerGas ?? 0n;
  }

  /**
   * Only a refused transaction shows a size limit: a node's message about a limit may mean anything, and smaller moves
   * must go on.
   * @throws TransactionTooLargeError without asking a node, if the nodes have lately refused a transaction of this
   *   size or smaller.
   */
  #checkSize(functionName: string, bytes: number): void {
    if (this.#refused === undefined || performance.now() - this.#refused.at >= this.#patience.longestMs) return;
    const { error } = this.#refused;
    if (bytes >= error.bytes) throw new TransactionTooLargeError(functionName, bytes, error.limit, { cause: error });
  }

  /**
   * Sends signed bytes, for the first time or again.
   * @returns The outcome. A node that gives no answer may have taken the bytes, and a full pool may take them later:
   *   this outcome, "unclear", counts as sent.
   * @throws the refusal of a pool
   */
  async broadcast(raw: Hex, waiting: Waiting): Promise<SendOutcome> {
    const { functionName } = waiting;
    waiting.unclear = undefined;
    try {
      await this.#client.sendRawTransaction({ serializedTransaction: raw });
      return "taken";
    } catch (error) {
      const words = refusalIn(error);
      if (words === "known") return "taken";
      if (words === "baseFee" || words === "underpriced" || words === "replacement") return words;
      // The pool may take the transaction at the next offer.
      if (words === "poolFull") return "unclear";
      const refusal = translateRefusal(error, functionName, size(raw));
      if (refusal instanceof TransactionTooLargeError) this.#refused = { error: refusal, at: performance.now() };
      if (!(refusal instanceof RpcUnavailableError)) throw refusal;
      waiting.unclear = refusal;
      return "unclear";
    }
  }

  /**
   * Sends a waiting transaction again, with the same nonce and higher fees, if its own are too low or it waits long.
   * @returns Whether it did. @throws as `offer`
   */
  async replace(waiting: Waiting, waitedMs: number): Promise<boolean> {
    const base = await this.#latestBase(this.#soon);
    let higher = raised(waiting.fees);
    if (base <= waiting.fees.maxFeePerGas) {
      if (waitedMs < this.#patience.slowMs) return false;
      const usual = await this.#client.estimateFeesPerGas();
      // The tip has a maximum, to let nobody gain by keeping the transaction out of blocks.
      if (higher.maxPriorityFeePerGas > MAX_TIP_FACTOR * (usual.maxPriorityFeePerGas + 1n)) return false;
      higher = maxFees(higher, usual);
    }
    const next = { ...waiting, fees: covering(higher, base) };
    await this.offer(next);
    Object.assign(waiting, next);
    return true;
  }
}
