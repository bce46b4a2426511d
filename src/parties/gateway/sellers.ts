import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { Logger } from "../../base/log.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { Execute } from "../../runs/execute.ts";
import { EndpointError, RefusedError, TicketTermsError, WrongAnswerError } from "../tickets/errors.ts";
import { judgeAnswer, judgeRest, type Publishing } from "../tickets/judgeAnswer.ts";
import { Payer, type Answered, type PayerLimits } from "../tickets/payer.ts";
import type { PayerLedger } from "../tickets/payerLedger.ts";
import type { TicketSession } from "../tickets/ticketSession.ts";
import { ApiError } from "./errors.ts";

export type SellersOptions = {
  at: TicketSession;
  ledger: PayerLedger;
  /** Endpoints of workers. */
  urls: readonly string[];
  program: KnownProgram;
  execute: Execute;
  limits: PayerLimits;
  /** The share of answers that are executed here, 0 to 1. */
  share: number;
  /** Draws the answers that are checked, after they are signed. Nobody else knows it. */
  secret: Uint8Array;
  publishing: Publishing;
  log: Logger;
  /** How long a block waits for workers, milliseconds. */
  patienceMs?: number;
  clock?: () => number;
};

/** A block that was bought: the worker is bound to it, and paid. */
type Bought = Answered & {
  signature: Hex;
  /** The expected price, smallest units. */
  price: bigint;
};

const PATIENCE_MS = 60_000;
/** How long a worker is left alone that did not answer. */
const BACK_OFF_MS = 5_000;
const BUSY_MS = 200;
/** How long an answer is waited for: then the next worker is asked. */
const ANSWER_MS = 120_000;

/** The expected price of a block, smallest units, rounded up. */
export const priceOf = ({ face, oneIn }: PayerLimits): bigint => (face + BigInt(oneIn) - 1n) / BigInt(oneIn);

/** One worker. */
class Seller {
  readonly url: string;
  payer: Payer | undefined;
  /** Why nothing is bought from it any more. */
  stopped: string | undefined;
  busyUntil = 0;
  underWay = 0;

  constructor(url: string) {
    this.url = url;
  }

  /** The expected price of an answer, smallest units. */
  get price(): bigint {
    const { face = "0", oneIn = 1 } = this.payer?.info ?? {};
    return priceOf({ face: BigInt(face), oneIn });
  }

  get isFree(): boolean {
    const isRoom = this.underWay < (this.payer?.info.unpaid ?? 1);
    return this.stopped === undefined && isRoom && performance.now() >= this.busyUntil;
  }
}

/** The workers that sell a model: the cheapest that answers is asked first. */
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
    return this.#sellers.filter(({ stopped }) => stopped !== undefined).map(({ url }) => url);
  }

  /**
   * Buys a block. What is drawn, and what no right run gives, is executed here before anything comes of it: a lie is put
   * on chain, its worker asked no more, and the block bought elsewhere.
   * @param fits Whether outputs may be those of a right run.
   * @throws ApiError if no worker gives an answer, status 503
   */
  async buy(
    inputs: RunInputs,
    fits: (outputs: readonly Uint8Array[]) => boolean,
    signal: AbortSignal,
  ): Promise<Bought> {
    const end = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS);
    for (;;) {
      signal.throwIfAborted();
      const seller = this.#sellers.filter(({ isFree }) => isFree).sort((a, b) => Number(a.price - b.price))[0];
      if (seller !== undefined) {
        const bought = await this.#buyOf(seller, inputs, fits);
        if (bought !== undefined) return bought;
      } else if (performance.now() > end || this.#sellers.every(({ stopped }) => stopped !== undefined)) {
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

  #release(seller: Seller): void {
    seller.underWay--;
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    first();
  }

  /** @returns undefined if another worker, or this one later, is to be asked */
  async #buyOf(
    seller: Seller,
    inputs: RunInputs,
    fits: (outputs: readonly Uint8Array[]) => boolean,
  ): Promise<Bought | undefined> {
    const { program, ledger, log } = this.#options;
    seller.underWay++;
    let isPaying = false;
    try {
      const payer = await this.#open(seller);
      const answered = await payer.ask(program, inputs);
      // The draw comes after the signature: no worker knows before which answers are checked.
      if (!fits(answered.outputs) || this.#isDrawn(answered.digest)) {
        ledger.judged(answered.digest, "drawn");
        await this.#judge(answered.digest, inputs);
      }
      const { signature } = ledger.find(answered.digest)!;
      isPaying = true;
      const paid = this.#pay(seller, payer, answered.digest);
      this.#underWay.add(paid);
      void paid.finally(() => this.#underWay.delete(paid));
      return { ...answered, signature, price: seller.price };
    } catch (error) {
      if (error instanceof WrongAnswerError) {
        seller.stopped = error.message;
        log.error({ url: seller.url, reason: error.message }, "a worker's answer is wrong: it is asked no more");
      } else if (error instanceof RefusedError && error.retryable) {
        seller.busyUntil = performance.now() + BUSY_MS;
        if (error.status === 429) await this.#payRest(seller);
      } else if (error instanceof RefusedError || error instanceof EndpointError || error instanceof TicketTermsError) {
        seller.busyUntil = performance.now() + BACK_OFF_MS;
        log.warn({ url: seller.url, code: error.code, reason: error.message }, "a worker gives no answer");
      } else throw error;
      return undefined;
    } finally {
      if (!isPaying) this.#release(seller);
    }
  }

  async #open(seller: Seller): Promise<Payer> {
    if (seller.payer !== undefined) return seller.payer;
    const { at, ledger, limits, program, execute, publishing, clock } = this.#options;
    const options = { at, ledger, url: seller.url, limits, timeoutMs: ANSWER_MS, ...(clock && { clock }) };
    const payer = await Payer.open(options);
    if (seller.payer !== undefined) return seller.payer;
    seller.payer = payer;
    // What an earlier process left.
    await judgeRest({ at, ledger, program, execute, publishing }, payer.worker);
    await payer.payRest();
    return payer;
  }

  #isDrawn(digest: Hex): boolean {
    const { secret, share } = this.#options;
    return createHmac("sha256", secret).update(digest).digest().readUIntBE(0, 6) < share * 2 ** 48;
  }

  /** One at a time: an execution takes all cores. @throws WrongAnswerError */
  #judge(digest: Hex, inputs: RunInputs): Promise<void> {
    const { ledger, log } = this.#options;
    const judged = this.#judging.then(async () => {
      try {
        await judgeAnswer(this.#options, digest, inputs);
      } catch (error) {
        if (error instanceof WrongAnswerError || ledger.find(digest)?.fate !== "wrong") throw error;
        // The next start tries again, while the claim lives.
        log.error({ digest, reason: (error as Error).message }, "a lie could not be put on chain");
        throw new WrongAnswerError("the worker's answer is wrong: it is not paid", { cause: error });
      }
    });
    this.#judging = judged.catch(() => undefined);
    return judged;
  }

  async #pay(seller: Seller, payer: Payer, digest: Hex): Promise<void> {
    try {
      await payer.pay(digest);
    } catch (error) {
      this.#options.log.warn({ url: seller.url, reason: (error as Error).message }, "a ticket was not taken yet");
    } finally {
      this.#release(seller);
    }
  }

  async #payRest(seller: Seller): Promise<void> {
    if (seller.underWay > 1) return;
    await seller.payer?.payRest().catch((error: unknown) => {
      this.#options.log.warn({ url: seller.url, reason: (error as Error).message }, "tickets were not taken yet");
    });
  }
}
