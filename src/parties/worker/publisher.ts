import type { ServerResponse } from "node:http";
import type { Hex } from "viem";
import type { Executions } from "../../runs/executions.ts";
import { isOpen, type JobRecord } from "../../chain/market/history.ts";
import { encodeOutput } from "../../program/trace/openedOutput.ts";
import { HttpServer } from "../../base/httpServer.ts";
import { ItemStream } from "./itemStream.ts";

/**
 * Maximum number of requests that wait or are being answered, each with a tensor in memory. More are refused, and the
 * challenger plays without the trace.
 */
const MAX_REQUESTS = 4;
/** How long an answer may take to be read: longer than a challenger waits for one. */
const PATIENCE_MS = 20_000;

/**
 * Publishes a worker's traces over HTTP. `/<claim id>/<item>/<step>` returns the tensor of an item's step,
 * little-endian, while the claim can be disputed: a challenger with the tensor goes from a range's steps straight to
 * the proof, and a dispute takes three transactions instead of eleven. `/<claim id>/<item>/outputs/<number>` returns an
 * item's output with the path (`encodeOutput`), while the worker knows the claim. `/<claim id>/<item>/state` returns
 * what an item takes from the item before, if that is kept, while the claim can be disputed. `/jobs/<job id>/items`
 * streams the outputs after each item of a run with carried state, during execution (`ItemStream`).
 */
export class TracePublisher {
  readonly #server = new HttpServer((url, response) => this.#answer(url, response));
  readonly #patienceMs: number;
  #executions: Executions | undefined;
  #claims: ReadonlyMap<Hex, JobRecord> = new Map();
  readonly #items = new ItemStream();
  #requests = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param patienceMs How long an answer may take to be read. */
  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Takes over what there is to publish. @param claims The jobs that the worker's claims are on. */
  publish(claims: ReadonlyMap<Hex, JobRecord>, executions: Executions): void {
    [this.#claims, this.#executions] = [claims, executions];
    executions.onItem = this.#items.take;
  }

  /** Begins to serve. @param port 0 for any free one. @returns the port @throws PortError */
  listen(port: number, host?: string): Promise<number> {
    return this.#server.listen(port, "--publish-port", host);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    const [, jobId] = /^\/jobs\/(0x[0-9a-f]{64})\/items$/.exec(url) ?? [];
    if (jobId !== undefined) {
      const isOver = [...this.#claims.values()].some(({ id }) => id === jobId);
      return this.#items.follow(jobId as Hex, isOver, response);
    }
    const [, claimId, item, outputs, number] =
      /^\/(0x[0-9a-f]{64})\/(\d{1,9})\/(outputs\/)?(\d{1,9}|state)$/.exec(url) ?? [];
    const job = this.#served((claimId ?? "") as Hex, outputs !== undefined);
    if (job === undefined) return void response.writeHead(404).end("no such claim, or it is over\n");
    // SAFETY: anybody may ask, and an unkept tensor costs an execution. The worker's own moves, under running clocks,
    // wait for at most one execution of an item.
    if (this.#requests === MAX_REQUESTS)
      return void response.writeHead(503, { "retry-after": "10" }).end("too many requests\n");
    this.#requests++;
    try {
      const read = number === "state" ? this.#state : outputs === undefined ? this.#tensor : this.#output;
      const bytes = await this.#inTurn(() =>
        response.destroyed ? Promise.resolve(undefined) : read(job, Number(item), Number(number)),
      );
      await this.#send(response, bytes);
    } finally {
      this.#requests--;
    }
  }

  /** Returns the job of a servable claim: tensors while the claim can be disputed, outputs while the claim is known. */
  #served(claimId: Hex, isOutput: boolean): JobRecord | undefined {
    const job = this.#claims.get(claimId);
    const claim = job?.claims.find(({ id }) => id === claimId);
    return claim === undefined || claim.refuted || (!isOpen(claim) && !isOutput) ? undefined : job;
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }

  readonly #tensor = async (job: JobRecord, item: number, step: number): Promise<Uint8Array | undefined> =>
    this.#executions?.tensor(job, item, step);

  readonly #state = async (job: JobRecord, item: number): Promise<Uint8Array | undefined> =>
    this.#executions?.state(job, item);

  readonly #output = async (job: JobRecord, item: number, output: number): Promise<Uint8Array | undefined> => {
    const opened = await this.#executions?.output(job, item, output);
    return opened && encodeOutput(opened);
  };

  /** Resolves when the answer is read or given up: until then it takes memory. */
  async #send(response: ServerResponse, bytes: Uint8Array | undefined): Promise<void> {
    if (response.destroyed) return;
    const closed = new Promise((resolve) => response.once("close", resolve));
    const patience = setTimeout(() => response.destroy(), this.#patienceMs);
    if (bytes === undefined) response.writeHead(404).end("no such item, step, output or state\n");
    else {
      response.writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes.length });
      response.end(bytes);
    }
    await closed;
    clearTimeout(patience);
  }
}
