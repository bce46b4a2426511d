import { copyChanges, type BytesOfTensor } from "../../program/merkle/changes.ts";
import { chunksOf, levelBytes, Levels, unitsOf } from "../../program/merkle/levels.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Program } from "../../program/types.ts";

/** The offsets of a checkpoint's tensor and tree nodes, and its first hashing unit's number. */
type Place = { at: number; bytes: number; nodes: number; firstUnit: number };

/**
 * The layout for a job's commitments in one buffer: each checkpoint's tensor in order, followed by its tree; then a
 * mark for each checkpoint.
 */
export type HashLayout = { places: readonly Place[]; marks: number; bytes: number; units: number };

/** The bytes for which other threads are woken: hashing takes some 100 us, several times longer than waking. */
const OFFERED_BYTES = 2 ** 16;

const Mark = {
  /** Any thread hashes the tensor, unit by unit. */
  whole: 0,
  /** The first thread hashes the few chunks that changed. */
  few: 1,
} as const;

/**
 * With a larger changed fraction of a tensor, hashing single chunks takes no less time than hashing the whole tensor.
 */
const FEW = 1 / 4;

const ALIGNMENT = 64;
const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

export function hashLayout({ checkpoints, steps }: Program): HashLayout {
  let [end, units] = [0, 0];
  const places = checkpoints.map(({ step }): Place => {
    const bytes = steps[step]!.count * dtypeBytes(steps[step]!.dtype);
    const place = { at: end, bytes, nodes: end + aligned(bytes), firstUnit: units };
    end = place.nodes + aligned(levelBytes(chunksOf(bytes)));
    units += unitsOf(bytes);
    return place;
  });
  return { places, marks: end, bytes: end + places.length, units };
}

/**
 * The tensors of an execution's checkpoints and their trees. They are hashed in units, which any thread may take once
 * the tensor is computed. A further execution may be put over it: then only the chunks that differ are hashed.
 */
export class HashJob {
  readonly layout: HashLayout;
  readonly buffer: ArrayBufferLike;
  readonly #levels: readonly Levels[];
  readonly #marks: Uint8Array;
  /** The changed chunks, for checkpoints marked with few changes. */
  readonly #changed: (readonly number[])[] = [];
  #isHashed = false;
  /** The checkpoints that were put at once since the execution began. */
  readonly #isPut = new Set<number>();
  /** Bytes in fully hashed tensors that no other thread knows about. */
  #unoffered = 0;
  /** True if the current execution is compared with the previous execution. */
  #compares = false;

  /** @param buffer Room for the layout, shared if other threads are to hash. */
  constructor(layout: HashLayout, buffer: ArrayBufferLike) {
    this.layout = layout;
    this.buffer = buffer;
    this.#marks = new Uint8Array(buffer, layout.marks, layout.places.length);
    this.#levels = layout.places.map(({ bytes, nodes }) => {
      const width = chunksOf(bytes);
      return new Levels(width, new Uint8Array(buffer, nodes, levelBytes(width)));
    });
  }

  /** True if all trees match the tensors: false while an execution overwrites them, and after a failed execution. */
  get isHashed(): boolean {
    return this.#isHashed;
  }

  /** Begins an execution. */
  begin(): void {
    this.#unoffered = 0;
    this.#compares = this.#isHashed;
    this.#isPut.clear();
    this.#isHashed = false;
  }

  /** Takes over the tensor of a checkpoint. @returns the copy that is hashed */
  put(checkpoint: number, tensor: Uint8Array, compares = this.#compares, parts?: readonly BytesOfTensor[]): Uint8Array {
    const copy = this.#tensor(checkpoint);
    const few = Math.floor(FEW * this.#levels[checkpoint]!.width);
    const changed = compares ? copyChanges(tensor, copy, few, parts) : undefined;
    if (!compares) copy.set(tensor);
    this.#changed[checkpoint] = changed ?? [];
    this.#marks[checkpoint] = changed === undefined ? Mark.whole : Mark.few;
    if (changed === undefined) this.#unoffered += tensor.length;
    return copy;
  }

  /**
   * Takes over the tensor of a checkpoint and hashes it at once, in an execution of several items: each checkpoint has
   * the items one over the other. The execution ends with `end`.
   * @param parts The bytes that may differ from the execution's item before, if known.
   * @returns the tensor's root
   */
  putAtOnce(checkpoint: number, tensor: Uint8Array, parts?: readonly BytesOfTensor[]): Uint8Array {
    const levels = this.#levels[checkpoint]!;
    const isPut = this.#isPut.has(checkpoint);
    const copy = this.put(checkpoint, tensor, this.#compares || isPut, isPut ? parts : undefined);
    this.#isPut.add(checkpoint);
    if (this.#isWhole(checkpoint)) {
      for (let unit = 0; unit < unitsOf(tensor.length); unit++) levels.hashUnit(copy, unit);
      levels.hashTop();
    } else levels.rehash(copy, this.#changed[checkpoint]!);
    return levels.at(levels.depth).slice();
  }

  /** Ends an execution of several items: all checkpoints were put at once. */
  end(): void {
    this.#isHashed = true;
  }

  /**
   * The number of units up to and including the checkpoint that was taken over last.
   * @returns undefined if there is not enough to hash since the last time to wake other threads for
   */
  unitsToOffer(checkpoint: number): number | undefined {
    if (this.#unoffered < OFFERED_BYTES) return undefined;
    this.#unoffered = 0;
    return this.layout.places[checkpoint + 1]?.firstUnit ?? this.layout.units;
  }

  /** Hashes a unit, unless few chunks in its tensor changed. */
  hash(unit: number): void {
    let [low, high] = [0, this.layout.places.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.layout.places[middle]!.firstUnit <= unit) low = middle;
      else high = middle;
    }
    if (this.#isWhole(low)) this.#levels[low]!.hashUnit(this.#tensor(low), unit - this.layout.places[low]!.firstUnit);
  }

  /** The trees of the checkpoints, once all units have been hashed. They hold until another execution begins. */
  trees(): MerkleList[] {
    const trees = this.#levels.map((levels, checkpoint) => {
      if (this.#isWhole(checkpoint)) levels.hashTop();
      else levels.rehash(this.#tensor(checkpoint), this.#changed[checkpoint]!);
      return MerkleList.fromLevels(levels);
    });
    this.#isHashed = true;
    return trees;
  }

  #isWhole(checkpoint: number): boolean {
    return this.#marks[checkpoint] === Mark.whole;
  }

  #tensor(checkpoint: number): Uint8Array {
    const { at, bytes } = this.layout.places[checkpoint]!;
    return new Uint8Array(this.buffer, at, bytes);
  }
}
