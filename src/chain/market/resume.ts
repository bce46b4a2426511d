import { keccak256, toHex } from "viem";
import { LogCache, type LogCacheOptions } from "../logCache.ts";
import type { LogStore, StoreState } from "../logStore.ts";
import { protocolAbi } from "./history.ts";
import type { Reader } from "./reader.ts";

/**
 * The place of a market's events on disk, and their owner. The file contains the events not yet forgotten: a process
 * that forgets other events must use another owner or content.
 */
type ResumeOptions = LogCacheOptions;

/** Seconds of the chain's time between two savings at the head: a restart reads so much again. */
const SAVE_SECONDS = 300n;

/** Blocks between two savings while a long chain is read. */
const SAVE_BLOCKS = 50_000n;

/** Keeps the events of a market on disk, for `followMarket`. */
export const resumeFrom =
  (options: ResumeOptions) =>
  (reader: Reader, store: LogStore<typeof protocolAbi>): ResumePoint =>
    new ResumePoint(reader, store, options);

/** A market's events on disk, from which a restart continues. The events are only a cache: the chain decides. */
export class ResumePoint {
  readonly #store: LogStore<typeof protocolAbi>;
  readonly #cache: LogCache<StoreState<typeof protocolAbi>>;
  #isLoaded = false;
  #savedBlock: bigint;
  #savedAt: bigint | undefined;

  constructor(
    { deployment, publicClient, fromBlock }: Reader,
    store: LogStore<typeof protocolAbi>,
    { owner, content, ...options }: ResumeOptions,
  ) {
    const deployed = [String(publicClient.chain.id), deployment.market, deployment.game];
    // The events are kept decoded.
    const abi = keccak256(toHex(JSON.stringify(protocolAbi)));
    this.#store = store;
    this.#savedBlock = fromBlock;
    this.#cache = new LogCache({
      ...options,
      owner: [...deployed, ...owner],
      content: [String(fromBlock), abi, ...content],
    });
  }

  /** Gives the saved events to the store, on the first call. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const state = await this.#cache.load();
    if (state === undefined) return;
    this.#store.restore(state);
    this.#savedBlock = this.#lastBlock;
  }

  /** To be called while a long chain is read. */
  async saveOnTheWay(): Promise<void> {
    if (this.#lastBlock >= this.#savedBlock + SAVE_BLOCKS) await this.#save();
  }

  /** To be called when everything up to the head is read. @param now The head's time, unix seconds. */
  async saveAtHead(now: bigint): Promise<void> {
    if (this.#savedAt !== undefined && now < this.#savedAt + SAVE_SECONDS) return;
    this.#savedAt = now;
    await this.#save();
  }

  async #save(): Promise<void> {
    this.#savedBlock = this.#lastBlock;
    await this.#cache.save(this.#store.state);
  }

  get #lastBlock(): bigint {
    return this.#store.state.seen.at(-1)?.number ?? this.#savedBlock;
  }
}
