import { BaseError, HttpRequestError, RpcRequestError, type Abi, type AbiEvent, type Address, type Hex } from "viem";
import type { Log, PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/** The part of a client that the store needs. */
export type LogSource = Pick<PublicClient, "getBlock" | "getLogs">;

/** An event of `A`, with its decoded arguments. */
export type ChainEvent<A extends Abi> = Log<bigint, number, false, undefined, true, A>;

/** Whether a node answered, if only with an error. */
const isAnswer = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((e) => e instanceof RpcRequestError || (e instanceof HttpRequestError && e.status !== undefined)) !== null;

type Seen = { number: bigint; hash: Hex };

/** The head up to which events are known. `rewoundTo` is the last block that was kept when the chain had been reorganised. */
export type SyncResult = { head: Seen & { timestamp: bigint }; rewoundTo?: bigint };

/** Most blocks asked for at once; fewer while a node refuses. */
const SPAN = 2_000n;
/** Synced heads that are remembered, to find the fork point after a reorganisation. */
const REMEMBERED = 512;

/**
 * The events of some contracts, in chain order, kept equal to the canonical chain. Reorganisations are found by comparing block
 * hashes, because nodes do not reliably announce removed logs. Kept in memory only: a restart reads the chain again.
 */
export class LogStore<const A extends Abi> {
  readonly #source: LogSource;
  readonly #addresses: readonly Address[];
  readonly #events: readonly AbiEvent[];
  readonly #from: bigint;
  #seen: Seen[] = [];
  #span = SPAN;
  /** A rewind that no sync has told yet: the one that found it may have failed afterwards. */
  #rewoundTo: bigint | undefined;
  #logs: ChainEvent<A>[] = [];

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
   * @throws RpcUnavailableError
   */
  async sync(): Promise<SyncResult> {
    try {
      return await this.#sync();
    } catch (error) {
      throw translateError(error, "reading events");
    }
  }

  async #sync(): Promise<SyncResult> {
    for (;;) {
      await this.#rewind();
      const tip = this.#seen.at(-1);
      const head = await this.#source.getBlock({ blockTag: "latest" });
      const next = (tip?.number ?? this.#from - 1n) + 1n;
      const to = next + this.#span - 1n < head.number ? next + this.#span - 1n : head.number;
      if (next <= to) {
        const end = to === head.number ? head : await this.#source.getBlock({ blockNumber: to });
        const logs = await this.#read(next, to);
        if (logs === undefined) continue;
        // Logs that were read while the chain changed under us would mix two histories: read again.
        // And a new head above an old branch would hide that the branch was left: it is the newest head that is looked at first.
        const check = await this.#source.getBlock({ blockNumber: to }).catch(() => undefined);
        if (check?.hash !== end.hash || (tip !== undefined && !(await this.#isCanonical(tip)))) continue;
        this.#logs.push(...logs);
        this.#remember({ number: to, hash: end.hash });
      }
      if (to >= head.number) {
        const { number, hash, timestamp } = head;
        const rewoundTo = this.#rewoundTo;
        this.#rewoundTo = undefined;
        return { head: { number, hash, timestamp }, ...(rewoundTo === undefined ? {} : { rewoundTo }) };
      }
    }
  }

  /** The logs of a span of blocks; undefined if the node wants to be asked for less. */
  async #read(fromBlock: bigint, toBlock: bigint): Promise<ChainEvent<A>[] | undefined> {
    try {
      const logs = await this.#source.getLogs({
        address: [...this.#addresses],
        events: this.#events,
        fromBlock,
        toBlock,
        strict: true,
      });
      this.#span = this.#span * 2n < SPAN ? this.#span * 2n : SPAN;
      return logs as unknown as ChainEvent<A>[];
    } catch (error) {
      // Nodes limit blocks, logs or bytes, each in its own words: whatever a node answers, a shorter span is tried first.
      if (!isAnswer(error) || fromBlock === toBlock) throw error;
      this.#span = (toBlock - fromBlock + 1n) / 2n;
      return undefined;
    }
  }

  /** Forgets the heads that are no longer canonical, and the logs past the last one that is. */
  async #rewind(): Promise<void> {
    for (let tip = this.#seen.at(-1); tip !== undefined; tip = this.#seen.at(-1)) {
      if (await this.#isCanonical(tip)) break;
      this.#seen.pop();
      const kept = this.#seen.at(-1)?.number ?? this.#from - 1n;
      this.#logs = this.#logs.filter((log) => log.blockNumber <= kept);
      this.#rewoundTo = kept;
    }
  }

  async #isCanonical({ number, hash }: Seen): Promise<boolean> {
    const block = await this.#source.getBlock({ blockNumber: number }).catch((error: unknown) => {
      if ((error as Error).name === "BlockNotFoundError") return undefined;
      throw error;
    });
    return block?.hash === hash;
  }

  #remember(seen: Seen): void {
    this.#seen.push(seen);
    if (this.#seen.length > REMEMBERED) this.#seen.shift();
  }
}
