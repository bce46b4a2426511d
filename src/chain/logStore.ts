import type { Abi, Address, Hex } from "viem";
import { RpcUnavailableError } from "./errors.ts";
import { LogReader, runAtOnce, type BlockRange, type ChainEvent, type LogSource } from "./logReader.ts";
import { translateError } from "./translateError.ts";

const keyOf = ({ blockHash, logIndex }: { blockHash: Hex; logIndex: number }): string => `${blockHash} ${logIndex}`;

/** A log as it is kept: the decoded arguments are enough. */
const decoded = <A extends Abi>(log: ChainEvent<A>): ChainEvent<A> => ({ ...log, data: "0x", topics: [] });

type Seen = { number: bigint; hash: Hex };

/**
 * The head up to which events are known. `rewoundTo` is the last block that was kept when the chain had been
 * reorganised.
 */
export type SyncResult = { head: Seen & { timestamp: bigint }; rewoundTo?: bigint };

/** What a store knows: another one can go on from it. */
export type StoreState<A extends Abi> = {
  /** Synced heads, oldest first. */
  seen: Seen[];
  /** The last block that is not read again. */
  settled: bigint;
  /** Some of the events of blocks below this one were dropped. */
  droppedBelow: bigint | undefined;
  logs: ChainEvent<A>[];
};

/**
 * Blocks below the last synced head that are read again each time: 13 minutes of L1. Behind a load balancer there may
 * be nodes that lag. Asked for logs of blocks that they do not have yet, they give the logs that they have, without an
 * error.
 */
const OVERLAP = 64n;
/** How often a block is asked for that some node has announced: the next answer may come from that node. */
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
 * The events of some contracts, in chain order, kept equal to the canonical chain. Reorganisations are found by
 * comparing block hashes, because nodes do not reliably announce removed logs. Old events that are not needed may be
 * dropped.
 *
 * What protects against which node:
 *
 * - Each block is read at least once while 64 blocks or more lie above it. This is for nodes that lag, which may lack a
 *   block and so give none of its logs. A node that lags by more is not noticed. Blocks that are that old when they are
 *   read the first time are read once.
 * - New blocks are read twice in the same sync: the nodes behind a load balancer take turns, so that most logs are
 *   there at once.
 * - The hash of the last block is compared before and after each read, and that of the last synced block too: what was
 *   read is of one branch. Within the last 64 blocks some node may still be on an abandoned branch. There the block of
 *   each new log is compared with the chain, and so is the block of each known log that a later answer lacks.
 *
 * A sync of a few new blocks asks for at most five blocks, more if there are new logs. Its requests for logs are two if
 * the node takes 65 blocks or more in one. If its limit is 10, they are eight: seven for the overlap, one for the new
 * blocks again.
 */
export class LogStore<const A extends Abi> {
  readonly #source: LogSource;
  readonly #reader: LogReader<A>;
  readonly #from: bigint;
  #seen: Seen[] = [];
  #settled: bigint;
  /** A rewind that no sync has reported yet: the sync that found it may have failed afterwards. */
  #rewoundTo: bigint | undefined;
  #logs: ChainEvent<A>[] = [];
  #known = new Set<string>();
  #droppedBelow: bigint | undefined;
  #head: SyncResult["head"] | undefined;
  /** What is known comes from another store, and the chain has not confirmed it yet. */
  #isRestored = false;

  /** @param fromBlock The block of the deployment. */
  constructor(source: LogSource, addresses: readonly Address[], abi: A, fromBlock: bigint) {
    this.#source = source;
    this.#reader = new LogReader(source, addresses, abi);
    this.#from = fromBlock;
    this.#settled = fromBlock - 1n;
  }

  /** Every event up to the last sync, oldest first. */
  get events(): readonly ChainEvent<A>[] {
    return this.#logs;
  }

  /** What is known now. It is not copied. */
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
   * Reads what is new up to the head, after dropping what a reorganisation removed.
   * @param onRead Called and waited for after each part of a long chain, whose head may be another block by the end.
   * @throws RpcUnavailableError
   */
  async sync(onRead: (read: SyncResult) => void | Promise<void> = () => undefined): Promise<SyncResult> {
    try {
      return await this.#sync(onRead);
    } catch (error) {
      throw translateError(error, "reading events");
    }
  }

  /** The first block whose events may be read again, so that they must not be dropped. */
  get keptFrom(): bigint {
    return (this.#seen.at(-1)?.number ?? this.#from) - OVERLAP;
  }

  /**
   * Drops events of blocks below one that is at most `keptFrom`, or has shorter ones in their place. After a
   * reorganisation that reaches below it, everything is read again.
   * @param keep An event as it is kept; undefined to drop it.
   */
  drop(below: bigint, keep: (event: ChainEvent<A>) => ChainEvent<A> | undefined): void {
    const kept = this.#logs.map((log) => (log.blockNumber >= below ? log : keep(log)));
    if (kept.every((log, k) => log === this.#logs[k])) return;
    this.#setLogs(kept.filter((log) => log !== undefined));
    this.#droppedBelow = below;
  }

  /**
   * Reads events again that are kept in a shorter form. The next sync reports those that were found as a rewind.
   * @returns How many were found.
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
    for (;;) {
      const head = await this.#latest();
      // A node that lags shows neither new events nor a reorganisation.
      if (!(await this.#follows(head))) return this.#result(this.#head ?? head);
      const tip = this.#seen.at(-1);
      const next = (tip?.number ?? this.#from - 1n) + 1n;
      const to = this.#endOfRead(next, head.number);
      const isHistory = to < head.number;
      const end = isHistory ? await this.#blockAt(to) : head;
      if (end === undefined) return this.#result(this.#head ?? head);
      const from = this.#settled + 1n;
      const again = { from: next > from ? next : from, to };
      const logs = await this.#reader.read([{ from, to }, ...(isHistory ? [] : [again])]);
      // If the chain was reorganised while the logs were read, they may be of two branches: they are read again. A new
      // head above an old branch would hide that the branch was abandoned, so the last synced block is looked at too.
      const [check, tipNow] = await Promise.all([this.#blockAt(to), tip && this.#blockAt(tip.number)]);
      if (check === undefined) return this.#result(this.#head ?? head);
      if (check.hash !== end.hash || tipNow?.hash !== tip?.hash) continue;
      if (!(await this.#take(logs, next, end, head.number - OVERLAP))) continue;
      if (to >= next) this.#remember({ number: to, hash: end.hash });
      const settled = isHistory ? to : head.number - OVERLAP;
      if (settled > this.#settled) this.#settled = settled;
      this.#isRestored = false;
      if (!isHistory) return this.#result(head);
      await onRead(this.#takeRewind(head));
    }
  }

  /** The last block of the next read: the head, or below the overlap so that only full requests are made. */
  #endOfRead(next: bigint, head: bigint): bigint {
    const { limit, requestsInOneGo } = this.#reader;
    const requests = (head - OVERLAP - next + 1n) / limit.span;
    if (requests <= 0n) return head;
    return next - 1n + limit.span * (requests < requestsInOneGo ? requests : requestsInOneGo);
  }

  #result({ number, hash, timestamp }: SyncResult["head"]): SyncResult {
    // What is restored is not shown before the chain has confirmed it.
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
   * Forgets the heads that are not on the branch of `head`, and the logs past the last one that is.
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

  /** Forgets what is remembered of a block and of those above it. */
  #rewind(block: bigint): void {
    while ((this.#seen.at(-1)?.number ?? -1n) >= block) this.#seen.pop();
    // If blocks with dropped events are read again, all blocks are: else only some of these events would come back.
    if (this.#droppedBelow !== undefined && this.#droppedBelow > this.keptFrom)
      [this.#seen, this.#droppedBelow] = [[], undefined];
    const kept = this.#seen.at(-1)?.number ?? this.#from - 1n;
    this.#setLogs(this.#logs.filter((log) => log.blockNumber <= kept));
    if (this.#settled > kept) this.#settled = kept;
    this.#rewoundTo = kept;
    // The last head may be of a node that lagged, and is not on this branch.
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
   * @param end The last block that was read.
   * @param settled Some node may be on an abandoned branch above this block.
   * @returns false if known logs turned out to be of an abandoned branch, and were dropped
   */
  async #take(logs: readonly ChainEvent<A>[], next: bigint, end: Seen, settled: bigint): Promise<boolean> {
    const answered = new Map(logs.map((log) => [keyOf(log), log]));
    const lacking = this.#logs.filter(
      (log) => log.blockNumber > this.#settled && log.blockNumber < next && !answered.has(keyOf(log)),
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
    // A log that only one of several answers held may belong between those of the others.
    this.#logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
    return true;
  }

  /** The hashes of the blocks of some logs, as far as nodes have them. @param end A block that is known. */
  async #hashesOf(logs: readonly ChainEvent<A>[], end: Seen): Promise<Map<bigint, Hex>> {
    const hashes = new Map([[end.number, end.hash]]);
    const blocks = new Set(logs.map(({ blockNumber }) => blockNumber).filter((number) => number !== end.number));
    const left = [...blocks];
    await runAtOnce(BLOCKS_AT_ONCE, async () => {
      const number = left.pop();
      if (number === undefined) return false;
      const block = await this.#blockAt(number);
      if (block !== undefined) hashes.set(number, block.hash);
      return true;
    });
    return hashes;
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
