import type { BlobStore } from "../../src/runs/fleet/blobStore.ts";
import { StoreFullError } from "../../src/runs/fleet/errors.ts";

/** A store in memory, which can be spoiled and have no room. */
export class MemoryStore implements BlobStore {
  readonly name = "the store of a test";
  readonly blobs = new Map<string, Uint8Array>();
  isFull = false;

  put(name: string, bytes: Uint8Array): Promise<void> {
    if (this.isFull) return Promise.reject(new StoreFullError(`${this.name} has no room`));
    this.blobs.set(name, Uint8Array.from(bytes));
    return Promise.resolve();
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.blobs.get(name));
  }

  has(name: string): Promise<boolean> {
    return Promise.resolve(this.blobs.has(name));
  }

  delete(name: string): Promise<void> {
    this.blobs.delete(name);
    return Promise.resolve();
  }
}
