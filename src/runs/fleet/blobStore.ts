import { StoreError } from "./errors.ts";

/**
 * Where the machines of a fleet leave bytes for each other: inputs, tensors, and what tasks gave. Nothing in it is
 * trusted: who reads a tensor compares its root. Names are those of {@link requireName}.
 */
export type BlobStore = {
  /** For messages: without secrets. */
  readonly name: string;
  /**
   * Puts bytes there, all or nothing. What is there already is replaced.
   * @throws StoreFullError, StoreError
   */
  put: (name: string, bytes: Uint8Array) => Promise<void>;
  /**
   * @param maxBytes Larger content counts as spoiled: no memory is allocated for it.
   * @param signal Aborts the read, which then fails.
   * @returns undefined if nothing has the name
   * @throws StoreError, StoreCorruptError
   */
  get: (name: string, maxBytes: number, signal?: AbortSignal) => Promise<Uint8Array | undefined>;
  /** @throws StoreError */
  has: (name: string) => Promise<boolean>;
  /** Deletes what is there, if anything is. @throws StoreError */
  delete: (name: string) => Promise<void>;
};

/** The folders of a store: whatever else lies beside them is not touched. */
export const FOLDERS = ["tensors", "outcomes", "runs", "probes"] as const;

const NAME = new RegExp(`^(?:${FOLDERS.join("|")})(?:/[\\w-][\\w.-]{0,127}){1,2}$`);

/** Returns true if a name is valid in a store: inside a folder of the store, without a way out. */
export const isName = (name: string): boolean => NAME.test(name);

/** @throws StoreError if a name is invalid in a store */
export function requireName(name: string): string {
  if (isName(name)) return name;
  throw new StoreError("a store has no such names");
}
