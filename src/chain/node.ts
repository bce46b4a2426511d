import { BaseError, HttpRequestError, http, type Transport } from "viem";
import { isAnswer } from "./checkRpcResult.ts";
import { RpcUnavailableError, WrongChainError } from "./errors.ts";
import { concatenated } from "../program/merkle/concatenated.ts";
import { failureReason, isConnectionLost } from "./failureReason.ts";
import { isUnavailable } from "./translateError.ts";
import type { RpcCall } from "./rpcCall.ts";

/** Time limit of a whole answer, headers and body. */
const TIMEOUT_MS = 10_000;

/** The longest answer read. A block full of published bytes has logs a tenth as long. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/**
 * How long a node is asked last that gave no answer twice in a row. It doubles with each failure, up to the maximum. A
 * single failure has no such effect: it says nothing about the next request.
 */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;

/**
 * The longest pause granted to a node that demands a pause: the node may be the only node, and a clock may be running.
 */
const MAX_RETRY_AFTER_MS = 10_000;

/** How long the client trusts a node's answer about its chain. */
const CHECKED_MS = 600_000;

/** A question for the chain that has waited longer is not waited for by others: a node may be silent to one alone. */
const SHARED_MS = 1_000;
type Ask = (call: RpcCall) => Promise<unknown>;

/**
 * A node's JSON-RPC over HTTP. A request ends in time also if the node is silent, or sends its answer too slowly or
 * without an end.
 */
export const httpNode = (url: string, timeout = TIMEOUT_MS): Transport =>
  http(url, {
    timeout,
    maxResponseBodySize: MAX_ANSWER_BYTES,
    fetchFn: async (input, init) => {
      const response = await fetch(input, init);
      // viem's own time limit ends with the headers.
      const body = await readAll(response);
      const { status, statusText, headers } = response;
      return new Response(status === 204 ? null : body, { status, statusText, headers });
    },
  });

async function readAll({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    // viem's own limit applies to the data read here: viem names the error.
    if (bytes > MAX_ANSWER_BYTES + 1) break;
    parts.push(part);
  }
  return concatenated(parts);
}

/**
 * A single node among several. The node must confirm its chain before first use. The node must confirm again after a
 * lost connection, because another process may answer then, and every ten minutes.
 */
export class Node {
  /** Without the path of its URL. */
  readonly name: string;
  readonly #ask: Ask;
  readonly #chainId: number;
  readonly #onFailure: (method: string, reason: string) => void;
  #checkedUntil = 0;
  #checking: { since: number; done: Promise<void> } | undefined;
  /** Requests in a row without an answer. */
  #failures = 0;
  #pausedUntil = 0;
  /** The error in which the node demanded a pause. */
  #refusal: Error | undefined;

  /** @param onFailure Called for each request that had no answer. */
  constructor(ask: Ask, chainId: number, name: string, onFailure: (method: string, reason: string) => void) {
    this.name = name;
    this.#ask = ask;
    this.#chainId = chainId;
    this.#onFailure = onFailure;
  }

  get isAvailable(): boolean {
    return Date.now() >= this.#pausedUntil;
  }

  /** @throws WrongChainError, RpcUnavailableError, or the error that the node answers */
  async ask(call: RpcCall): Promise<unknown> {
    if (!this.isAvailable && this.#refusal !== undefined) throw this.#refusal;
    if (Date.now() >= this.#checkedUntil) await this.check();
    return this.#request(call);
  }

  /** Asks for the chain id. Who asks at about the same time waits for the same answer. @throws as `ask` */
  check(): Promise<void> {
    if (this.#checking !== undefined && Date.now() - this.#checking.since < SHARED_MS) return this.#checking.done;
    const done = this.#check().finally(() => {
      if (this.#checking?.done === done) this.#checking = undefined;
    });
    this.#checking = { since: Date.now(), done };
    return done;
  }

  async #check(): Promise<void> {
    const served = Number(await this.#request({ method: "eth_chainId" }));
    if (served !== this.#chainId) {
      this.#pausedUntil = Date.now() + MAX_PAUSE_MS;
      this.#onFailure("eth_chainId", "another chain");
      throw new WrongChainError(`${this.name} serves chain ${served}, expected chain ${this.#chainId}`);
    }
    this.#checkedUntil = Date.now() + CHECKED_MS;
  }

  async #request(call: RpcCall): Promise<unknown> {
    const since = Date.now();
    try {
      const answer = await this.#ask(call);
      if (!isAnswer(call, answer)) throw new RpcUnavailableError("the answer is not one of JSON-RPC");
      [this.#failures, this.#pausedUntil] = [0, 0];
      return answer;
    } catch (error) {
      throw isUnavailable(error) ? this.#failed(error, call.method, Date.now() - since) : error;
    }
  }

  /** Takes note of a request without an answer. @returns What is thrown */
  #failed(error: unknown, method: string, waitedMs: number): Error {
    const reason = failureReason(error, waitedMs);
    this.#onFailure(method, reason);
    if (isConnectionLost(error)) this.#checkedUntil = 0;
    const asked = pauseAskedFor(error);
    const usual = this.#failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), MAX_PAUSE_MS);
    this.#failures++;
    this.#pausedUntil = Date.now() + (asked ?? usual);
    const failure = new RpcUnavailableError(`${this.name} gives no answer to ${method}: ${reason}`, { cause: error });
    this.#refusal = asked === undefined ? undefined : failure;
    return failure;
  }
}

/** Returns the pause that a node demands by Retry-After, in milliseconds, within bounds: a clock may be running. */
function pauseAskedFor(error: unknown): number | undefined {
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null;
  const header = http instanceof HttpRequestError ? http.headers?.get("retry-after") : undefined;
  const seconds = Number(header ?? NaN);
  return seconds >= 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : undefined;
}
