import type { ServerResponse } from "node:http";
import type { Hex } from "viem";
import type { JobRecord } from "../../chain/market/history.ts";
import { changeOf, STREAMED_BYTES, type StreamedLine } from "../../program/trace/streamedItem.ts";
import type { ExecutedItem } from "../../runs/execute.ts";

/** Who may follow jobs at the same time. */
const MAX_FOLLOWERS = 32;

/** Maximum waiting bytes for a slow follower: beyond the maximum the follower is disconnected. */
const MAX_WAITING_BYTES = 2 ** 20;

/** An empty line now and then keeps a connection open while nothing is computed. */
const PING_MS = 15_000;

/** Time that a follower may wait for a job without execution: another worker may have claimed the job. */
const PATIENCE_MS = 600_000;

/** Jobs whose outputs so far are kept. A worker executes one at a time; one that failed is displaced by others. */
const MAX_RUNNING = 4;

/** The outputs that the latest item has, by their numbers; larger ones are left out. */
type Running = { item: number; items: number; outputs: ReadonlyMap<number, Uint8Array> };

/**
 * Streams a job's outputs to followers after each executed item: JSON, one line per item (`StreamedLine`). The outputs
 * are unproven: only the claim counts.
 */
export class ItemStream {
  readonly #followers = new Map<Hex, Set<ServerResponse>>();
  readonly #running = new Map<Hex, Running>();
  #count = 0;

  /** Tells of an item that was executed. */
  readonly take = ({ id, terms, job: { items } }: JobRecord, item: number, executed: ExecutedItem): void => {
    // SAFETY: other workers would copy outputs of sealed submissions.
    if (terms !== undefined && terms.openFrom !== 0) return;
    const before = item === 0 ? undefined : this.#running.get(id);
    const running = { item, items, outputs: outputsOf(executed) };
    const followers = this.#followers.get(id);
    if (followers !== undefined) {
      const line = lineOf(running, before);
      for (const follower of followers) send(follower, line);
    }
    this.#running.delete(id);
    if (item < items - 1) this.#running.set(id, running);
    else for (const follower of followers ?? []) follower.end();
    const [oldest] = this.#running.keys();
    if (this.#running.size > MAX_RUNNING) this.#running.delete(oldest!);
  };

  /** Begins to tell one more. @param isOver The job was executed: there is nothing more to tell. */
  follow(jobId: Hex, isOver: boolean, response: ServerResponse): void {
    const running = this.#running.get(jobId);
    if (this.#count === MAX_FOLLOWERS)
      return void response.writeHead(503, { "retry-after": "10" }).end("too many followers\n");
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    if (isOver && running === undefined) return void response.end();
    response.flushHeaders();
    if (running !== undefined) send(response, lineOf(running, undefined));
    const followers = this.#followers.get(jobId) ?? new Set();
    this.#followers.set(jobId, followers.add(response));
    this.#count++;
    const ping = setInterval(() => response.write("\n"), PING_MS);
    const patience = setTimeout(() => {
      if (!this.#running.has(jobId)) response.end();
    }, PATIENCE_MS);
    response.once("close", () => {
      clearInterval(ping);
      clearTimeout(patience);
      this.#count--;
      followers.delete(response);
      if (followers.size === 0) this.#followers.delete(jobId);
    });
  }
}

/** Copies of an item's outputs: what they are read from may be written to by the next item. */
function outputsOf({ program, tensor: tensorOf }: ExecutedItem): Running["outputs"] {
  const outputs = new Map<number, Uint8Array>();
  program.outputs.forEach((checkpoint, output) => {
    const tensor = tensorOf(program.checkpoints[checkpoint]!.step);
    if (tensor.length <= STREAMED_BYTES) outputs.set(output, tensor.slice());
  });
  return outputs;
}

function lineOf({ item, items, outputs }: Running, before: Running | undefined): string {
  const changes = [...outputs].flatMap(([output, tensor]) => {
    const change = changeOf(output, tensor, before?.outputs.get(output));
    return change === undefined ? [] : [change];
  });
  return `${JSON.stringify({ item, items, changes } satisfies StreamedLine)}\n`;
}

function send(follower: ServerResponse, line: string): void {
  if (follower.writableLength > MAX_WAITING_BYTES) follower.destroy();
  else follower.write(line);
}
