import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex, LocalAccount } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { KERNEL_HASHES } from "../../numerics/kernels/kernelHashes.ts";
import type { Logger } from "../../base/log.ts";
import { ROOTS } from "../../dispute/run/storedRun.ts";
import type { RunShare } from "../storedRuns.ts";
import type { BlobStore } from "./blobStore.ts";
import { StoreCorruptError } from "./errors.ts";

/** The message to sign for the codes' key. The same signature gives the same key on another machine. */
const MESSAGE = "Refute: key of the snapshots of runs";
const LOCAL = "snapshots of runs are kept on this machine only";
const CODE_BYTES = 32;
/** The name of what lists a run's others. */
const INDEX = "index";
const MAX_INDEX_BYTES = 2 ** 20;
const KERNELS = JSON.stringify(KERNEL_HASHES);
/**
 * Number of files that may wait for writing, in addition to the roots. States that come faster are left out, and
 * executed again later.
 */
const MAX_WAITING = 2;
/** How long something is read: then it is executed again. */
const READ_MS = 60_000;

/**
 * Snapshots of runs in a fleet's store: another machine with the account's key can continue after this machine ended.
 * Roots are written last, and nothing is listed before a run's roots are present. Each file has a code under a key that
 * only the account, or a holder of the operator's secret, can make. Others with write access to the store cannot plant
 * a state. Accounts have separate names and keys: a worker and a watcher of one fleet keep their runs side by side.
 */
export class SharedRuns implements RunShare {
  readonly #store: BlobStore;
  readonly #owner: Address;
  readonly #key: Buffer;
  readonly #log: Logger;
  /** Names of the files stored by this process, for runs without stored roots. */
  readonly #names = new Map<Hex, Set<string>>();
  /** The number of pending deletions for a run's files. */
  readonly #deleting = new Map<Hex, number>();
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  private constructor(store: BlobStore, owner: Address, key: Buffer, log: Logger) {
    [this.#store, this.#owner, this.#key, this.#log] = [store, owner, key, log];
  }

  /**
   * @param secret The secret of the operator's machines, from which the key comes; otherwise the key comes from a
   *   signature.
   * @returns undefined without a key: the account signs no messages, or gives another signature each time
   */
  static async open(
    store: BlobStore,
    account: LocalAccount,
    log: Logger,
    secret?: Uint8Array,
  ): Promise<SharedRuns | undefined> {
    const { address } = account;
    if (secret !== undefined)
      return new SharedRuns(
        store,
        address,
        createHmac("sha256", secret)
          .update(MESSAGE + address)
          .digest(),
        log,
      );
    try {
      const signature = await account.signMessage({ message: MESSAGE });
      // A signer with random nonces would give each machine, and each start, another key.
      if (signature === (await account.signMessage({ message: MESSAGE })))
        return new SharedRuns(store, address, createHash("sha256").update(signature).digest(), log);
      log.warn({ reason: "the signer gives another signature each time: use --snapshot-key" }, LOCAL);
    } catch (error) {
      log.warn({ reason: (error as Error).message }, LOCAL);
    }
    return undefined;
  }

  async names(id: Hex): Promise<readonly string[] | "unread"> {
    if (this.#deleting.has(id)) return [];
    const index = await this.read(id, INDEX, MAX_INDEX_BYTES);
    if (index === "unread") return index;
    return index === undefined ? [] : (JSON.parse(new TextDecoder().decode(index)) as string[]);
  }

  async read(id: Hex, name: string, maxBytes: number): Promise<Uint8Array | "unread" | undefined> {
    const warn = (reason: string): void => this.#log.warn({ job: id, reason }, "a snapshot of a run cannot be read");
    const stop = new AbortController();
    try {
      const late = sleep(READ_MS, "late" as const, { ref: false });
      const asked = this.#store.get(this.#nameOf(id, name), maxBytes + CODE_BYTES, stop.signal);
      const file = await Promise.race([asked, late]);
      if (file === "late") throw new Error(`${this.#store.name} takes longer than ${READ_MS / 1_000} s`);
      if (file === undefined || file.length < CODE_BYTES) return undefined;
      const body = file.subarray(CODE_BYTES);
      if (timingSafeEqual(this.#codeOf(id, name, body), file.subarray(0, CODE_BYTES))) return body;
      warn(`${name} of job ${id} has not the code of this account`);
      return undefined;
    } catch (error) {
      warn((error as Error).message);
      return error instanceof StoreCorruptError ? undefined : "unread";
    } finally {
      stop.abort();
    }
  }

  write(id: Hex, name: string, parts: readonly Uint8Array[]): void {
    if (name !== ROOTS && this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    const body = Buffer.concat(parts);
    this.#next(id, "a snapshot of a run cannot be shared", () =>
      this.#put(id, name, body).finally(() => this.#waiting--),
    );
  }

  delete(id: Hex): void {
    this.#deleting.set(id, (this.#deleting.get(id) ?? 0) + 1);
    this.#next(id, "snapshots of a run cannot be deleted in the store", () => this.#delete(id));
  }

  /** Resolves after all pending writes and deletions. */
  settled(): Promise<void> {
    return this.#writing;
  }

  /** Waits for the same, but at most so many milliseconds. Writes not begun by then are dropped. */
  async close(patienceMs: number): Promise<void> {
    const settled = new AbortController();
    const late = sleep(patienceMs, undefined, { signal: settled.signal }).catch(() => undefined);
    await Promise.race([this.#writing, late]);
    settled.abort();
    this.#isClosed = true;
  }

  /** Does something after all that was to be done before. */
  #next(id: Hex, problem: string, action: () => Promise<void>): void {
    this.#writing = this.#writing.then(action).catch((error: unknown) => {
      this.#log.warn({ job: id, reason: (error as Error).message }, problem);
    });
  }

  /** If a deletion fails, this process still ignores the file. Without the index, nobody looks for states. */
  async #delete(id: Hex): Promise<void> {
    this.#names.delete(id);
    for (const name of [INDEX, ROOTS]) await this.#store.delete(this.#nameOf(id, name));
    const left = this.#deleting.get(id)! - 1;
    if (left === 0) this.#deleting.delete(id);
    else this.#deleting.set(id, left);
  }

  async #put(id: Hex, name: string, body: Uint8Array): Promise<void> {
    if (this.#isClosed) return;
    await this.#store.put(this.#nameOf(id, name), this.#withCode(id, name, body));
    const names = getOrAdd(this.#names, id, () => new Set<string>());
    names.add(name);
    if (name !== ROOTS) return;
    const index = new TextEncoder().encode(JSON.stringify([...names]));
    await this.#store.put(this.#nameOf(id, INDEX), this.#withCode(id, INDEX, index));
    this.#names.delete(id);
  }

  #withCode(id: Hex, name: string, body: Uint8Array): Uint8Array {
    return Buffer.concat([this.#codeOf(id, name, body), body]);
  }

  #codeOf(id: Hex, name: string, body: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(`${KERNELS}/${id}/${name}\n`).update(body).digest();
  }

  #nameOf(id: Hex, name: string): string {
    return `runs/${this.#owner.toLowerCase()}-${id}/${name}`;
  }
}
