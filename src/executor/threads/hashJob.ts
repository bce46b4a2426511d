import { chunksOf, levelBytes, Levels, unitsOf } from "../../merkle/levels.ts";
import { MerkleList } from "../../merkle/list.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Program } from "../../program/types.ts";

/** The offsets of a checkpoint's tensor and of the nodes of its tree, and its first unit of hashing. */
type Place = { at: number; bytes: number; nodes: number; firstUnit: number };

/** The layout of a job's commitments in one buffer: the tensors of checkpoints in their order, each with its tree. */
export type HashLayout = { places: readonly Place[]; bytes: number; units: number };

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
  return { places, bytes: end, units };
}

/**
 * The trees of one execution's checkpoints. They are hashed in units, which any thread may take once the tensor is
 * computed.
 */
export class HashJob {
  readonly layout: HashLayout;
  readonly buffer: ArrayBufferLike;
  readonly #levels: readonly Levels[];

  /** @param buffer Room for the layout, shared if other threads are to hash. */
  constructor(layout: HashLayout, buffer: ArrayBufferLike) {
    this.layout = layout;
    this.buffer = buffer;
    this.#levels = layout.places.map(({ bytes, nodes }) => {
      const width = chunksOf(bytes);
      return new Levels(width, new Uint8Array(buffer, nodes, levelBytes(width)));
    });
  }

  /** The bytes where the tensor of a checkpoint is written. */
  tensor(checkpoint: number): Uint8Array {
    const { at, bytes } = this.layout.places[checkpoint]!;
    return new Uint8Array(this.buffer, at, bytes);
  }

  /** The number of units up to and including a checkpoint. */
  unitsUpTo(checkpoint: number): number {
    return this.layout.places[checkpoint + 1]?.firstUnit ?? this.layout.units;
  }

  /** Hashes a unit. */
  hash(unit: number): void {
    let [low, high] = [0, this.layout.places.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.layout.places[middle]!.firstUnit <= unit) low = middle;
      else high = middle;
    }
    this.#levels[low]!.hashUnit(this.tensor(low), unit - this.layout.places[low]!.firstUnit);
  }

  /** The tree of a checkpoint whose units have been hashed. */
  tree(checkpoint: number): MerkleList {
    const levels = this.#levels[checkpoint]!;
    levels.hashTop();
    return MerkleList.fromLevels(levels);
  }
}
