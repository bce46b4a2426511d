import type { ServerResponse } from "node:http";
import type { Hex } from "viem";
import type { Executions } from "../player/executions.ts";
import type { JobRecord } from "../market/history.ts";
import { HttpServer } from "../player/httpServer.ts";

/**
 * Maximum number of requests that wait or are being answered, each with a tensor in memory. More are refused, and the
 * challenger plays without the trace.
 */
const MAX_REQUESTS = 4;
/** How long an answer may take to be read: longer than a challenger waits for one. */
const PATIENCE_MS = 20_000;

/**
 * Publishes a worker's traces over HTTP: `/<claim id>/<step>` is the tensor of that step, little-endian, while the
 * claim can be disputed. A challenger that has that tensor goes from a range's steps straight to the proof, so that a
 * dispute takes three transactions instead of eleven.
 */
export class TracePublisher {
  readonly #server = new HttpServer((url, response) => this.#answer(url, response));
  readonly #patienceMs: number;
  #executions: Executions | undefined;
  #claims: ReadonlyMap<Hex, JobRecord> = new Map();
  #requests = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param patienceMs How long an answer may take to be read. */
  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Takes over what there is to publish. @param claims The jobs that the worker's claims are on. */
  publish(claims: ReadonlyMap<Hex, JobRecord>, executions: Executions): void {
    [this.#claims, this.#executions] = [claims, executions];
  }

  /** Begins to serve. @param port 0 for any free one. @returns the port */
  listen(port: number, host?: string): Promise<number> {
    return this.#server.listen(port, host);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    const [, claimId, number] = /^\/(0x[0-9a-f]{64})\/(\d{1,9})$/.exec(url) ?? [];
    const job = this.#disputable((claimId ?? "") as Hex);
    if (job === undefined) return void response.writeHead(404).end("no such claim, or it is past dispute\n");
    // SAFETY: anybody may ask, and a tensor that was not kept takes an execution. The worker's own moves, whose clocks
    // run, wait for one of these at most.
    if (this.#requests === MAX_REQUESTS)
      return void response.writeHead(503, { "retry-after": "10" }).end("too many requests\n");
    this.#requests++;
    try {
      const tensor = await this.#inTurn(() =>
        response.destroyed ? Promise.resolve(undefined) : this.#tensor(job, Number(number)),
      );
      await this.#send(response, tensor);
    } finally {
      this.#requests--;
    }
  }

  /** The job of a claim against which there is, or may be, a game. */
  #disputable(claimId: Hex): JobRecord | undefined {
    const job = this.#claims.get(claimId);
    const claim = job?.claims.find(({ id }) => id === claimId);
    return claim === undefined || claim.finalised || claim.refuted ? undefined : job;
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #tensor(job: JobRecord, step: number): Promise<Uint8Array | undefined> {
    return this.#executions?.tensor(job, step);
  }

  /** Resolves when the answer is read or given up: until then it takes memory. */
  async #send(response: ServerResponse, tensor: Uint8Array | undefined): Promise<void> {
    if (response.destroyed) return;
    const closed = new Promise((resolve) => response.once("close", resolve));
    const patience = setTimeout(() => response.destroy(), this.#patienceMs);
    if (tensor === undefined) response.writeHead(404).end("no such step\n");
    else {
      response.writeHead(200, { "content-type": "application/octet-stream", "content-length": tensor.length });
      response.end(tensor);
    }
    await closed;
    clearTimeout(patience);
  }
}
