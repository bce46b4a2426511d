import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex, LocalAccount } from "viem";
import { getOrAdd } from "../getOrAdd.ts";
import { KERNEL_HASHES } from "../kernels/kernelHashes.ts";
import type { Logger } from "../player/log.ts";
import { ROOTS } from "../player/storedRun.ts";
import type { RunShare } from "../player/storedRuns.ts";
import type { BlobStore } from "./blobStore.ts";

/** What is signed to get the key of the codes: the same signature gives the same key on another machine. */
const MESSAGE = "Refute: key of the snapshots of runs";
const CODE_BYTES = 32;
/** The name of what lists a run's others. */
const INDEX = "index";
const MAX_INDEX_BYTES = 2 ** 20;
const KERNELS = JSON.stringify(KERNEL_HASHES);
/** Files that wait to be written, beside the roots: states that come faster are left out, and executed again. */
const MAX_WAITING = 2;
/** How long something is read: then it is executed again. */
const READ_MS = 60_000;

/**
 * Snapshots of runs in the store of a fleet, so that another machine with the account's key goes on where this one
 * ended: nothing is listed before a run's roots are there, which come last. What is read there has a code by a key that
 * only the account can make: whoever else may write into the store cannot plant a state.
 */
export class SharedRuns implements RunShare {
  readonly #store: BlobStore;
  readonly #key: Buffer;
  readonly #log: Logger;
  /** What was put there by this process, of runs whose roots are not. */
  readonly #names = new Map<Hex, Set<string>>();
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;

  private constructor(store: BlobStore, key: Buffer, log: Logger) {
    [this.#store, this.#key, this.#log] = [store, key, log];
  }

  /** @returns undefined if the account does not sign messages */
  static async open(store: BlobStore, account: LocalAccount, log: Logger): Promise<SharedRuns | undefined> {
    try {
      const signature = await account.signMessage({ message: MESSAGE });
      return new SharedRuns(store, createHash("sha256").update(signature).digest(), log);
    } catch (error) {
      log.warn({ reason: (error as Error).message }, "snapshots of runs are kept on this machine only");
      return undefined;
    }
  }

  async names(id: Hex): Promise<readonly string[]> {
    const index = await this.read(id, INDEX, MAX_INDEX_BYTES);
    if (index === undefined) return [];
    return JSON.parse(new TextDecoder().decode(index)) as string[];
  }

  async read(id: Hex, name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    try {
      const late = sleep(READ_MS, undefined, { ref: false });
      const file = await Promise.race([this.#store.get(nameOf(id, name), maxBytes + CODE_BYTES), late]);
      const body = file?.subarray(CODE_BYTES);
      if (body === undefined || file!.length < CODE_BYTES) return undefined;
      if (timingSafeEqual(this.#codeOf(id, name, body), file!.subarray(0, CODE_BYTES))) return body;
      throw new Error(`${name} of job ${id} has not the code of this account`);
    } catch (error) {
      this.#log.warn({ job: id, reason: (error as Error).message }, "a snapshot of a run cannot be read");
      return undefined;
    }
  }

  write(id: Hex, name: string, parts: readonly Uint8Array[]): void {
    if (name !== ROOTS && this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    const body = Buffer.concat(parts);
    this.#writing = this.#writing
      .then(() => this.#put(id, name, body))
      .catch((error: unknown) => {
        this.#log.warn({ job: id, reason: (error as Error).message }, "a snapshot of a run cannot be shared");
      })
      .finally(() => this.#waiting--);
  }

  /** Resolves when all is written that was to be. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #put(id: Hex, name: string, body: Uint8Array): Promise<void> {
    await this.#store.put(nameOf(id, name), this.#withCode(id, name, body));
    const names = getOrAdd(this.#names, id, () => new Set<string>());
    names.add(name);
    if (name !== ROOTS) return;
    const index = new TextEncoder().encode(JSON.stringify([...names]));
    await this.#store.put(nameOf(id, INDEX), this.#withCode(id, INDEX, index));
    this.#names.delete(id);
  }

  #withCode(id: Hex, name: string, body: Uint8Array): Uint8Array {
    return Buffer.concat([this.#codeOf(id, name, body), body]);
  }

  #codeOf(id: Hex, name: string, body: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(`${KERNELS}/${id}/${name}\n`).update(body).digest();
  }
}

const nameOf = (id: Hex, name: string): string => `runs/${id}/${name}`;
