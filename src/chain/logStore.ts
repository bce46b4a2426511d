import {
  BaseError,
  HttpRequestError,
  RpcRequestError,
  TimeoutError,
  type Abi,
  type AbiEvent,
  type Address,
  type Hex,
} from "viem";
import type { Log, PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/** The part of a client that the store needs. */
export type LogSource = Pick<PublicClient, "getBlock" | "getLogs">;

/** An event of `A`, with its decoded arguments. */
export type ChainEvent<A extends Abi> = Log<bigint, number, false, undefined, true, A>;

/** Whether a request for less might succeed: a node gave an error, too long an answer, or took too long. */
const isTooMuch = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (e) =>
      e instanceof RpcRequestError ||
      e instanceof TimeoutError ||
      (e instanceof HttpRequestError && e.status !== undefined) ||
      (e as Error).name === "ResponseBodyTooLargeError",
  ) !== null;

const keyOf = ({ blockHash, logIndex }: { blockHash: Hex; logIndex: number }): string => `${blockHash} ${logIndex}`;

type Seen = { number: bigint; hash: Hex };

/**
 * The head up to which events are known. `rewoundTo` is the last block that was kept when the chain had been
 * reorganised.
 */
export type SyncResult = { head: Seen & { timestamp: bigint }; rewoundTo?: bigint };

/** Maximum of blocks in one request; a request has fewer while a node refuses. */
const MAX_SPAN = 2_000n;
/**
 * Blocks below the last synced head that are read again each time: 13 minutes of L1. Behind a load balancer there may
 * be nodes that lag. Asked for logs of blocks that they do not have yet, they give the logs that they have, without an
 * error.
 */
const OVERLAP = 64n;
/** How often a block is asked for that some node has announced: the next answer may come from that node. */
const MAX_BLOCK_REQUESTS = 4;
/** Maximum of synced heads that are kept to find the fork point after a reorganisation. */
const MAX_SEEN = 512;

/**
 * The events of some contracts, in chain order, kept equal to the canonical chain. Reorganisations are found by
 * comparing block hashes, because nodes do not reliably announce removed logs. The events are kept in memory only: a
 * restart reads the chain again. Old ones that are not needed may be dropped.
 */
export class LogStore<const A extends Abi> {
  readonly #source: LogSource;
  readonly #addresses: readonly Address[];
  readonly #events: readonly AbiEvent[];
  readonly #from: bigint;
  #seen: Seen[] = [];
  #span = MAX_SPAN;
  /** A rewind that no sync has reported yet: the sync that found it may have failed afterwards. */
  #rewoundTo: bigint | undefined;
  #logs: ChainEvent<A>[] = [];
  #known = new Set<string>();
  /** Some of the events of blocks below this one were dropped. */
  #droppedBelow: bigint | undefined;
  #head: SyncResult["head"] | undefined;

  /** @param fromBlock The block of the deployment. */
  constructor(source: LogSource, addresses: readonly Address[], abi: A, fromBlock: bigint) {
    this.#source = source;
    this.#addresses = addresses;
    this.#events = abi.filter((item): item is AbiEvent => item.type === "event");
    this.#from = fromBlock;
  }

  /** Every event up to the last sync, oldest first. */
  get events(): readonly ChainEvent<A>[] {
    return this.#logs;
  }

  /**
   * Reads what is new up to the head, after dropping what a reorganisation removed.
   * @param onSpan Called after each span of a long chain, whose head may be another block by the end.
   * @throws RpcUnavailableError
   */
  async sync(onSpan: (read: SyncResult) => void = () => undefined): Promise<SyncResult> {
    try {
      return await this.#sync(onSpan);
    } catch (error) {
      throw translateError(error, "reading events");
    }
  }

  /** The first block whose events may be read again, so that they must not be dropped. */
  get keptFrom(): bigint {
    return (this.#seen.at(-1)?.number ?? this.#from) - OVERLAP;
  }

  /**
   * Drops events of blocks below one that is at most `keptFrom`. After a reorganisation that reaches below it,
   * everything is read again.
   */
  drop(below: bigint, isDropped: (event: ChainEvent<A>) => boolean): void {
    const kept = this.#logs.filter((log) => log.blockNumber >= below || !isDropped(log));
    if (kept.length === this.#logs.length) return;
    this.#logs = kept;
    this.#known = new Set(kept.map(keyOf));
    this.#droppedBelow = below;
  }

  async #sync(onSpan: (read: SyncResult) => void): Promise<SyncResult> {
    for (;;) {
      const head = await this.#latest();
      // A node that lags shows neither new events nor a reorganisation.
      if (!(await this.#follows(head))) return this.#result(this.#head ?? head);
      const tip = this.#seen.at(-1);
      const next = (tip?.number ?? this.#from - 1n) + 1n;
      const to = next + this.#span - 1n < head.number ? next + this.#span - 1n : head.number;
      const end = to === head.number ? head : await this.#blockAt(to);
      const logs = to < this.#from ? [] : await this.#read(next, to);
      // They are read twice, because the nodes behind a load balancer take turns.
      const again = to < head.number || logs === undefined ? [] : await this.#read(next, to);
      if (logs === undefined || again === undefined) continue;
      // If the chain was reorganised while the logs were read, they may be of two branches: they are read again. The
      // newest head is looked at first, because a new head above an old branch would hide that the branch was
      // abandoned.
      const check = await this.#blockAt(to);
      if (end === undefined || check === undefined) return this.#result(this.#head ?? head);
      if (check.hash !== end.hash || (tip !== undefined && (await this.#blockAt(tip.number))?.hash !== tip.hash))
        continue;
      await this.#take([...logs, ...again], next);
      if (to >= next) this.#remember({ number: to, hash: end.hash });
      if (to >= head.number) return this.#result(head);
      onSpan(this.#takeRewind(head));
    }
  }

  #result({ number, hash, timestamp }: SyncResult["head"]): SyncResult {
    this.#head = { number, hash, timestamp };
    return this.#takeRewind(this.#head);
  }

  #takeRewind(head: SyncResult["head"]): SyncResult {
    const rewoundTo = this.#rewoundTo;
    this.#rewoundTo = undefined;
    return { head, ...(rewoundTo === undefined ? {} : { rewoundTo }) };
  }

  /**
   * Forgets the heads that are not on the branch of `head`, and the logs past the last one that is.
   * @returns Whether `head` may bring anything new.
   */
  async #follows(head: Seen): Promise<boolean> {
    for (let tip = this.#seen.at(-1); tip !== undefined; tip = this.#seen.at(-1)) {
      const known = this.#seen.findLast(({ number }) => number <= head.number);
      if (known === undefined) return false;
      const block = known.number === head.number ? head : await this.#blockAt(known.number);
      if (block === undefined) return false;
      if (block.hash === known.hash) return known === tip;
      this.#rewind(known.number);
    }
    return true;
  }

  /** Forgets what is remembered of a block and of those above it. */
  #rewind(block: bigint): void {
    while ((this.#seen.at(-1)?.number ?? -1n) >= block) this.#seen.pop();
    // If blocks with dropped events are read again, all blocks are: else only some of these events would come back.
    if (this.#droppedBelow !== undefined && this.#droppedBelow > this.keptFrom)
      [this.#seen, this.#droppedBelow] = [[], undefined];
    const kept = this.#seen.at(-1)?.number ?? this.#from - 1n;
    this.#logs = this.#logs.filter((log) => log.blockNumber <= kept);
    this.#known = new Set(this.#logs.map(keyOf));
    this.#rewoundTo = kept;
    // The last head may be of a node that lagged, and is not on this branch.
    this.#head = undefined;
  }

  /**
   * Adds the logs that are not known yet. Those of blocks below `next` were missed before: they go in before known
   * ones.
   */
  async #take(logs: readonly ChainEvent<A>[], next: bigint): Promise<void> {
    const found = new Map<string, ChainEvent<A>>();
    for (const log of logs) {
      if (this.#known.has(keyOf(log))) continue;
      const isLate = log.blockNumber < next;
      if (!isLate || (await this.#blockAt(log.blockNumber))?.hash === log.blockHash) found.set(keyOf(log), log);
    }
    if (found.size === 0) return;
    for (const [key, log] of found) {
      // The decoded arguments are enough.
      this.#logs.push({ ...log, data: "0x", topics: [] });
      this.#known.add(key);
      if (log.blockNumber >= next) continue;
      if (this.#rewoundTo === undefined || this.#rewoundTo >= log.blockNumber) this.#rewoundTo = log.blockNumber - 1n;
    }
    // A log that only one of the two answers held may belong between those of the other.
    this.#logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
  }

  /** The logs of blocks `next` to `to`, and of some below; undefined if the node refuses so much. */
  async #read(next: bigint, to: bigint): Promise<ChainEvent<A>[] | undefined> {
    const overlap = this.#span < OVERLAP ? this.#span : OVERLAP;
    const fromBlock = next - overlap > this.#from ? next - overlap : this.#from;
    try {
      const logs = await this.#source.getLogs({
        address: [...this.#addresses],
        events: this.#events,
        fromBlock,
        toBlock: to,
        strict: true,
      });
      this.#span = this.#span * 2n < MAX_SPAN ? this.#span * 2n : MAX_SPAN;
      return logs as unknown as ChainEvent<A>[];
    } catch (error) {
      // Nodes limit blocks, logs, bytes or time, each with errors of its own: a shorter span is tried before this is
      // given up.
      if (!isTooMuch(error) || this.#span === 1n) throw error;
      const span = to < next ? overlap : to - next + 1n;
      this.#span = span > 1n ? span / 2n : 1n;
      return undefined;
    }
  }

  /** The newest block. It is asked for twice if the first answer is behind what is known. */
  async #latest(): Promise<SyncResult["head"]> {
    const head = await this.#source.getBlock({ blockTag: "latest" });
    const known = this.#seen.at(-1)?.number ?? -1n;
    return head.number < known ? this.#source.getBlock({ blockTag: "latest" }) : head;
  }

  /** A block that should exist; undefined if no node that is asked has it. */
  async #blockAt(blockNumber: bigint): Promise<Seen | undefined> {
    for (let asked = 0; asked < MAX_BLOCK_REQUESTS; asked++) {
      const block = await this.#source.getBlock({ blockNumber }).catch((error: unknown) => {
        if ((error as Error).name === "BlockNotFoundError") return undefined;
        throw error;
      });
      if (block !== undefined) return block;
    }
    return undefined;
  }

  #remember(seen: Seen): void {
    this.#seen.push(seen);
    if (this.#seen.length > MAX_SEEN) this.#seen.shift();
  }
}
