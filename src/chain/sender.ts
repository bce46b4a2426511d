import type { Abi, Address, Chain, ContractFunctionName, LocalAccount } from "viem";
import type { PublicClient, TransactionReceipt, Transport } from "viem";
import { hasRpcError } from "./answers.ts";
import { calldataOf, type Call, type TransactionSender, type Writable } from "./call.ts";
import { checkCall, estimateCall } from "./checkCall.ts";
import { NonceTakenError, RpcUnavailableError, TransactionDroppedError, TransactionRevertedError } from "./errors.ts";
import { maxFees, raised, refundedFees } from "./fees.ts";
import { withMargin } from "./gasLimit.ts";
import { Nonces } from "./nonces.ts";
import { Offers } from "./offers.ts";
import { pause } from "./pause.ts";
import { refusalIn } from "./refusals.ts";
import {
  PATIENCE,
  FEE_PART,
  LONGEST_RESEND_PART,
  LONGEST_UNANSWERED,
  PASSED_PART,
  RECENT,
  GAP_PART,
  MAX_REFUSALS,
  MAX_RAISES,
  TURN_PART,
  type Patience,
} from "./resendTimes.ts";
import { isTooCheap, placeOf, receiptOf } from "./sentTransaction.ts";
import type { SendOutcome, TransactionPlace, Waiting } from "./sentTransaction.ts";
import { translateError } from "./translateError.ts";
import { Turns } from "./turns.ts";
import { byUrgency } from "./urgency.ts";

/**
 * Sends one account's transactions, and waits for each to be mined. Calls with a deadline come first, several at the
 * same time, in the order of `byUrgency`; all others are sent one after the other. Several transactions may wait
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
  /** The chain's time, as the sender last learnt. */
  #now = -Infinity;
  readonly #byUrgency = byUrgency(() => this.#now);
  readonly #nonces: Nonces;
  readonly #offers: Offers;
  /** New transactions that are offered for the first time. */
  readonly #firstOffers = new Turns();
  /** A nonce that no transaction had at the last look, while others waited behind it, and when the next look is due. */
  readonly #gap: { seen?: number | undefined; lookAt: number } = { lookAt: 0 };
  /** The latest transactions whose receipts were seen, by nonce: a reorganisation may take them back. */
  readonly #recent = new Map<number, Waiting>();

  constructor(publicClient: PublicClient<Transport, Chain>, account: LocalAccount, patience: Partial<Patience> = {}) {
    this.#publicClient = publicClient;
    this.#account = account;
    this.#patience = { ...PATIENCE, ...patience };
    this.#nonces = new Nonces(publicClient, account.address, this.#patience);
    this.#offers = new Offers(publicClient, account, this.#patience);
  }

  get address(): Address {
    return this.#account.address;
  }

  learnTime(now: number): void {
    this.#now = now;
  }

  /**
   * Sends a call and waits for its receipt. A reverting call fails before anything is sent.
   * @param by When the call must be mined, unix seconds.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, NonceTakenError,
   *   InsufficientGasFundsError, TransactionTooLargeError, TransactionRefusedError, FeeCapError, RpcUnavailableError
   */
  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
    by = Infinity,
  ): Promise<TransactionReceipt> {
    try {
      const sent = await this.#byUrgency(() => this.#submitAnew(call as unknown as Call), by);
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

  /**
   * Submits a call. Another process with the same key may have taken the nonce since the shared counts were read: then
   * the counts are read again, and the call is simulated again. If a pool wants a transaction before, which may be on
   * the way, the call is offered again in turn.
   */
  async #submitAnew(call: Call): Promise<Waiting> {
    try {
      return await this.#submit(call);
    } catch (error) {
      if (!(error instanceof NonceTakenError)) throw error;
      return await this.#submit(call, performance.now(), refusalIn(error.cause) === "nonceGap");
    } finally {
      // After the second try, which may have taken the nonce of the first.
      for (const nonce of this.#nonces.takeHoles()) this.#fill(nonce);
    }
  }

  /** @param isInTurn Whether the transaction is offered after the offers under way. */
  async #submit(call: Call, notBefore = 0, isInTurn = false): Promise<Waiting> {
    const { address, functionName, value = 0n } = call;
    // The counts are read first. After the simulation, a reorganisation or another process with the same key may bring
    // this very move into a block. The nonce is then taken, and the node refuses the repeated move free of charge. The
    // contract would refuse the move too, but for the price of the gas.
    const counts = await this.#nonces.read(notBefore);
    this.#nonces.free(functionName, counts);
    // By its address: with an account that signs, viem would ask for nonce and fees too.
    const estimate = estimateCall(this.#publicClient, this.address, call);
    // At once: other transactions wait for this one, and at a bad node each request may take seconds.
    const [estimated, usual] = await Promise.all([estimate, this.#offers.usualFees()]);
    const gas = withMargin(estimated);
    const fees = refundedFees(usual);
    const action = { to: address, data: calldataOf(call), value, gas };
    const offer = async (): Promise<Waiting> => {
      const made = { functionName, action, fees, usual, hashes: [] };
      // Before a nonce is taken: transactions behind would wait for the nonce.
      this.#offers.checkSize({ ...made, nonce: this.#nonces.free(functionName, counts) });
      const nonce = this.#nonces.take(functionName, counts);
      try {
        const waiting = this.#offers.waiting({ ...made, nonce });
        await this.#offers.offer(waiting);
        this.#nonces.sent(nonce);
        return waiting;
      } catch (error) {
        this.#nonces.refused(nonce);
        throw error;
      }
    };
    if (!isInTurn) return this.#firstOffers.run(offer);
    return this.#firstOffers.runInTurn(offer, this.#patience.slowMs / TURN_PART);
  }

  /**
   * Waits for the receipt. A clock may be running: a transaction unknown to all nodes is sent again, and a transaction
   * with a fee below the base fee is replaced by a transaction with higher fees.
   */
  async #mined(waiting: Waiting): Promise<TransactionReceipt> {
    const { nonce, functionName } = waiting;
    const { longestMs } = this.#patience;
    const start = performance.now();
    try {
      let sentAt = start;
      let seen: TransactionPlace = "unknown";
      // Without an answer to the first sending, the same bytes show more quickly than a look whether a pool has them.
      if (isUnanswered(waiting)) await pause(this.#untilNextLook(waiting));
      if (isUnanswered(waiting)) await this.#sendAgain(waiting, seen);
      const end = start + longestMs;
      for (; performance.now() < end && waiting.refusals < MAX_REFUSALS; await pause(this.#untilNextLook(waiting))) {
        const found = await this.#look(waiting, start);
        if (typeof found !== "string") {
          this.#nonces.mined(nonce);
          this.#recent.set(nonce, waiting);
          this.#recent.delete(nonce - RECENT);
          return found;
        }
        seen = found;
        // Some nodes do not show a transaction before a block includes it. The fee covers the next blocks in any case.
        const waitedMs = performance.now() - sentAt;
        const isSlow = seen !== "unknown" && waitedMs >= FEE_PART * this.#patience.pollingMs;
        if (isSlow && (await this.#offers.replace(waiting, waitedMs).catch(() => false))) sentAt = performance.now();
        await this.#sendAgain(waiting, seen);
        await this.#closeGapBefore(waiting).catch(() => undefined);
      }
      this.#nonces.givenUp(nonce);
      // A transaction still in a pool leaves no gap.
      if (seen === "nowhere") this.#fill(nonce, waiting);
      throw (
        (seen === "nowhere" && waiting.unclear) || new TransactionDroppedError(functionName, waiting.hashes.at(-1)!)
      );
    } finally {
      this.#nonces.release(nonce);
    }
  }

  /**
   * Returns the receipt of a waiting transaction, or where the transaction is. The account's counts, which all waiting
   * transactions share, say whether it is worth asking for the transaction itself.
   * @param since When the transaction was first sent: earlier counts say nothing.
   */
  async #look(waiting: Waiting, since: number): Promise<TransactionReceipt | TransactionPlace> {
    const counts = await this.#nonces.look(since).catch(() => undefined);
    if (counts === undefined) return "unknown";
    const { latest, pending } = counts;
    if (latest <= waiting.nonce && pending > waiting.nonce && waiting.unclear === undefined) return "pool";
    const receipt = latest <= waiting.nonce ? undefined : await receiptOf(this.#publicClient, waiting);
    return receipt ?? placeOf(this.#publicClient, waiting);
  }

  /**
   * Looks for a nonce that lost its transaction: a reorganisation may remove a mined transaction, and no pool may hold
   * it again. The gap is filled only if seen twice: the next new transaction may fill the gap, and a node may lag.
   */
  async #closeGapBefore({ nonce }: Waiting): Promise<void> {
    if (performance.now() < this.#gap.lookAt || !this.#nonces.isFirst(nonce)) return;
    this.#gap.lookAt = performance.now() + this.#patience.slowMs / GAP_PART;
    const { latest, pending } = await this.#nonces.look();
    const seen = latest < nonce && pending <= latest ? latest : undefined;
    if (seen !== undefined && seen === this.#gap.seen) this.#fill(seen);
    this.#gap.seen = seen;
  }

  /**
   * Fills a nonce if others wait behind: transactions with higher nonces cannot be mined before, and clocks may be
   * running. A transaction removed by a reorganisation is sent again, with the same bytes, if it would pass. Otherwise
   * the account sends itself an empty transaction. A move that is offered while the counts are read takes the nonce.
   * @param earlier The previous transaction with this nonce, now given up.
   */
  #fill(nonce: number, earlier?: Waiting): void {
    const lookAtOnce = (seen: number): void => void Object.assign(this.#gap, { seen, lookAt: 0 });
    const filling = this.#byUrgency(async () => {
      const { latest } = await this.#nonces.look(performance.now());
      if (latest > nonce || !this.#nonces.takeGap(nonce)) return;
      let filler: Waiting | undefined;
      try {
        filler = (earlier === undefined && (await this.#again(nonce))) || (await this.#nothing(nonce, earlier));
        this.#nonces.sent(nonce);
      } finally {
        if (filler === undefined) this.#nonces.release(nonce);
      }
      // The next nonce may be without a transaction too.
      void this.#mined(filler).then(
        () => lookAtOnce(nonce + 1),
        () => undefined,
      );
    }, Number.MAX_VALUE);
    // The transactions behind wait: their next look fills the nonce again.
    filling.catch(() => lookAtOnce(nonce));
  }

  /** Sends what was mined with a nonce, and was taken back. @returns undefined if it would fail by now */
  async #again(nonce: number): Promise<Waiting | undefined> {
    const lost = this.#recent.get(nonce);
    if (lost === undefined || (await this.#failureOf(lost)) !== undefined) return undefined;
    await this.#offers.broadcast(lost.raw, lost);
    return { ...this.#offers.waiting({ ...lost, hashes: [...lost.hashes] }), raw: lost.raw };
  }

  /** Sends nothing to oneself. */
  async #nothing(nonce: number, earlier: Waiting | undefined): Promise<Waiting> {
    const gas = await this.#publicClient.estimateGas({ account: this.address, to: this.address });
    const usual = await this.#publicClient.estimateFeesPerGas();
    const action = { to: this.address, data: "0x" as const, value: 0n, gas };
    const fees = earlier === undefined ? usual : maxFees(raised(earlier.fees), usual);
    // Any earlier transaction with the nonce may be mined instead.
    const hashes = [...(earlier?.hashes ?? [])];
    const empty = this.#offers.waiting({ functionName: "an empty transaction", nonce, action, fees, usual, hashes });
    // If this process gave up no transaction with the nonce, a pool that demands more already has a transaction with
    // the nonce.
    await this.#offers.offer(empty, earlier === undefined ? 0 : MAX_RAISES);
    return empty;
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
    if (isTooCheap(outcome)) await this.#offers.replace(waiting, Infinity).catch(() => false);
    // A refused transaction is soon given up: transactions with higher nonces wait behind it.
    // An outage makes the pauses no longer: a clock may be running at its end.
    const maximum = isUnanswered(waiting) ? Math.min(LONGEST_UNANSWERED * pollingMs, longest) : longest;
    const pauseMs = outcome === "refused" ? pollingMs : Math.min(2 * waiting.resend.pauseMs, maximum);
    waiting.resend = { at: performance.now() + pauseMs, pauseMs };
  }

  /** @throws What refuses the call or the transaction */
  async #tryAgain(waiting: Waiting, seen: TransactionPlace): Promise<SendOutcome> {
    const { passedAt } = waiting;
    if (seen !== "pool" && performance.now() - passedAt >= this.#patience.slowMs / PASSED_PART) {
      // The state may be another by now, and a transaction that fails costs its gas.
      const failure = await this.#failureOf(waiting);
      if (failure instanceof RpcUnavailableError) {
        // Without the cause: no node has refused the bytes.
        waiting.unclear = new RpcUnavailableError(failure.message);
        return "unclear";
      }
      if (failure !== undefined) throw failure;
      waiting.passedAt = performance.now();
    }
    return this.#offers.broadcast(waiting.raw, waiting);
  }

  /** Why a transaction would fail now, or why no node says. @returns undefined if it would pass */
  #failureOf({ action: { to, data, value }, functionName }: Waiting): Promise<Error | undefined> {
    return this.#publicClient.estimateGas({ account: this.address, to, data, value }).then(
      () => undefined,
      (error: unknown) => translateError(error, functionName),
    );
  }
}

/** Whether no node answered the latest sending. */
const isUnanswered = ({ unclear }: Waiting): boolean => unclear !== undefined && !hasRpcError(unclear);
