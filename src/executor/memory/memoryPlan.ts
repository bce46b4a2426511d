import { ExecutionMemoryError } from "../errors.ts";

const ALIGNMENT = 64;
/** A vector loop may read this far past the end of a region. */
const MARGIN = 64;
/** The address space of WebAssembly minus one page, so that the ends of regions do not wrap around. */
const MAX_BYTES = 2 ** 32 - 2 ** 16;

/** Bytes that are needed from moment `first` to moment `last`; at `address` once the plan is settled. */
export class Region {
  readonly bytes: number;
  readonly first: number;
  #last: number;
  #address = NaN;

  constructor(bytes: number, first: number, last: number) {
    this.bytes = bytes;
    this.first = first;
    this.#last = last;
  }

  get last(): number {
    return this.#last;
  }

  get address(): number {
    return this.#address;
  }

  /** Extends the time for which the bytes are needed up to this moment. */
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
   * Gives every region its address: the largest first, each at the lowest place that is free all its time.
   * @returns The bytes of memory needed.
   * @throws ExecutionMemoryError if they are more than WebAssembly can address.
   */
  settle(): number {
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
    if (top > MAX_BYTES) {
      throw new ExecutionMemoryError(
        `an execution needs ${(top / 2 ** 30).toFixed(1)} GiB of memory at once, at most 4 can be addressed; ` +
          "give smaller shapes (--shape)",
      );
    }
    return top;
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
