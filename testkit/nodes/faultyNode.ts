import { custom, HttpRequestError, TimeoutError, type Transport } from "viem";
import type { Prng } from "../random/prng.ts";

type Call = { method: string; params?: unknown };

/** The time a client waits for an unanswered request, milliseconds. */
const TIMEOUT_MS = 10_000;
const url = "http://node";

/**
 * A node that spoils some answers with HTTP errors, garbage or silence. The node serves some requests and then loses
 * the answer. Heads are sometimes old.
 */
export class FaultyNode {
  readonly #prng: Prng;
  readonly #percent: number;
  readonly #pass: (call: Call) => Promise<unknown>;
  #heads: unknown[] = [];
  /** The end of a time without any answers, by `Date.now()`. */
  darkUntil = 0;
  /** Requests that wait for no timer. */
  underWay = 0;
  readonly calls = new Map<string, number>();
  readonly transport: Transport = custom({ request: (call: Call) => this.#answer(call) }, { retryCount: 0 });

  /** @param percent The percentage of requests without a right answer. */
  constructor(node: Transport, prng: Prng, percent: number) {
    this.#prng = prng;
    this.#percent = percent;
    const { request } = node({ retryCount: 0 });
    this.#pass = (call) => request<never>(call as never);
  }

  async #answer(call: Call): Promise<unknown> {
    this.calls.set(call.method, (this.calls.get(call.method) ?? 0) + 1);
    if (Date.now() < this.darkUntil) throw new HttpRequestError({ url, status: 503 });
    if (this.#prng.below(100) >= this.#percent) return this.#served(call);
    // Half of them reach the node.
    if (this.#prng.below(2) === 0) await this.#served(call).catch(() => undefined);
    switch (this.#prng.below(call.method === "eth_getBlockByNumber" ? 5 : 4)) {
      case 0:
        throw new HttpRequestError({ url, status: 429 });
      case 1:
        throw new HttpRequestError({ url, status: 500 });
      case 2:
        return undefined;
      case 3:
        await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
        throw new TimeoutError({ body: {}, url });
      default:
        return this.#heads[0] ?? this.#served(call);
    }
  }

  async #served(call: Call): Promise<unknown> {
    this.underWay++;
    try {
      const answer = await this.#pass(call);
      if (call.method === "eth_getBlockByNumber") this.#heads = [...this.#heads, answer].slice(-5);
      return answer;
    } finally {
      this.underWay--;
    }
  }
}
