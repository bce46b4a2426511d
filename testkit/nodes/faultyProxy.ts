import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { keccak256, type Hex } from "viem";
import { Prng } from "../random/prng.ts";
import { NodeError, askNode } from "../../src/deploy/devnet/askNode.ts";
import { answerBehind, type Call } from "./behind.ts";
import { EmbeddedPool, type Ask } from "./embeddedPool.ts";
import { FAILURES, LOG_SPAN_WORDS, NOT_NOW, garbage, type Failure, type NodeFaults } from "./nodeFaults.ts";
import { ETHEREUM_LIMITS } from "./poolRules.ts";

type Request = Call & { id: number };
type Filter = { fromBlock: Hex; toBlock: Hex };

/** How many of the newest blocks a truncated answer leaves out, at most. */
const TRUNCATED_BLOCKS = 3;

/**
 * A network's pool, shared by all nodes on the same chain. The pool accepts the transactions that go-ethereum accepts.
 */
export class NetworkPool {
  readonly #pool = new EmbeddedPool(ETHEREUM_LIMITS);
  readonly #ask: Ask;
  readonly #timer: NodeJS.Timeout;

  /** @param node The URL of a node that makes blocks by the clock. */
  constructor(node: string) {
    this.#ask = (method, params) => askNode(node, method, params);
    // When the node fails, the pool cannot try its transactions again.
    this.#timer = setInterval(() => void this.#pool.promote(this.#ask).catch(() => undefined), 500).unref();
  }

  request({ method, params = [] }: Call): Promise<unknown> {
    return this.#pool.request(this.#ask, method, params);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** A request seen by a proxy. */
export type Seen = { method: string; params: readonly unknown[]; at: number };

/**
 * A node's JSON-RPC over HTTP, single requests and batches, with faults that a seed decides. What it lets through goes
 * to the pool.
 */
export class FaultyProxy {
  readonly #pool: NetworkPool;
  readonly #prng: Prng;
  readonly #server: Server;
  readonly #onCall: (call: Seen) => void;
  #second = 0;
  #inSecond = 0;
  #before: object | undefined;
  /** The current faults. */
  faults: NodeFaults = {};
  /** Requests by method, and failures by kind. */
  readonly counts = new Map<string, number>();

  private constructor(pool: NetworkPool, seed: number, onCall: (call: Seen) => void) {
    [this.#pool, this.#prng, this.#onCall] = [pool, new Prng(seed), onCall];
    this.#server = createServer(
      (request, response) => void this.#serve(request, response).catch(() => response.destroy()),
    );
  }

  /** @param onCall Called with each incoming request, before the proxy treats the request. */
  static async start(pool: NetworkPool, seed: number, onCall: (call: Seen) => void = () => undefined) {
    const proxy = new FaultyProxy(pool, seed, onCall);
    await new Promise<void>((resolve) => void proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isDown) return void request.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Request | Request[];
    const calls = Array.isArray(body) ? body : [body];
    for (const { method, params = [] } of calls) {
      this.#count(method);
      this.#onCall({ method, params, at: Date.now() });
    }
    if (this.#isOverRate(calls.length)) return this.#fail("429", calls[0]!.id, "", response);
    const failure = this.#happens(this.faults.errorRate)
      ? this.#prng.pick(this.faults.failures ?? FAILURES)
      : undefined;
    // In half of the failures without an answer, the node still receives the request.
    if (failure !== undefined && failure !== "garbage" && this.#prng.below(2) === 0)
      return this.#fail(failure, calls[0]!.id, "", response);
    const answers = await Promise.all(calls.map((call) => this.#answer(call)));
    // It went down meanwhile.
    if (this.#isDown) return void response.destroy();
    const bodies = answers.map((answer) => this.#crossed(answer.body));
    const text = JSON.stringify(Array.isArray(body) ? bodies : bodies[0]);
    if (failure !== undefined) return this.#fail(failure, calls[0]!.id, text, response);
    response.writeHead(answers[0]!.status, { "content-type": "application/json" }).end(text);
  }

  #fail(failure: Failure, id: number, answer: string, response: ServerResponse): void {
    this.#count(failure);
    const notNow = NOT_NOW[failure];
    if (notNow !== undefined) {
      const { status, text, error, pause = false } = notNow;
      const type = text === undefined ? "application/json" : "text/html";
      const headers = { "content-type": type, ...(pause && { "retry-after": String(this.faults.pauseSeconds ?? 1) }) };
      return void response.writeHead(status, headers).end(text ?? JSON.stringify({ jsonrpc: "2.0", id, error }));
    }
    switch (failure) {
      case "garbage":
        return void response.writeHead(200, { "content-type": "application/json" }).end(garbage(this.#prng, answer));
      case "cut":
        return void response.destroy();
      default:
        // The client gives up, and closes the connection.
        if (this.faults.hangMs !== undefined) setTimeout(() => response.destroy(), this.faults.hangMs).unref();
    }
  }

  /** Now and then, the answer to the request before, with the id of that request. */
  #crossed(body: object): object {
    const before = this.#before;
    this.#before = body;
    if (before === undefined || !this.#happens(this.faults.crossedRate)) return body;
    this.#count("crossed");
    return before;
  }

  async #answer(call: Request): Promise<{ status: number; body: object }> {
    const { id } = call;
    try {
      return { status: 200, body: { jsonrpc: "2.0", id, result: await this.#result(call) } };
    } catch (error) {
      const { message, code, data, status = 200 } = error as Error & Partial<NodeError> & { status?: number };
      // An error without a code is a failure to reach the node behind.
      if (code === undefined) throw error;
      return { status, body: { jsonrpc: "2.0", id, error: { code, message, data } } };
    }
  }

  async #result(call: Request): Promise<unknown> {
    const { truncatedLogRate, staleRate, staleBlocks = 3 } = this.faults;
    const pass = (one: Call): Promise<unknown> => this.#pool.request(one);
    if (call.method === "eth_getLogs") {
      this.#checkSpan(call.params![0] as Filter);
      if (this.#happens(truncatedLogRate)) return answerBehind(1 + this.#prng.below(TRUNCATED_BLOCKS), call, pass);
    }
    if (call.method === "eth_sendRawTransaction" && this.#happens(this.faults.swallowRate)) {
      this.#count("swallowed");
      return keccak256(call.params![0] as Hex);
    }
    return this.#happens(staleRate) ? answerBehind(staleBlocks, call, pass) : pass(call);
  }

  #checkSpan({ fromBlock, toBlock }: Filter): void {
    const { logSpan } = this.faults;
    if (logSpan === undefined || Number(toBlock) - Number(fromBlock) < logSpan.blocks) return;
    this.#count("log span refused");
    const refusal = LOG_SPAN_WORDS[logSpan.provider](logSpan.blocks, Number(fromBlock));
    throw Object.assign(new NodeError(refusal), { status: refusal.status });
  }

  get #isDown(): boolean {
    return this.faults.isDown === true;
  }

  #isOverRate(calls: number): boolean {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    this.#inSecond += calls;
    return this.#inSecond > (this.faults.callsPerSecond ?? Infinity);
  }

  #happens(rate = 0): boolean {
    return rate > 0 && this.#prng.uint32() < rate * 2 ** 32;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
