import { createHmac } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import type { Logger } from "../../base/log.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { Execute } from "../../runs/execute.ts";
import { EndpointError, RefusedError, TicketTermsError, WrongAnswerError } from "../tickets/errors.ts";
import { judgeAnswer, judgeRest, type Publishing } from "../tickets/judgeAnswer.ts";
import { Payer, type Answered, type PayerLimits } from "../tickets/payer.ts";
import type { PayerLedger } from "../tickets/payerLedger.ts";
import type { TicketSession } from "../tickets/ticketSession.ts";
import type { OnToken } from "../tickets/tokenStream.ts";
import { ApiError } from "./errors.ts";

export type SellersOptions = {
  at: TicketSession;
  ledger: PayerLedger;
  /** Endpoints of workers. */
  urls: readonly string[];
  program: KnownProgram;
  execute: Execute;
  limits: PayerLimits;
  /** The share of answers to execute here, 0 to 1. */
  share: number;
  /** Draws the answers that are checked, after they are signed. Nobody else knows it. */
  secret: Uint8Array;
  publishing: Publishing;
  log: Logger;
  /** How long a block waits for workers, milliseconds. */
  patienceMs?: number;
  clock?: () => number;
};

/** A block that a user asks for. */
type Wanted = {
  /** Whether outputs may be those of a right run. */
  fits: (outputs: readonly Uint8Array[]) => boolean;
  /** Takes tokens before the worker signs, and says whether the worker signed the sent tokens. */
  watch?: () => { onToken: OnToken; isSame: (outputs: readonly Uint8Array[]) => boolean };
};

/** A block that was bought: the worker is bound to it. */
export type Bought = Answered & {
  /** The expected price, smallest units. */
  price: bigint;
  /** To be called once. Pays the worker, if the block is kept. */
  settle: (isKept: boolean) => void;
};

const PATIENCE_MS = 60_000;
/** How long a worker is left alone that did not answer; each further time twice as long, so many times. */
const BACK_OFF_MS = 5_000;
const MOST_DOUBLED = 6;
const BUSY_MS = 200;
/** Number of repeated sendings after a lost connection; pause between looks for lost answers. */
const REPEATS = 2;
const LOOK_MS = 60_000;
/** How long an answer is waited for: then the next worker is asked. */
const ANSWER_MS = 120_000;

/** A worker that answers faster gets more requests at once, a slower one fewer. */
const FAST_MS = ANSWER_MS / 4;

/** The expected price of a block, smallest units, rounded up. */
export const priceOf = ({ face, oneIn }: PayerLimits): bigint => (face + BigInt(oneIn) - 1n) / BigInt(oneIn);

/** Whether an answer is drawn for a check. */
export const isDrawn = (digest: Hex, { secret, share }: Pick<SellersOptions, "secret" | "share">): boolean =>
  createHmac("sha256", secret).update(digest).digest().readUIntBE(0, 6) < share * 2 ** 48;

/** The chain cannot be read or written now: what a worker did is judged later. */
class UnlandedError extends Error {}

/** @throws WrongAnswerError if a worker lied, about whatever program */
function requireHonest(ledger: PayerLedger, worker: Address): void {
  if (ledger.isLiar(worker)) throw new WrongAnswerError(`the worker ${worker} lied: nothing is bought from it`);
}

/** One worker. */
class Seller {
  readonly url: string;
  payer: Payer | undefined;
  /** Why nothing is bought from it any more. */
  stopped: string | undefined;
  busyUntil = 0;
  underWay = 0;
  lookedAt = performance.now();
  /** Times in a row that it did not answer. */
  failures = 0;
  /** Requests that it gets at once. An answer that comes after it was waited for costs a place at the worker. */
  room = 1;

  constructor(url: string) {
    this.url = url;
  }

  /** The expected price of an answer, smallest units. */
  get price(): bigint {
    const { face = "0", oneIn = 1 } = this.payer?.info ?? {};
    return priceOf({ face: BigInt(face), oneIn });
  }

  get isFree(): boolean {
    const isRoom = this.underWay < (this.payer === undefined ? 1 : Math.min(this.room, this.payer.places));
    return this.stopped === undefined && isRoom && performance.now() >= this.busyUntil;
  }

  /**
   * Takes the time of an answer. A serial worker gives the requests under way within half of the longest wait.
   * @param among Number of requests under way.
   */
  answered(milliseconds: number, among: number): void {
    this.failures = 0;
    const inTime = Math.floor((among * ANSWER_MS) / 2 / Math.max(1, milliseconds));
    this.room = Math.max(1, Math.min(this.room + (milliseconds < FAST_MS ? 1 : -1), inTime, this.payer?.places ?? 1));
  }

  failed(): void {
    this.room = Math.ceil(this.room / 2);
    this.busyUntil = performance.now() + BACK_OFF_MS * 2 ** Math.min(this.failures++, MOST_DOUBLED);
  }
}

/**
 * The workers that sell a model: the cheapest worker with a good last answer is asked first. After a lie, the gateway
 * asks the worker no more, under any model or URL, while the ledger lasts.
 */
export class Sellers {
  readonly #options: SellersOptions;
  readonly #sellers: readonly Seller[];
  readonly #underWay = new Set<Promise<void>>();
  /** Blocks that wait for a free worker. */
  readonly #waiting = new Set<() => void>();
  #judging: Promise<unknown> = Promise.resolve();

  constructor(options: SellersOptions) {
    this.#options = options;
    this.#sellers = options.urls.map((url) => new Seller(url));
  }

  /** The workers that were stopped for a lie. */
  get stopped(): readonly string[] {
    return this.#sellers.filter((seller) => this.#isStopped(seller)).map(({ url }) => url);
  }

  /**
   * Buys a block. Drawn blocks, and blocks that no right run gives, are executed here first: a lie is put
   * on chain, its worker asked no more, and the block bought elsewhere. Likewise for a worker that sends other tokens
   * than it signs.
   * @throws ApiError if no worker gives an answer, status 503
   */
  async buy(inputs: RunInputs, wanted: Wanted, signal: AbortSignal): Promise<Bought> {
    const end = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS);
    for (;;) {
      signal.throwIfAborted();
      const free = this.#sellers.filter((seller) => seller.isFree && !this.#isStopped(seller));
      const [seller] = free.sort((a, b) => a.failures - b.failures || Number(a.price - b.price));
      if (seller !== undefined) {
        const bought = await this.#buyOf(seller, inputs, wanted);
        if (bought !== undefined) return bought;
      } else if (performance.now() > end || this.#sellers.every((one) => this.#isStopped(one))) {
        throw new ApiError(503, "server_error", "no worker of this model answers: ask again later", {
          reason: "no_worker",
        });
      } else await this.#turn(signal);
    }
  }

  /** Resolves when all payments under way are sent, or have failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Waits until a worker may be free. */
  async #turn(signal: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => this.#waiting.add((wake = resolve)));
    const late = new AbortController();
    const either = AbortSignal.any([signal, late.signal]);
    await Promise.race([woken, sleep(BUSY_MS, undefined, { signal: either }).catch(() => undefined)]);
    late.abort();
    this.#waiting.delete(wake);
  }

  #isStopped({ stopped, payer }: Seller): boolean {
    return stopped !== undefined || (payer !== undefined && this.#options.ledger.isLiar(payer.worker));
  }

  #release(seller: Seller): void {
    seller.underWay--;
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    first();
  }

  /** @returns undefined if another worker, or this one later, is to be asked */
  async #buyOf(seller: Seller, inputs: RunInputs, { fits, watch }: Wanted): Promise<Bought | undefined> {
    const { ledger, log } = this.#options;
    seller.underWay++;
    let isBought = false;
    try {
      const payer = await this.#open(seller);
      const [start, among] = [performance.now(), seller.underWay];
      const sent = watch?.();
      const answered = await this.#ask(payer, inputs, sent?.onToken);
      const isSame = sent?.isSame(answered.outputs) ?? true;
      seller.answered(performance.now() - start, among);
      // The draw comes after the signature: no worker knows before which answers are checked.
      if (!fits(answered.outputs) || !isSame || isDrawn(answered.digest, this.#options)) {
        ledger.judged(answered.digest, "drawn");
        await this.#judge(seller, answered.digest, inputs);
      }
      if (!isSame) throw new WrongAnswerError(`the worker ${payer.worker} sent other tokens than it signed`);
      requireHonest(ledger, payer.worker);
      isBought = true;
      const settle = (isKept: boolean): void => {
        if (!isKept) return this.#release(seller);
        const paid = this.#pay(seller, payer, answered.digest);
        this.#underWay.add(paid);
        void paid.finally(() => this.#underWay.delete(paid));
      };
      return { ...answered, price: seller.price, settle };
    } catch (error) {
      if (error instanceof UnlandedError) {
        seller.failed();
      } else if (error instanceof WrongAnswerError) {
        seller.stopped = error.message;
        log.error({ url: seller.url, reason: error.message }, "a worker's answer is wrong: it is asked no more");
      } else if (error instanceof RefusedError && error.retryable) {
        seller.busyUntil = performance.now() + BUSY_MS;
        seller.room = Math.ceil(seller.room / 2);
        if (error.status === 429) {
          await this.#payRest(seller);
          await this.#payLost(seller, 0);
        }
      } else if (error instanceof RefusedError && error.status === 402 && seller.underWay > 1) {
        // The deposit covers those under way, and no more.
        seller.room = seller.underWay - 1;
      } else if (error instanceof RefusedError || error instanceof EndpointError || error instanceof TicketTermsError) {
        seller.failed();
        log.warn({ url: seller.url, code: error.code, reason: error.message }, "a worker gives no answer");
      } else throw error;
      return undefined;
    } finally {
      if (!isBought) this.#release(seller);
    }
  }

  /** One request at a time opens a worker: others wait until the gateway has judged an earlier process's answers. */
  async #open(seller: Seller): Promise<Payer> {
    if (seller.payer !== undefined) return seller.payer;
    const { at, ledger, limits, program, execute, publishing, clock } = this.#options;
    const options = { at, ledger, url: seller.url, limits, timeoutMs: ANSWER_MS, ...(clock && { clock }) };
    const payer = await Payer.open(options);
    try {
      await judgeRest({ at, ledger, program, execute, publishing }, payer.worker);
    } catch (error) {
      if (error instanceof WrongAnswerError) throw error;
      this.#options.log.error({ url: seller.url, reason: (error as Error).message }, "the chain cannot be read");
      throw new UnlandedError("what an earlier process left cannot be judged", { cause: error });
    }
    requireHonest(ledger, payer.worker);
    seller.payer = payer;
    await this.#payRest(seller);
    return payer;
  }

  /** One at a time: an execution takes all cores. @throws WrongAnswerError */
  #judge(seller: Seller, digest: Hex, inputs: RunInputs): Promise<void> {
    const { ledger, log } = this.#options;
    const judged = this.#judging.then(async () => {
      try {
        await judgeAnswer(this.#options, digest, inputs);
      } catch (error) {
        if (error instanceof WrongAnswerError || ledger.find(digest)?.fate !== "wrong") throw error;
        log.error({ digest, reason: (error as Error).message }, "a lie could not be put on chain");
        // Opening the worker again tries again, while the claim lives, and buys nothing.
        seller.payer = undefined;
        throw new UnlandedError("the worker's answer is wrong: it is not paid", { cause: error });
      }
    });
    this.#judging = judged.catch(() => undefined);
    return judged;
  }

  async #pay(seller: Seller, payer: Payer, digest: Hex): Promise<void> {
    // Signing takes the processor: the block goes to its client first.
    await nextTurn();
    try {
      await payer.pay(digest);
    } catch (error) {
      this.#options.log.warn({ url: seller.url, reason: (error as Error).message }, "a ticket was not taken yet");
    } finally {
      this.#release(seller);
    }
    if (performance.now() < seller.lookedAt + LOOK_MS) return;
    seller.lookedAt = performance.now();
    // Until then a client may repeat the request for the text: the text goes on with the lost answer.
    await this.#payLost(seller, this.#options.at.claimLifetime / 2);
  }

  /** Asks, and after a lost connection again under the same nonce: the worker executes and signs once. */
  async #ask(payer: Payer, inputs: RunInputs, onToken: OnToken | undefined): Promise<Answered> {
    for (let k = 0; ; k++) {
      const start = performance.now();
      try {
        return await payer.ask(this.#options.program, inputs, false, onToken);
      } catch (error) {
        const isLate = performance.now() - start > ANSWER_MS / 2;
        if (!(error instanceof EndpointError) || isLate || k === REPEATS) throw error;
      }
      await sleep(BUSY_MS);
    }
  }

  /** Pays abandoned lost answers: each answer takes a place at the worker. */
  async #payLost(seller: Seller, age: number): Promise<void> {
    const { payer } = seller;
    const { program, ledger, log } = this.#options;
    try {
      for (const { digest, inputs } of (await payer?.lost(program, age)) ?? []) {
        if (isDrawn(digest, this.#options)) {
          ledger.judged(digest, "drawn");
          await this.#judge(seller, digest, inputs);
        }
        await payer!.pay(digest);
      }
    } catch (error) {
      if (error instanceof WrongAnswerError) seller.stopped = error.message;
      log.warn({ url: seller.url, reason: (error as Error).message }, "answers that were lost are not paid yet");
    }
  }

  async #payRest(seller: Seller): Promise<void> {
    if (seller.underWay > 1) return;
    await seller.payer?.payRest().catch((error: unknown) => {
      this.#options.log.warn({ url: seller.url, reason: (error as Error).message }, "tickets were not taken yet");
    });
  }
}
