import { BaseError, http, HttpRequestError, ResponseBodyTooLargeError, type Transport } from "viem";
import { meaningOf } from "./answers.ts";
import { isAnswer } from "./checkRpcResult.ts";
import { NodeRefusalError, RpcUnavailableError, WrongChainError } from "./errors.ts";
import { concatenated } from "../program/merkle/concatenated.ts";
import { failureReason, isConnectionLost } from "./failureReason.ts";
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
export const MAX_RETRY_AFTER_MS = 10_000;

/** A node that demands a longer pause is out of use, rather than busy: the end of the pause is not waited for. */
const LONG_RETRY_AFTER_MS = 60_000;

/** HTTP statuses that say "not now" besides those from 500 on, whatever the body says. */
const NOT_NOW = [408, 425, 429];
/** Data of a revert in a body: no balancer makes such bodies, and the body counts under any status. */
const REVERT_BODY = /"data":\s*"(Reverted )?0x[0-9a-f]{8}/i;

/** How long the client trusts a node's answer about its chain. */
const CHECKED_MS = 600_000;

/** A question for the chain that has waited longer is not waited for by others: a node may be silent to one alone. */
const SHARED_MS = 1_000;
type Ask = (call: RpcCall) => Promise<unknown>;

/**
 * A node's JSON-RPC over HTTP. A request ends in time also if the node is silent, or sends its answer too slowly or
 * without an end. An HTTP status that says "not now" counts also if the body is JSON-RPC. The answer's id must be the
 * request's: a load balancer may cross answers. An error may lack an id, because a balancer does not read requests.
 */
export function httpNode(url: string, timeout = TIMEOUT_MS): Transport {
  const fetchFn = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    // viem's own time limit ends with the headers.
    const text = await readAll(response);
    const { ok, status, statusText, headers } = response;
    const isNotNow = status >= 500 || NOT_NOW.includes(status);
    if (isNotNow && !REVERT_BODY.test(text)) throw new HttpRequestError({ url, status, headers, details: statusText });
    if (!isAnswerTo((init?.body ?? "") as string, text))
      throw new HttpRequestError({ url, cause: new Error("the answer is that to another request") });
    // The fields that viem reads. A whole Response would stream the same bytes once more.
    return { ok, status, statusText, headers, body: null, text: () => Promise.resolve(text) } as Response;
  };
  const transport = http(url, { timeout, maxResponseBodySize: false, fetchFn });
  return ({ retryCount = 0, ...options }) => transport({ ...options, retryCount });
}

/** Some nodes write an id as text, and none where they did not read the request. */
type Answer = { id?: number | string | null; result?: unknown };

/** The beginning of a request, and of most nodes' answers: the id shows without parsing the whole text. */
const ID_FIRST = /^\{"jsonrpc":"2\.0","id":"?(\d+)"?,/;

/** Whether an answer's id is that of the request, or the answer is an error without an id, or no answer at all. */
function isAnswerTo(request: string, text: string): boolean {
  const [asked, shown] = [request, text].map((json) => ID_FIRST.exec(json)?.[1]);
  if (shown !== undefined && shown === asked) return true;
  const answer = parsed(text);
  if (answer === null) return false;
  const id = answer?.id ?? undefined;
  return id === undefined ? answer?.result === undefined : String(id) === String(parsed(request)?.id);
}

/** Reads JSON. @returns undefined for any other text: viem names the error */
function parsed(text: string): Answer | null | undefined {
  try {
    return JSON.parse(text) as Answer | null;
  } catch {
    return undefined;
  }
}

/** @throws ResponseBodyTooLargeError */
async function readAll({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new ResponseBodyTooLargeError({ maxSize: MAX_ANSWER_BYTES, size });
    parts.push(part);
  }
  return new TextDecoder().decode(parts.length === 1 ? parts[0] : concatenated(parts));
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
  /** The error in which the node demanded a pause, and the demanded time in milliseconds. */
  #demand: { error: Error; ms: number } | undefined;

  /** @param onFailure Called for each request that had no answer. */
  constructor(ask: Ask, chainId: number, name: string, onFailure: (method: string, reason: string) => void) {
    this.name = name;
    this.#ask = ask;
    this.#chainId = chainId;
    this.#onFailure = onFailure;
  }

  get isAvailable(): boolean {
    return performance.now() >= this.#pausedUntil;
  }

  /**
   * How long the node rests because it demanded a pause, in milliseconds; Infinity if the demanded pause is too long to
   * wait for.
   */
  get restMs(): number {
    if (this.isAvailable || this.#demand === undefined) return 0;
    return this.#demand.ms > LONG_RETRY_AFTER_MS ? Infinity : this.#pausedUntil - performance.now();
  }

  /** @throws WrongChainError, RpcUnavailableError, or the error that the node answers */
  async ask(call: RpcCall): Promise<unknown> {
    if (this.restMs > 0) throw this.#demand!.error;
    if (performance.now() >= this.#checkedUntil) await this.check();
    return this.#request(call);
  }

  /** Asks for the chain id. Who asks at about the same time waits for the same answer. @throws as `ask` */
  check(): Promise<void> {
    if (this.#checking !== undefined && performance.now() - this.#checking.since < SHARED_MS)
      return this.#checking.done;
    const done = this.#check().finally(() => {
      if (this.#checking?.done === done) this.#checking = undefined;
    });
    this.#checking = { since: performance.now(), done };
    return done;
  }

  async #check(): Promise<void> {
    const served = Number(await this.#request({ method: "eth_chainId" }));
    if (served !== this.#chainId) {
      this.#pausedUntil = performance.now() + MAX_PAUSE_MS;
      this.#onFailure("eth_chainId", "another chain");
      throw new WrongChainError(`${this.name} serves chain ${served}, expected chain ${this.#chainId}`);
    }
    this.#checkedUntil = performance.now() + CHECKED_MS;
  }

  async #request(call: RpcCall): Promise<unknown> {
    const since = performance.now();
    try {
      const answer = await this.#ask(call);
      if (!isAnswer(call, answer)) throw new RpcUnavailableError("the answer is not one of JSON-RPC");
      [this.#failures, this.#pausedUntil] = [0, 0];
      return answer;
    } catch (error) {
      const meaning = meaningOf(call, error);
      if (meaning === "answer") throw error;
      if (meaning === "none") throw this.#failed(error, call.method, performance.now() - since);
      const words = `${this.name} does not serve ${call.method}: ${failureReason(error)}; use another node`;
      throw new NodeRefusalError(words, { cause: error });
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
    this.#pausedUntil = performance.now() + (asked === undefined ? usual : Math.min(asked, MAX_RETRY_AFTER_MS));
    const failure = new RpcUnavailableError(`${this.name} gives no answer to ${method}: ${reason}`, { cause: error });
    this.#demand = asked === undefined ? undefined : { error: failure, ms: asked };
    return failure;
  }
}

/** Returns the pause that a node demands by Retry-After, in seconds or until a date, in milliseconds. */
function pauseAskedFor(error: unknown): number | undefined {
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null;
  const header = http instanceof HttpRequestError ? http.headers?.get("retry-after") : undefined;
  if (header == null || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
