import { copyChanges } from "../../program/merkle/changes.ts";
import { chunksOf, levelBytes, Levels, unitsOf } from "../../program/merkle/levels.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Program } from "../../program/types.ts";

/** The offsets of a checkpoint's tensor and of the nodes of its tree, and its first unit of hashing. */
type Place = { at: number; bytes: number; nodes: number; firstUnit: number };

/**
 * The layout of a job's commitments in one buffer: the tensors of checkpoints in their order, each with its tree; then
 * a mark for each of them.
 */
export type HashLayout = { places: readonly Place[]; marks: number; bytes: number; units: number };

/** Bytes for which other threads are woken: hashing them takes some 100 us, several times as long as waking. */
const OFFERED_BYTES = 2 ** 16;

const Mark = {
  /** Any thread hashes the tensor, unit by unit. */
  whole: 0,
  /** The first thread hashes the few chunks that changed. */
  few: 1,
} as const;

/** Of more than this part of a tensor, single chunks take as long to hash as all of it. */
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
  /** The chunks that changed, of checkpoints that are marked as having few. */
  readonly #changed: (readonly number[])[] = [];
  #isHashed = false;
  /** Bytes of tensors that are hashed in full and of which no other thread knows. */
  #unoffered = 0;
  /** Whether the current execution is compared with the one before. */
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

  /** Whether all trees are those of the tensors: not while an execution is put over it, nor after one that failed. */
  get isHashed(): boolean {
    return this.#isHashed;
  }

  /** Begins an execution. */
  begin(): void {
    this.#unoffered = 0;
    this.#compares = this.#isHashed;
    this.#isHashed = false;
  }

  /** Takes over the tensor of a checkpoint. @returns the copy that is hashed */
  put(checkpoint: number, tensor: Uint8Array): Uint8Array {
    const copy = this.#tensor(checkpoint);
    const few = Math.floor(FEW * this.#levels[checkpoint]!.width);
    const changed = this.#compares ? copyChanges(tensor, copy, few) : undefined;
    if (!this.#compares) copy.set(tensor);
    this.#changed[checkpoint] = changed ?? [];
    this.#marks[checkpoint] = changed === undefined ? Mark.whole : Mark.few;
    if (changed === undefined) this.#unoffered += tensor.length;
    return copy;
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

  /** Hashes a unit, unless few chunks of its tensor changed. */
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
