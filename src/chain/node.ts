import { HttpRequestError, http, type Transport } from "viem";
import { RpcUnavailableError, WrongChainError } from "./errors.ts";
import { isUnavailable } from "./translateError.ts";

/** Whole answers are waited for so long, headers and body. */
const TIMEOUT_MS = 10_000;
/** The longest answer that is taken: the logs of a full block of published bytes are a tenth of it. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;
/** A node that gave no answer is asked last for so long; one that says for how long itself, for that long, but not longer than this. */
const REST_MS = 5_000;
const LONGEST_REST_MS = 30_000;

/** A JSON-RPC request. */
export type RpcCall = { method: string; params?: unknown };
type Ask = (call: RpcCall) => Promise<unknown>;

/** A node's JSON-RPC over HTTP. Whatever it does with its answer, silence, drop by drop or endlessly, the request ends in time. */
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
    // The limit that viem sets is for what is read from here: it names the error.
    if (bytes > MAX_ANSWER_BYTES + 1) break;
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** One of several nodes. It is believed once it has said that it serves the chain, again after each time that it gave no answer. */
export class Node {
  readonly #ask: Ask;
  readonly #chainId: number;
  readonly #name: string;
  #isChecked = false;
  #restsUntil = 0;
  /** What it said when it asked to be left alone. */
  #refusal: Error | undefined;

  constructor(ask: Ask, chainId: number, name: string) {
    [this.#ask, this.#chainId, this.#name] = [ask, chainId, name];
  }

  get isAwake(): boolean {
    return Date.now() >= this.#restsUntil;
  }

  /** @throws WrongChainError, or what the request throws */
  async ask(call: RpcCall): Promise<unknown> {
    if (!this.isAwake && this.#refusal !== undefined) throw this.#refusal;
    try {
      if (!this.#isChecked) await this.check();
      const answer = await this.#ask(call);
      // Neither a result nor an error: whatever answers there is no node.
      if (answer === undefined) throw new RpcUnavailableError(`${this.#name}: the answer is not one of JSON-RPC`);
      this.#restsUntil = 0;
      return answer;
    } catch (error) {
      if (isUnavailable(error) || error instanceof WrongChainError) this.#rest(error);
      throw error;
    }
  }

  /** Asks for the chain id. @throws WrongChainError */
  async check(): Promise<void> {
    const served = await this.#ask({ method: "eth_chainId" });
    if (typeof served !== "string" || !Number.isSafeInteger(Number(served)))
      throw new RpcUnavailableError(`${this.#name}: the answer is not one of JSON-RPC`);
    if (Number(served) !== this.#chainId)
      throw new WrongChainError(`${this.#name} serves chain ${Number(served)}, expected chain ${this.#chainId}`);
    this.#isChecked = true;
  }

  #rest(error: unknown): void {
    const asked = pauseAskedFor(error);
    this.#isChecked = false;
    this.#refusal = asked === undefined ? undefined : (error as Error);
    this.#restsUntil = Date.now() + (asked ?? REST_MS);
  }
}

/** What a node asks for by Retry-After, milliseconds, within bounds: a clock may be running. */
function pauseAskedFor(error: unknown): number | undefined {
  const header = error instanceof HttpRequestError ? error.headers?.get("retry-after") : undefined;
  const seconds = Number(header ?? NaN);
  return seconds >= 0 ? Math.min(seconds * 1_000, LONGEST_REST_MS) : undefined;
}
