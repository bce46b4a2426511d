import type { Abi, Address, Hex } from "viem";
import { RpcUnavailableError } from "./errors.ts";
import { LogReader, runAtOnce, type BlockRange, type ChainEvent, type LogSource } from "./logReader.ts";
import { translateError } from "./translateError.ts";

const keyOf = ({ blockHash, logIndex }: { blockHash: Hex; logIndex: number }): string => `${blockHash} ${logIndex}`;

/** A log as it is kept: the decoded arguments are enough. */
const decoded = <A extends Abi>(log: ChainEvent<A>): ChainEvent<A> => ({ ...log, data: "0x", topics: [] });

type Seen = { number: bigint; hash: Hex };
/** A read block, with the parent's hash. */
type Read = Seen & { parentHash?: Hex };

/**
 * The head up to which events are known. `rewoundTo` is the last block that was kept when the chain had been
 * reorganised.
 */
export type SyncResult = { head: Read & { timestamp: bigint }; rewoundTo?: bigint };

/** A time: milliseconds here (`performance.now`), and seconds of the chain. A rest ends with the first of both. */
type OverlapRest = { ms: number; seconds: bigint };

/** A store's knowledge: another store can continue from this state. */
export type StoreState<A extends Abi> = {
  /** Synced heads, oldest first. */
  seen: Seen[];
  /** The last block that is not read again. */
  settled: bigint;
  /** Some events in blocks below this block were dropped. */
  droppedBelow: bigint | undefined;
  logs: ChainEvent<A>[];
};

/**
 * Number of blocks below the last synced head that are read again each time: 13 minutes of L1. A load balancer may
 * route to nodes that lag. If a request covers blocks that a lagging node lacks, the node returns only the logs that it
 * has, without an error.
 */
const OVERLAP = 64n;
/** How often to ask for a block that some node has announced: the next answer may come from the announcing node. */
const MAX_BLOCK_REQUESTS = 4;
/** Blocks that are asked for at once. */
const BLOCKS_AT_ONCE = 8;
/** Maximum of synced heads that are kept to find the fork point after a reorganisation. */
const MAX_SEEN = 512;

/** The blocks of some events; those that lie close together are one range. */
function rangesOf(events: readonly { blockNumber: bigint }[]): BlockRange[] {
  const ranges: BlockRange[] = [];
  for (const { blockNumber } of [...events].sort((a, b) => Number(a.blockNumber - b.blockNumber))) {
    const last = ranges.at(-1);
    if (last !== undefined && blockNumber - last.to <= OVERLAP) last.to = blockNumber;
    else ranges.push({ from: blockNumber, to: blockNumber });
  }
  return ranges;
}

/**
 * The events of some contracts, in chain order, kept equal to the canonical chain. The store finds reorganisations by
 * comparing block hashes, because nodes do not reliably announce removed logs. Unneeded old events may be dropped.
 *
 * Protections, by kind of faulty node:
 *
 * - Each block is read at least once while 64 or more blocks lie above. This protects against lagging nodes, which
 *   may lack a block and therefore omit the logs. A node that lags by more goes unnoticed. Blocks already 64 deep at
 *   their first read are read once.
 * - New blocks are read twice in the same sync. The nodes behind a load balancer take turns, so most logs arrive at
 *   once.
 * - The hash of the last block, and the hash of the last synced block, are compared before and after each read. Within
 *   the last 64 blocks some node may still be on an abandoned branch. In this range, each new log's block is compared
 *   with the chain. A known log's block is compared if a later answer lacks the log. If a node on an abandoned branch
 *   gives all of these answers, known logs of the branch stay until a sync in which other nodes answer.
 *
 * A sync over a few new blocks asks for at most four blocks, more if new logs arrive. The sync makes two requests for
 * logs if the node takes 65 blocks or more in one request. With a limit of 10 blocks the sync makes eight: seven for
 * the overlap, one for the new blocks again. Nodes lag by time, so a store may rest between two
 * reads of the overlap: then a sync without a new block asks for the head alone.
 */
export class LogStore<const A extends Abi> {
  readonly #source: LogSource;
  readonly #reader: LogReader<A>;
  readonly #from: bigint;
  readonly #rest: OverlapRest;
  /** The time of the overlap's last read; undefined if the next sync reads the overlap in any case. */
  #overlapRead: OverlapRest | undefined;
  #seen: Seen[] = [];
  #settled: bigint;
  /** A rewind that no sync has reported yet. The sync that found the rewind may have failed afterwards. */
  #rewoundTo: bigint | undefined;
  #logs: ChainEvent<A>[] = [];
  #known = new Set<string>();
  #droppedBelow: bigint | undefined;
  #head: SyncResult["head"] | undefined;
  /** True if the state comes from another store and the chain has not confirmed it yet. */
  #isRestored = false;

  /**
   * @param fromBlock The block of the deployment.
   * @param rest The time between two reads of the overlap. By default each sync reads the overlap.
   */
  constructor(
    source: LogSource,
    addresses: readonly Address[],
    abi: A,
    fromBlock: bigint,
    rest: OverlapRest = { ms: 0, seconds: 0n },
  ) {
    this.#rest = rest;
    this.#source = source;
    this.#reader = new LogReader(source, addresses, abi);
    this.#from = fromBlock;
    this.#settled = fromBlock - 1n;
  }

  /** Every event up to the last sync, oldest first. */
  get events(): readonly ChainEvent<A>[] {
    return this.#logs;
  }

  /** The current state, not copied. */
  get state(): StoreState<A> {
    return { seen: this.#seen, settled: this.#settled, droppedBelow: this.#droppedBelow, logs: this.#logs };
  }

  /**
   * Goes on from the state of a store of the same contracts and first block. The next sync compares it with the chain.
   */
  restore({ seen, settled, droppedBelow, logs }: StoreState<A>): void {
    [this.#seen, this.#settled, this.#droppedBelow] = [seen, settled, droppedBelow];
    this.#setLogs(logs);
    this.#isRestored = seen.length > 0;
  }

  /**
   * Drops events that a reorganisation removed, then reads new events up to the head.
   * @param onRead Called and awaited after each part of a long chain; the chain's head may be another block by the
   *   end.
   * @throws RpcUnavailableError
   */
  async sync(onRead: (read: SyncResult) => void | Promise<void> = () => undefined): Promise<SyncResult> {
    try {
      return await this.#sync(onRead);
    } catch (error) {
      throw translateError(error, "reading events");
    }
  }

  /** The first block whose events may be read again. Events from this block on must not be dropped. */
  get keptFrom(): bigint {
    const below = (this.#seen.at(-1)?.number ?? this.#from) - OVERLAP;
    return below < this.#settled ? below : this.#settled;
  }

  /**
   * Drops events in blocks below `below`, or replaces them with shorter events. `below` must be at most `keptFrom`.
   * After a reorganisation that reaches deeper, the store reads everything again.
   * @param keep Returns the event to keep, or undefined to drop the event.
   */
  drop(below: bigint, keep: (event: ChainEvent<A>) => ChainEvent<A> | undefined): void {
    const kept = this.#logs.map((log) => (log.blockNumber >= below ? log : keep(log)));
    if (kept.every((log, k) => log === this.#logs[k])) return;
    this.#setLogs(kept.filter((log) => log !== undefined));
    this.#droppedBelow = below;
  }

  /**
   * Reads shortened events again, in full. The next sync reports the found events as a rewind.
   * @returns The number of found events.
   * @throws RpcUnavailableError
   */
  async readAgain(
    shortened: readonly Pick<ChainEvent<A>, "blockNumber" | "blockHash" | "logIndex">[],
  ): Promise<number> {
    const wanted = new Set(shortened.map(keyOf));
    const logs = await this.#reader.read(rangesOf(shortened)).catch((error: unknown) => {
      throw translateError(error, "reading events");
    });
    const found = new Map(logs.filter((log) => wanted.has(keyOf(log))).map((log) => [keyOf(log), decoded(log)]));
    for (const { blockNumber } of found.values()) this.#changed(blockNumber);
    this.#setLogs(this.#logs.map((log) => found.get(keyOf(log)) ?? log));
    return found.size;
  }

  async #sync(onRead: (read: SyncResult) => void | Promise<void>): Promise<SyncResult> {
    for (let isDoubtful = this.#isRestored; ;) {
      const head = await this.#latest();
      // A node that lags shows neither new events nor a reorganisation. Whether a longer chain has the last synced
      // block shows after the reading.
      const isLonger = head.number > (this.#seen.at(-1)?.number ?? -1n);
      if ((isDoubtful || !isLonger) && !(await this.#follows(head))) return this.#result(this.#head ?? head);
      const tip = this.#seen.at(-1);
      const next = (tip?.number ?? this.#from - 1n) + 1n;
      const to = this.#endOfRead(next, head.number);
      const isHistory = to < head.number;
      const end = isHistory ? await this.#blockAt(to) : head;
      if (end === undefined) return this.#result(this.#head ?? head);
      const since = performance.now();
      const isWhole = isHistory || isDoubtful || this.#isOverlapDue(since, head.timestamp);
      // Nothing is new.
      if (!isWhole && to < next) return this.#result(head);
      const settledNext = this.#settled + 1n;
      const again = { from: next > settledNext ? next : settledNext, to };
      const from = isWhole ? settledNext : again.from;
      const logs = await this.#reader.read([{ from, to }, ...(isHistory ? [] : [again])]);
      // If the chain was reorganised while the logs were read, they may be of two branches: they are read again. A new
      // head above an old branch would hide that the branch was abandoned, so the last synced block is looked at too.
      const isParent = tip?.number === to - 1n && tip.hash === end.parentHash;
      const [check, tipNow] = await Promise.all([this.#blockAt(to), isParent ? tip : tip && this.#blockAt(tip.number)]);
      if (check === undefined) return this.#result(this.#head ?? head);
      isDoubtful = check.hash !== end.hash || tipNow?.hash !== tip?.hash;
      if (isDoubtful) continue;
      if (!(await this.#take(logs, { from, next, end }, head.number - OVERLAP))) continue;
      if (to >= next) this.#remember({ number: to, hash: end.hash });
      const settled = isHistory ? to : head.number - OVERLAP;
      if (isWhole && settled > this.#settled) this.#settled = settled;
      if (isWhole && !isHistory) this.#overlapRead = { ms: since, seconds: head.timestamp };
      this.#isRestored = false;
      if (!isHistory) return this.#result(head);
      await onRead(this.#takeRewind(head));
    }
  }

  #isOverlapDue(ms: number, seconds: bigint): boolean {
    const [last, rest] = [this.#overlapRead, this.#rest];
    return last === undefined || ms >= last.ms + rest.ms || seconds >= last.seconds + rest.seconds;
  }

  /** Returns the last block of the next read: the head, or a block below the overlap if only full requests are made. */
  #endOfRead(next: bigint, head: bigint): bigint {
    const { limit, requestsInOneGo } = this.#reader;
    const requests = (head - OVERLAP - next + 1n) / limit.span;
    if (requests <= 0n) return head;
    return next - 1n + limit.span * (requests < requestsInOneGo ? requests : requestsInOneGo);
  }

  #result({ number, hash, timestamp }: SyncResult["head"]): SyncResult {
    // Restored events stay hidden until the chain has confirmed them.
    if (this.#isRestored) throw new RpcUnavailableError("reading events: the node lacks a block that it announced");
    this.#head = { number, hash, timestamp };
    return this.#takeRewind(this.#head);
  }

  #takeRewind(head: SyncResult["head"]): SyncResult {
    const rewoundTo = this.#rewoundTo;
    this.#rewoundTo = undefined;
    return { head, ...(rewoundTo === undefined ? {} : { rewoundTo }) };
  }

  /**
   * Forgets the heads outside the branch of `head`, and the logs past the last head on the branch.
   * @returns Whether `head` may bring anything new.
   */
  async #follows(head: Seen): Promise<boolean> {
    for (let tip = this.#seen.at(-1); tip !== undefined; tip = this.#seen.at(-1)) {
      const known = this.#seen.findLast(({ number }) => number <= head.number);
      // The node may lag, but it may also serve a chain that was begun anew: nothing is kept that it does not confirm.
      if (this.#isRestored && known !== tip) {
        this.#rewind((known?.number ?? -1n) + 1n);
        continue;
      }
      if (known === undefined) return false;
      const block = known.number === head.number ? head : await this.#blockAt(known.number);
      if (block === undefined) return false;
      if (block.hash === known.hash) return known === tip;
      this.#rewind(known.number);
    }
    return true;
  }

  /** Forgets everything remembered from a block upwards. */
  #rewind(block: bigint): void {
    while ((this.#seen.at(-1)?.number ?? -1n) >= block) this.#seen.pop();
    // If blocks with dropped events must be read again, all blocks are read again. Otherwise only some dropped events
    // would return.
    if (this.#droppedBelow !== undefined && this.#droppedBelow > this.keptFrom)
      [this.#seen, this.#droppedBelow] = [[], undefined];
    const kept = this.#seen.at(-1)?.number ?? this.#from - 1n;
    this.#setLogs(this.#logs.filter((log) => log.blockNumber <= kept));
    if (this.#settled > kept) this.#settled = kept;
    this.#overlapRead = undefined;
    this.#rewoundTo = kept;
    // The last head may come from a lagging node, outside this branch.
    this.#head = undefined;
  }

  /** Takes note that the next sync must report other events of a block than before. */
  #changed(block: bigint): void {
    if (this.#rewoundTo === undefined || this.#rewoundTo >= block) this.#rewoundTo = block - 1n;
  }

  #setLogs(logs: ChainEvent<A>[]): void {
    this.#logs = logs;
    this.#known = new Set(logs.map(keyOf));
  }

  /**
   * Adds the logs that are not known yet. Those of blocks below `next` were missed before: they go in before known
   * ones.
   * @param read The first block that was read, the first new one, and the last one.
   * @param settled Some node may be on an abandoned branch above this block.
   * @returns false if known logs turned out to be of an abandoned branch, and were dropped
   */
  async #take(
    logs: readonly ChainEvent<A>[],
    { from, next, end }: { from: bigint; next: bigint; end: Read },
    settled: bigint,
  ): Promise<boolean> {
    const answered = new Map(logs.map((log) => [keyOf(log), log]));
    const lacking = this.#logs.filter(
      (log) => log.blockNumber >= from && log.blockNumber < next && !answered.has(keyOf(log)),
    );
    const added = [...answered].filter(([key]) => !this.#known.has(key)).map(([, log]) => log);
    const isDoubtful = ({ blockNumber }: { blockNumber: bigint }): boolean =>
      blockNumber < next || blockNumber > settled;
    const hashes = await this.#hashesOf([...lacking, ...added.filter(isDoubtful)], end);
    const abandoned = lacking.find(
      ({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) !== blockHash,
    );
    if (abandoned !== undefined) {
      this.#rewind(abandoned.blockNumber);
      return false;
    }
    const taken = added.filter((log) => !isDoubtful(log) || hashes.get(log.blockNumber) === log.blockHash);
    if (taken.length === 0) return true;
    for (const log of taken) {
      this.#logs.push(decoded(log));
      this.#known.add(keyOf(log));
      if (log.blockNumber < next) this.#changed(log.blockNumber);
    }
    // A log found in only one answer may belong between the logs of other answers.
    this.#logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
    return true;
  }

  /**
   * Reads the block hashes of some logs, where nodes have the blocks. Each block also shows the hash of its parent.
   * @param end A known block.
   */
  async #hashesOf(logs: readonly ChainEvent<A>[], end: Read): Promise<Map<bigint, Hex>> {
    const hashes = new Map<bigint, Hex>();
    const know = ({ number, hash, parentHash }: Read): void => {
      if (parentHash !== undefined) hashes.set(number - 1n, parentHash);
      hashes.set(number, hash);
    };
    know(end);
    const blocks = [...new Set(logs.map(({ blockNumber }) => blockNumber))].sort((a, b) => Number(b - a));
    const isUnknown = (number: bigint): boolean => !hashes.has(number);
    const asked = new Set<bigint>();
    for (const number of blocks.filter(isUnknown)) if (!asked.has(number + 1n)) asked.add(number);
    // Second come the parents not shown by a child.
    for (const left of [[...asked], blocks.filter((number) => !asked.has(number))])
      await runAtOnce(BLOCKS_AT_ONCE, async () => {
        const number = left.pop();
        if (number === undefined) return false;
        const block = isUnknown(number) ? await this.#blockAt(number) : undefined;
        if (block !== undefined) know(block);
        return true;
      });
    return hashes;
  }

  /** Returns the newest block. If the first answer is older than the last known head, the node is asked again. */
  async #latest(): Promise<SyncResult["head"]> {
    const head = await this.#source.getBlock({ blockTag: "latest" });
    const known = this.#seen.at(-1)?.number ?? -1n;
    return head.number < known ? this.#source.getBlock({ blockTag: "latest" }) : head;
  }

  /** Returns a block that should exist; undefined if no asked node has the block. */
  async #blockAt(blockNumber: bigint): Promise<Read | undefined> {
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
