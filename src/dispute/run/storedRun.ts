import { bytesOf } from "../../program/trace/runInputs.ts";
import type { Carried } from "../../program/trace/runItems.ts";
import type { Program } from "../../program/types.ts";
import { rootBytes } from "./runRoots.ts";

/**
 * The number of a run's states kept on disk, evenly spread: a game's item is executed again from the nearest state. A
 * run of 65,536 items executes at most 257 items again.
 */
const ON_DISK = 256;
/** The number of states kept in memory if the disk has no room, or without a folder. */
const IN_MEMORY = 16;

/** Returns the number of items between two states on disk. */
export const snapshotInterval = (items: number): number => Math.ceil(items / ON_DISK);

/** Where the files of a run lie. */
export type RunFiles = {
  /** The names of the files that are there. */
  names: () => readonly string[];
  /**
   * Reads a file.
   * @param bytes The expected length.
   * @returns undefined if the file is missing or damaged
   */
  read: (name: string, bytes: number) => Promise<Uint8Array | undefined>;
  /**
   * Writes a file.
   * @param isSpare True if the file must leave room for reservations of other runs and for the run's other files.
   * @returns true if the file exists now
   */
  write: (name: string, parts: readonly Uint8Array[], isSpare: boolean) => Promise<boolean>;
};

/** The file with the roots of a run's items and outputs. */
export const ROOTS = "roots";

/**
 * The part of a run kept after the execution: the items' and outputs' roots, and the initial states of some items.
 * Stored on disk, or in memory if the disk has no room.
 */
export class StoredRun {
  readonly #items: number;
  readonly #rootBytes: number;
  readonly #files: RunFiles | undefined;
  /** The carried inputs, and the bytes of each. */
  readonly #carried: readonly { input: number; bytes: number }[];
  readonly #states = new Map<number, Carried>();
  #roots: Uint8Array | undefined;

  /** @param files Absent where nothing is kept on disk. */
  constructor(program: Pick<Program, "inputs" | "outputs" | "each">, items: number, files?: RunFiles) {
    [this.#items, this.#files] = [items, files];
    this.#rootBytes = rootBytes(program, items);
    this.#carried = program.inputs.flatMap((input, k) =>
      input.source?.kind === "carried" ? [{ input: k, bytes: bytesOf(input) }] : [],
    );
  }

  /** Whether items take anything from the items before. */
  get isCarried(): boolean {
    return this.#carried.length > 0;
  }

  /** Bytes of memory that it takes. */
  get bytes(): number {
    let sum = this.#roots?.length ?? 0;
    for (const state of this.#states.values()) for (const { length } of state.values()) sum += length;
    return sum;
  }

  /** Returns the bytes that `RootsOfItems` collected over all items, if known. */
  async readRoots(): Promise<Uint8Array | undefined> {
    const roots = this.#roots ?? (await this.#files?.read(ROOTS, this.#rootBytes));
    return roots?.length === this.#rootBytes ? roots : undefined;
  }

  async writeRoots(roots: Uint8Array): Promise<void> {
    if (this.#items === 1 || (await this.#files?.write(ROOTS, [roots], false)) === true) return;
    this.#roots = roots;
  }

  /**
   * Takes note of what an item begins with, to be called for the items in their order. The tensors may change once it
   * is done.
   */
  async pass(item: number, state: Carried): Promise<void> {
    if (item === 0 || !this.isCarried) return;
    const isDue = item % snapshotInterval(this.#items) === 0;
    const isFull = isDue && this.#files !== undefined && !(await this.#write(item, state, false));
    if ((isFull || this.#files === undefined) && this.#isDueInMemory(item))
      this.#states.set(item, new Map([...state].map(([input, bytes]) => [input, new Uint8Array(bytes)])));
  }

  /** Keeps a disputed item's initial state, if the disk has room: each move may execute the item again. */
  async keep(item: number, state: Carried): Promise<void> {
    if (item > 0 && this.isCarried && !this.#kept().has(item)) await this.#write(item, state, true);
  }

  /**
   * Returns the nearest item, at or before the given item, with a stored initial state.
   * @param after Only items after this number count.
   */
  async nearest(item: number, after: number): Promise<{ from: number; carried: Carried } | undefined> {
    const known = [...this.#kept()].filter((at) => at <= item && at > after).sort((a, b) => b - a);
    for (const from of known) {
      const carried = this.#states.get(from) ?? (await this.#read(from));
      if (carried !== undefined) return { from, carried };
    }
    return undefined;
  }

  /**
   * Writes the states held in memory for lack of disk room, until the disk is full.
   * @returns true if nothing remains in memory
   */
  async flush(): Promise<boolean> {
    if (this.#files === undefined) return true;
    for (const [item, state] of this.#states) {
      if (!(await this.#write(item, state, false))) return false;
      this.#states.delete(item);
    }
    if (this.#roots !== undefined && (await this.#files.write(ROOTS, [this.#roots], false))) this.#roots = undefined;
    return this.#roots === undefined;
  }

  /** Releases the states in memory. */
  release(): void {
    this.#states.clear();
  }

  #isDueInMemory(item: number): boolean {
    const interval = Math.ceil(this.#items / IN_MEMORY);
    const [latest = 0] = [...this.#states.keys()].slice(-1);
    return Math.floor(item / interval) > Math.floor(latest / interval);
  }

  #kept(): Set<number> {
    const onDisk = (this.#files?.names() ?? []).filter((name) => name !== ROOTS).map(Number);
    return new Set([...onDisk, ...this.#states.keys()]);
  }

  #write(item: number, state: Carried, isSpare: boolean): Promise<boolean> {
    const parts = this.#carried.map(({ input }) => state.get(input)!);
    return this.#files?.write(String(item), parts, isSpare) ?? Promise.resolve(false);
  }

  async #read(item: number): Promise<Carried | undefined> {
    const length = this.#carried.reduce((sum, { bytes }) => sum + bytes, 0);
    const file = await this.#files?.read(String(item), length);
    const carried = new Map<number, Uint8Array>();
    let at = 0;
    for (const { input, bytes } of this.#carried) carried.set(input, file?.subarray(at, (at += bytes)) ?? NOTHING);
    return file?.length === at ? carried : undefined;
  }
}

const NOTHING = new Uint8Array(0);
