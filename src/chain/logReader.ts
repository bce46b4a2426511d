import type { Abi, AbiEvent, Address, Log, PublicClient } from "viem";
import { hasRpcError } from "./answers.ts";
import { isLogLimit, refusalOf, SpanLimit } from "./spanLimit.ts";
import { isUnavailable } from "./translateError.ts";

/** The client methods needed for reading events. */
export type LogSource = Pick<PublicClient, "getBlock" | "getLogs">;

/** An event of `A`, with its decoded arguments. */
export type ChainEvent<A extends Abi> = Log<bigint, number, false, undefined, true, A>;

/** Blocks from one to another, both included; none if `to` is below `from`. */
export type BlockRange = { from: bigint; to: bigint };

/**
 * Maximum number of simultaneous requests. The requests are single, not JSON-RPC batches. Nodes count each request of a
 * batch, some nodes take no batches, and a batch's answer waits for the slowest part.
 */
const MAX_AT_ONCE = 8;
/** Consecutive requests per read of a long chain. If a read fails, the results of earlier reads are kept. */
const REQUESTS_IN_LINE = 8;
/** A node that fails for fewer blocks, without an answer of its own, is down: the request was not too large. */
const FEW_BLOCKS = 200n;
/** How often to ask a node that lacks the blocks: the next answer may come from another node. */
const MAX_REQUESTS_BEHIND = 4;

/** Reads the events of some contracts, in requests that the node takes, several at once. */
export class LogReader<const A extends Abi> {
  readonly limit = new SpanLimit();
  readonly #source: LogSource;
  readonly #addresses: readonly Address[];
  readonly #events: readonly AbiEvent[];
  #atOnce = MAX_AT_ONCE;

  constructor(source: LogSource, addresses: readonly Address[], abi: A) {
    this.#source = source;
    this.#addresses = addresses;
    this.#events = abi.filter((item): item is AbiEvent => item.type === "event");
  }

  /** Full requests per read of a long chain; 1 until the node's limit is known. */
  get requestsInOneGo(): bigint {
    return this.limit.isTried() ? BigInt(this.#atOnce * REQUESTS_IN_LINE) : 1n;
  }

  /**
   * Reads the events of some blocks, in no particular order. If a part fails, the call still waits for all started
   * requests.
   * @throws the client's errors
   */
  async read(ranges: readonly BlockRange[]): Promise<ChainEvent<A>[]> {
    const left = ranges.filter(({ from, to }) => from <= to).reverse();
    const found: ChainEvent<A>[] = [];
    const step = async (): Promise<boolean> => {
      const range = left.pop();
      if (range === undefined) return false;
      const blocks = this.limit.next(sizeOf(range));
      const piece = { from: range.from, to: range.from + blocks - 1n };
      if (piece.to < range.to) left.push({ from: piece.to + 1n, to: range.to });
      const logs = await this.#request(piece);
      if (logs === undefined) left.push(piece);
      else for (const log of logs) found.push(log);
      return true;
    };
    const isTried = (): boolean => this.limit.isTried(left.map(sizeOf).reduce((a, b) => (a > b ? a : b), 0n));
    try {
      // During the search for the limit, each answer decides the next request.
      while (!isTried()) await step();
      const requests = left.length;
      await runAtOnce(this.#atOnce, step);
      if (requests > 0) this.#atOnce = Math.min(this.#atOnce + 1, MAX_AT_ONCE);
    } catch (error) {
      // The node may limit requests in a time.
      this.#atOnce = Math.max(1, Math.floor(this.#atOnce / 2));
      throw error;
    }
    return found;
  }

  /** The events of some blocks; undefined if the node refuses so many. */
  async #request(range: BlockRange): Promise<ChainEvent<A>[] | undefined> {
    const blocks = sizeOf(range);
    for (let asked = 1; ; asked++) {
      try {
        const logs = await this.#source.getLogs({
          address: [...this.#addresses],
          events: this.#events,
          fromBlock: range.from,
          toBlock: range.to,
          strict: true,
        });
        this.limit.accepted(blocks);
        return logs as unknown as ChainEvent<A>[];
      } catch (error) {
        const refusal = refusalOf(error);
        // The nodes of a client have been asked again already.
        if (refusal?.kind === "behind" && asked < MAX_REQUESTS_BEHIND && !isUnavailable(error)) continue;
        if (refusal === undefined || refusal.kind === "behind") throw error;
        if (blocks < FEW_BLOCKS && isUnavailable(error) && !isLogLimit(error) && !hasRpcError(error)) throw error;
        if (blocks === 1n) {
          this.limit.forget();
          throw error;
        }
        if (refusal.kind === "span") this.limit.refused(blocks, refusal.named);
        else this.limit.tooManyLogs(blocks);
        return undefined;
      }
    }
  }
}

const sizeOf = ({ from, to }: BlockRange): bigint => to - from + 1n;

/**
 * Runs steps, some at once, until one returns false in each line. After a failure no more are begun.
 * @throws the first error, once all that were begun have ended
 */
export async function runAtOnce(lines: number, step: () => Promise<boolean>): Promise<void> {
  const failures: unknown[] = [];
  const line = async (): Promise<void> => {
    try {
      while (failures.length === 0 && (await step()));
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
  if (failures.length > 0) throw failures[0];
}
