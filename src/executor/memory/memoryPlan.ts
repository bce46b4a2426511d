import { ExecutionMemoryError } from "../errors.ts";

const ALIGNMENT = 64;
/** The bytes that a vector loop may read past the end of a region. */
const MARGIN = 64;
/** The WebAssembly address space minus one page: the ends of regions never wrap around. */
export const MAX_MEMORY_BYTES = 2 ** 32 - 2 ** 16;

/** Bytes that are needed from moment `first` to moment `last`; at `address` once the plan is settled. */
export class Region {
  readonly bytes: number;
  readonly first: number;
  #last: number;
  #address = NaN;
  /** The number of the region's memory: 0 for the computing memory; other memories are read-only. */
  readonly memory: number;

  constructor(bytes: number, first: number, last: number, memory = 0) {
    this.bytes = bytes;
    this.first = first;
    this.#last = last;
    this.memory = memory;
  }

  get last(): number {
    return this.#last;
  }

  get address(): number {
    return this.#address;
  }

  /** Extends the time during which the bytes are needed up to this moment. */
  keepUntil(moment: number): void {
    this.#last = Math.max(this.#last, moment);
  }

  put(address: number): void {
    this.#address = address;
  }

  get size(): number {
    return Math.ceil((this.bytes + MARGIN) / ALIGNMENT) * ALIGNMENT;
  }
}

/** A part of a region: the region is needed while the part is. */
export class PartOfRegion extends Region {
  readonly #of: Region;
  readonly #offset: number;

  constructor(of: Region, offset: number, bytes: number) {
    super(bytes, of.first, of.last, of.memory);
    [this.#of, this.#offset] = [of, offset];
  }

  override get last(): number {
    return this.#of.last;
  }

  override get address(): number {
    return this.#of.address + this.#offset;
  }

  override keepUntil(moment: number): void {
    this.#of.keepUntil(moment);
  }
}

/** The layout of the memory of an execution: regions whose times do not overlap may share bytes. */
export class MemoryPlan {
  readonly #regions: Region[] = [];

  /** Bytes that are needed from moment `first` to `last`, ends included. */
  during(bytes: number, first: number, last: number): Region {
    const region = new Region(bytes, first, last);
    this.#regions.push(region);
    return region;
  }

  permanent(bytes: number): Region {
    return this.during(bytes, -Infinity, Infinity);
  }

  /**
   * Gives every region an address: largest regions first, each at the lowest place free for the region's whole time.
   * @param maxBytes The maximum size of one memory.
   * @returns The bytes of memory needed.
   * @throws ExecutionMemoryError if more than `maxBytes` are needed.
   */
  settle(maxBytes: number): number {
    const placed: Region[] = [];
    let top = ALIGNMENT;
    for (const region of [...this.#regions].sort((a, b) => b.size - a.size)) {
      let address = ALIGNMENT;
      for (const other of placed) {
        if (other.first > region.last || region.first > other.last) continue;
        if (address + region.size <= other.address) break;
        address = Math.max(address, other.address + other.size);
      }
      region.put(address);
      top = Math.max(top, address + region.size);
      insert(placed, region);
    }
    if (top > maxBytes) {
      const [needed, max] = [top, maxBytes].map((bytes) => (bytes / 2 ** 30).toFixed(1));
      throw new ExecutionMemoryError(
        `an execution needs ${needed} GiB of memory at once, at most ${max} can be addressed; ` +
          "give smaller shapes (--shape)",
      );
    }
    return top;
  }
}

/** Memories that are only read from: for constants, when they do not all find place where everything is computed. */
export class FarMemories {
  readonly #maxBytes: number;
  /** The bytes that are taken of each. */
  readonly bytes: number[] = [];

  /** @param maxBytes The most that one memory has. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A place in the first memory that has room, for good. */
  place(bytes: number): Region {
    const { size } = new Region(bytes, -Infinity, Infinity);
    let n = this.bytes.findIndex((taken) => taken + size <= this.#maxBytes);
    if (n < 0) n = this.bytes.push(ALIGNMENT) - 1;
    const region = new Region(bytes, -Infinity, Infinity, n + 1);
    region.put(this.bytes[n]!);
    this.bytes[n]! += size;
    return region;
  }
}

/** Keeps the list in the order of addresses. */
function insert(placed: Region[], region: Region): void {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (placed[middle]!.address <= region.address) low = middle + 1;
    else high = middle;
  }
  placed.splice(low, 0, region);
}
