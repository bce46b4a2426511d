import type { Abi, AbiEvent, Address, Hex, Log, PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/** The part of a client that the store needs. */
export type LogSource = Pick<PublicClient, "getBlock" | "getLogs">;

/** An event of `A`, with its decoded arguments. */
export type ChainEvent<A extends Abi> = Log<bigint, number, false, undefined, true, A>;

type Seen = { number: bigint; hash: Hex };

/** The head up to which events are known. `rewoundTo` is the last block that was kept when the chain had been reorganised. */
export type SyncResult = { head: Seen & { timestamp: bigint }; rewoundTo?: bigint };

/** Blocks asked for at once, which public nodes allow. */
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
    const rewoundTo = await this.#rewind();
    for (;;) {
      const head = await this.#source.getBlock({ blockTag: "latest" });
      const next = (this.#seen.at(-1)?.number ?? this.#from - 1n) + 1n;
      const to = next + SPAN - 1n < head.number ? next + SPAN - 1n : head.number;
      if (next <= to) {
        const end = to === head.number ? head : await this.#source.getBlock({ blockNumber: to });
        const logs = await this.#read(next, to);
        // Logs that were read while the chain changed under us would mix two histories: read again.
        const check = await this.#source.getBlock({ blockNumber: to }).catch(() => undefined);
        if (check?.hash !== end.hash) continue;
        this.#logs.push(...logs);
        this.#remember({ number: to, hash: end.hash });
      }
      if (to >= head.number) {
        const { number, hash, timestamp } = head;
        return { head: { number, hash, timestamp }, ...(rewoundTo === undefined ? {} : { rewoundTo }) };
      }
    }
  }

  async #read(fromBlock: bigint, toBlock: bigint): Promise<ChainEvent<A>[]> {
    const logs = await this.#source.getLogs({
      address: [...this.#addresses],
      events: this.#events,
      fromBlock,
      toBlock,
      strict: true,
    });
    return logs as unknown as ChainEvent<A>[];
  }

  /** Forgets the heads that are no longer canonical, and the logs past the last one that is. */
  async #rewind(): Promise<bigint | undefined> {
    const before = this.#seen.length;
    for (let tip = this.#seen.at(-1); tip !== undefined; tip = this.#seen.at(-1)) {
      const { number, hash } = tip;
      const block = await this.#source.getBlock({ blockNumber: number }).catch((error: unknown) => {
        if ((error as Error).name === "BlockNotFoundError") return undefined;
        throw error;
      });
      if (block?.hash === hash) break;
      this.#seen.pop();
    }
    if (this.#seen.length === before) return undefined;
    const kept = this.#seen.at(-1)?.number ?? this.#from - 1n;
    this.#logs = this.#logs.filter((log) => log.blockNumber <= kept);
    return kept;
  }

  #remember(seen: Seen): void {
    this.#seen.push(seen);
    if (this.#seen.length > REMEMBERED) this.#seen.shift();
  }
}
