import { keccak256, size } from "viem";
import type { Abi, Address, Chain, ContractFunctionName, Hex, LocalAccount } from "viem";
import type { PublicClient, TransactionReceipt, Transport } from "viem";
import {
  FeeCapError,
  NonceTakenError,
  RpcUnavailableError,
  TransactionDroppedError,
  TransactionRevertedError,
  TransactionTooLargeError,
} from "./errors.ts";
import { hasRpcError } from "./answers.ts";
import { calldataOf, type Call, type TransactionSender, type Writable } from "./call.ts";
import { capped, covering, maxFees, raised, refundedFees } from "./fees.ts";
import { checkCall } from "./checkCall.ts";
import { withMargin } from "./gasLimit.ts";
import { inTurn } from "../base/inTurn.ts";
import {
  PATIENCE,
  FIRST_RESEND_PART,
  LONGEST_RESEND_PART,
  PASSED_PART,
  RECENT,
  GAP_PART,
  MAX_REFUSALS,
  NONCE_LOOKS,
  NONCE_PAUSE_MS,
  MAX_TIP_FACTOR,
  MAX_RAISES,
  type Patience,
} from "./resendTimes.ts";
import { pause } from "./pause.ts";
import { capIn, refusalIn } from "./refusals.ts";
import { translateError, translateRefusal } from "./translateError.ts";
import { isTooCheap, placeOf, receiptOf } from "./sentTransaction.ts";
import type { SendOutcome, TransactionPlace, Waiting } from "./sentTransaction.ts";

/**
 * Sends one account's transactions, one after the other, and waits for each to be mined. Several transactions may wait
 * together, to let one block take moves from many games. If each block took only one move, many sham games would run
 * out an honest player's clocks.
 *
 * A nonce is used again until a transaction with the nonce is mined. An abandoned transaction, by this process or an
 * earlier process, is therefore replaced, not followed by another transaction. A move considered anew takes the nonce
 * of its first try, and cannot be made twice.
 */
export class Sender implements TransactionSender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #account: LocalAccount;
  readonly #patience: Patience;
  readonly #inTurn = inTurn();
  /** Nonces of transactions that are waited for. */
  readonly #awaited = new Set<number>();
  /** Nonces of given up transactions of this process. The transactions may still be in a pool. */
  readonly #givenUp = new Set<number>();
  /** The nonce after the highest nonce with a seen receipt. */
  #afterMined = 0;
  /** A nonce taken by another process's transaction, and when this was first seen. */
  #foreign: { nonce: number; since: number } | undefined;
  /** A nonce that no transaction had at the last look, while others waited behind it, and when the next look is due. */
  readonly #gap: { seen?: number | undefined; lookAt: number } = { lookAt: 0 };
  /** The latest transactions whose receipts were seen, by nonce: a reorganisation may take them back. */
  readonly #recent = new Map<number, Waiting>();
  /** The last refusal of a transaction for size, with the time. */
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
   * Sends a call and waits for its receipt. A reverting call fails before anything is sent.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, NonceTakenError,
   *   InsufficientGasFundsError, TransactionTooLargeError, TransactionRefusedError, FeeCapError, RpcUnavailableError
   */
  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt> {
    try {
      const sent = await this.#inTurn(() => this.#submit(call as unknown as Call));
      const receipt = await this.#mined(sent);
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
    await checkCall(this.#publicClient, this.address, call);
  }

  async #submit(call: Call): Promise<Waiting> {
    // The nonce is read first. After the simulation, a reorganisation or another process with the same key may bring
    // this very move into a block. The nonce is then taken, and the node refuses the repeated move free of charge. The
    // contract would refuse the move too, but for the price of the gas.
    const nonce = await this.#freeNonce(call);
    const { address, functionName, value = 0n } = call;
    // By its address: with an account that signs, viem would ask for nonce and fees too.
    const estimate = this.#publicClient.estimateContractGas({ ...call, account: this.address });
    // At once: other transactions wait for this one, and at a bad node each request may take seconds.
    const [estimated, usual] = await Promise.all([estimate, this.#publicClient.estimateFeesPerGas()]);
    const gas = withMargin(estimated);
    const fees = refundedFees(usual);
    const action = { to: address, data: calldataOf(call), value, gas };
    const waiting = this.#waiting({ functionName, nonce, action, fees, usual, hashes: [] });
    await this.#offer(waiting);
    this.#awaited.add(nonce);
    return waiting;
  }

  #waiting(made: Pick<Waiting, "functionName" | "nonce" | "action" | "fees" | "usual" | "hashes">): Waiting {
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
   * Returns the first nonce without a mined or awaited transaction.
   * @throws NonceTakenError while a transaction of an earlier process has the nonce.
   */
  async #freeNonce({ functionName }: Call): Promise<number> {
    let nonce = await this.#count("latest");
    // A node that lags does not know the latest transactions. After a reorganisation they are no longer there.
    for (let look = 1; nonce < this.#afterMined && look < NONCE_LOOKS; look++) {
      await pause(NONCE_PAUSE_MS);
      nonce = await this.#count("latest");
    }
    this.#afterMined = Math.min(this.#afterMined, nonce);
    for (const old of this.#givenUp) if (old < nonce) this.#givenUp.delete(old);
    while (this.#awaited.has(nonce)) nonce++;
    if (this.#givenUp.has(nonce) || (await this.#count("pending")) <= nonce) {
      this.#foreign = undefined;
      return nonce;
    }
    if (this.#foreign?.nonce !== nonce) this.#foreign = { nonce, since: performance.now() };
    if (performance.now() - this.#foreign.since >= this.#patience.slowMs) return nonce;
    throw new NonceTakenError(`${functionName}: a transaction that an earlier process sent waits to be mined`);
  }

  /** Returns the account's transaction count, in blocks only or including waiting transactions. */
  #count(blockTag: "latest" | "pending"): Promise<number> {
    return this.#publicClient.getTransactionCount({ address: this.address, blockTag });
  }

  /** Signs and sends, with higher fees where a pool asks for more than another transaction has. */
  async #offer(waiting: Waiting, maxRaises = MAX_RAISES): Promise<void> {
    const { action, nonce, hashes } = waiting;
    const chainId = this.#publicClient.chain.id;
    for (let raises = 0; ; raises++) {
      const raw = await this.#account.signTransaction({ ...action, ...waiting.fees, nonce, chainId, type: "eip1559" });
      const hash = keccak256(raw);
      this.#checkSize(waiting.functionName, size(raw));
      const outcome = await this.#broadcast(raw, waiting).catch(async (error: unknown) => {
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

  async #baseFee(): Promise<bigint> {
    return (await this.#publicClient.getBlock({ blockTag: "latest" })).baseFeePerGas ?? 0n;
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
   */
  async #broadcast(raw: Hex, waiting: Waiting): Promise<SendOutcome> {
    const { functionName } = waiting;
    waiting.unclear = undefined;
    try {
      await this.#publicClient.sendRawTransaction({ serializedTransaction: raw });
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
   * Waits for the receipt. A clock may be running: a transaction unknown to all nodes is sent again, and a transaction
   * with a fee below the base fee is replaced by a transaction with higher fees.
   */
  async #mined(waiting: Waiting): Promise<TransactionReceipt> {
    const { nonce, functionName } = waiting;
    const { longestMs } = this.#patience;
    try {
      const end = performance.now() + longestMs;
      let sentAt = performance.now();
      let seen: TransactionPlace = "unknown";
      for (; performance.now() < end && waiting.refusals < MAX_REFUSALS; await pause(this.#untilNextLook(waiting))) {
        const receipt = await receiptOf(this.#publicClient, waiting);
        if (receipt !== undefined) {
          this.#afterMined = Math.max(this.#afterMined, nonce + 1);
          this.#recent.set(nonce, waiting);
          this.#recent.delete(nonce - RECENT);
          return receipt;
        }
        seen = await placeOf(this.#publicClient, waiting);
        // Some nodes do not show a transaction before a block includes it.
        if (seen !== "unknown" && (await this.#replace(waiting, performance.now() - sentAt).catch(() => false)))
          sentAt = performance.now();
        await this.#sendAgain(waiting, seen);
        await this.#closeGapBefore(waiting).catch(() => undefined);
      }
      this.#givenUp.add(nonce);
      // A transaction still in a pool leaves no gap.
      if (seen === "nowhere" && this.#isWaitedBehind(nonce)) this.#fill(nonce, waiting);
      throw (
        (seen === "nowhere" && waiting.unclear) || new TransactionDroppedError(functionName, waiting.hashes.at(-1)!)
      );
    } finally {
      this.#awaited.delete(nonce);
    }
  }

  #isWaitedBehind(nonce: number): boolean {
    return [...this.#awaited].some((other) => other > nonce);
  }

  /**
   * Looks for a nonce that lost its transaction: a reorganisation may remove a mined transaction, and no pool may hold
   * it again. The gap is filled only if seen twice: the next new transaction may fill the gap, and a node may lag.
   */
  async #closeGapBefore({ nonce }: Waiting): Promise<void> {
    if (performance.now() < this.#gap.lookAt || nonce !== Math.min(...this.#awaited)) return;
    this.#gap.lookAt = performance.now() + this.#patience.slowMs / GAP_PART;
    const [latest, pending] = [await this.#count("latest"), await this.#count("pending")];
    const seen = latest < nonce && pending <= latest ? latest : undefined;
    if (seen !== undefined && seen === this.#gap.seen) this.#fill(seen);
    this.#gap.seen = seen;
  }

  /**
   * Fills a nonce: transactions with higher nonces cannot be mined before, and clocks may be running. A transaction
   * removed by a reorganisation is sent again, with the same bytes, if it would pass. Otherwise the account sends
   * itself an empty transaction. The next new transaction may take the nonce first.
   * @param earlier The previous transaction with this nonce, now given up.
   */
  #fill(nonce: number, earlier?: Waiting): void {
    const filling = this.#inTurn(async () => {
      const isTaken = this.#awaited.has(nonce) || !this.#isWaitedBehind(nonce);
      if (isTaken || (await this.#count("latest")) > nonce) return;
      const filler = (earlier === undefined && (await this.#again(nonce))) || (await this.#nothing(nonce, earlier));
      this.#awaited.add(nonce);
      // The next nonce may be without a transaction too.
      const next = (): void => void Object.assign(this.#gap, { seen: nonce + 1, lookAt: 0 });
      void this.#mined(filler).then(next, () => undefined);
    });
    filling.catch(() => undefined);
  }

  /** Sends what was mined with a nonce, and was taken back. @returns undefined if it would fail by now */
  async #again(nonce: number): Promise<Waiting | undefined> {
    const lost = this.#recent.get(nonce);
    if (lost === undefined || (await this.#failureOf(lost)) !== undefined) return undefined;
    await this.#broadcast(lost.raw, lost);
    return { ...this.#waiting({ ...lost, hashes: [...lost.hashes] }), raw: lost.raw };
  }

  /** Sends nothing to oneself. */
  async #nothing(nonce: number, earlier: Waiting | undefined): Promise<Waiting> {
    const gas = await this.#publicClient.estimateGas({ account: this.address, to: this.address });
    const usual = await this.#publicClient.estimateFeesPerGas();
    const action = { to: this.address, data: "0x" as const, value: 0n, gas };
    const fees = earlier === undefined ? usual : maxFees(raised(earlier.fees), usual);
    // Any earlier transaction with the nonce may be mined instead.
    const hashes = [...(earlier?.hashes ?? [])];
    const empty = this.#waiting({ functionName: "an empty transaction", nonce, action, fees, usual, hashes });
    // If this process gave up no transaction with the nonce, a pool that demands more already has a transaction with
    // the nonce.
    await this.#offer(empty, earlier === undefined ? 0 : MAX_RAISES);
    return empty;
  }

  #firstResend(): Waiting["resend"] {
    const pauseMs = this.#patience.pollingMs / FIRST_RESEND_PART;
    return { at: performance.now() + pauseMs, pauseMs };
  }

  #untilNextLook({ resend }: Waiting): number {
    const { pollingMs } = this.#patience;
    const left = resend.at - performance.now();
    return left > 0 ? Math.min(pollingMs, left) : pollingMs;
  }

  /** Sends the same bytes again when due: the chain can contain them only once. */
  async #sendAgain(waiting: Waiting, seen: TransactionPlace): Promise<void> {
    const { pollingMs, slowMs } = this.#patience;
    const longest = Math.max(slowMs / LONGEST_RESEND_PART, pollingMs);
    const now = performance.now();
    // Bytes already in a pool are repeated only for the other pools.
    const isDue =
      seen === "pool" ? now >= waiting.resend.at - waiting.resend.pauseMs + longest : now >= waiting.resend.at;
    if (!isDue) return;
    const outcome = await this.#tryAgain(waiting, seen).catch(() => "refused" as const);
    // A node that answers with unknown words, again and again, may refuse for good.
    const isAnswered = outcome === "unclear" && hasRpcError(waiting.unclear);
    if ((outcome === "refused" || isAnswered) && seen === "nowhere") waiting.refusals++;
    if (outcome === "taken") waiting.refusals = 0;
    if (isTooCheap(outcome)) await this.#replace(waiting, Infinity).catch(() => false);
    // A refused transaction is soon given up: transactions with higher nonces wait behind it.
    const pauseMs = outcome === "refused" ? pollingMs : Math.min(2 * waiting.resend.pauseMs, longest);
    waiting.resend = { at: performance.now() + pauseMs, pauseMs };
  }

  /** @throws What refuses the call or the transaction */
  async #tryAgain(waiting: Waiting, seen: TransactionPlace): Promise<SendOutcome> {
    const { passedAt } = waiting;
    if (seen !== "pool" && performance.now() - passedAt >= this.#patience.slowMs / PASSED_PART) {
      // The state may be another by now, and a transaction that fails costs its gas.
      const failure = await this.#failureOf(waiting);
      if (failure instanceof RpcUnavailableError) return "unclear";
      if (failure !== undefined) throw failure;
      waiting.passedAt = performance.now();
    }
    return this.#broadcast(waiting.raw, waiting);
  }

  /** Why a transaction would fail now, or why no node says. @returns undefined if it would pass */
  #failureOf({ action: { to, data, value }, functionName }: Waiting): Promise<Error | undefined> {
    return this.#publicClient.estimateGas({ account: this.address, to, data, value }).then(
      () => undefined,
      (error: unknown) => translateError(error, functionName),
    );
  }

  /**
   * Sends a waiting transaction again, with the same nonce and higher fees, if its own are too low or it waits long.
   * @returns Whether it did.
   */
  async #replace(waiting: Waiting, waitedMs: number): Promise<boolean> {
    const base = await this.#baseFee();
    let higher = raised(waiting.fees);
    if (base <= waiting.fees.maxFeePerGas) {
      if (waitedMs < this.#patience.slowMs) return false;
      const usual = await this.#publicClient.estimateFeesPerGas();
      // The tip has a maximum, to let nobody gain by keeping the transaction out of blocks.
      if (higher.maxPriorityFeePerGas > MAX_TIP_FACTOR * (usual.maxPriorityFeePerGas + 1n)) return false;
      higher = maxFees(higher, usual);
    }
    const next = { ...waiting, fees: covering(higher, base) };
    await this.#offer(next);
    Object.assign(waiting, next);
    return true;
  }
}
