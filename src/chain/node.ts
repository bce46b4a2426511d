import { HttpRequestError, http, type Transport } from "viem";
import { RpcUnavailableError, WrongChainError } from "./errors.ts";
import { isUnavailable } from "./translateError.ts";

/** Time limit of a whole answer, headers and body. */
const TIMEOUT_MS = 10_000;
/** The longest answer that is read. The logs of a full block of published bytes are a tenth of it. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;
/**
 * How long a node that gave no answer is asked last. A node that asks for a pause itself gets it, up to the maximum.
 */
const PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 30_000;

/** A JSON-RPC request. */
export type RpcCall = { method: string; params?: unknown };
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
    // The limit that viem sets is for what is read from here: it names the error.
    if (bytes > MAX_ANSWER_BYTES + 1) break;
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/**
 * One of several nodes. Before its answers are used, it must say that it serves the chain; after a request without an
 * answer it must say so again.
 */
export class Node {
  readonly #ask: Ask;
  readonly #chainId: number;
  readonly #name: string;
  #isChecked = false;
  #pausedUntil = 0;
  /** The error with which it asked for a pause. */
  #refusal: Error | undefined;

  constructor(ask: Ask, chainId: number, name: string) {
    [this.#ask, this.#chainId, this.#name] = [ask, chainId, name];
  }

  get isAvailable(): boolean {
    return Date.now() >= this.#pausedUntil;
  }

  /** @throws WrongChainError, or what the request throws */
  async ask(call: RpcCall): Promise<unknown> {
    if (!this.isAvailable && this.#refusal !== undefined) throw this.#refusal;
    try {
      if (!this.#isChecked) await this.check();
      const answer = await this.#ask(call);
      // Neither a result nor an error: this is no JSON-RPC node.
      if (answer === undefined) throw new RpcUnavailableError(`${this.#name}: the answer is not one of JSON-RPC`);
      this.#pausedUntil = 0;
      return answer;
    } catch (error) {
      if (isUnavailable(error) || error instanceof WrongChainError) this.#pause(error);
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

  #pause(error: unknown): void {
    const asked = pauseAskedFor(error);
    this.#isChecked = false;
    this.#refusal = asked === undefined ? undefined : (error as Error);
    this.#pausedUntil = Date.now() + (asked ?? PAUSE_MS);
  }
}

/** What a node asks for by Retry-After, milliseconds, within bounds: a clock may be running. */
function pauseAskedFor(error: unknown): number | undefined {
  const header = error instanceof HttpRequestError ? error.headers?.get("retry-after") : undefined;
  const seconds = Number(header ?? NaN);
  return seconds >= 0 ? Math.min(seconds * 1_000, MAX_PAUSE_MS) : undefined;
}
