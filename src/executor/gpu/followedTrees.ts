import { chunksOf, levelBytes, Levels } from "../../program/merkle/levels.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { CHUNK_BYTES, HASH_BYTES } from "../../program/merkle/sizes.ts";
import type { SuccessiveTrees } from "../successiveTrees.ts";
import type { Session } from "./session.ts";

/** A checkpoint's places on the GPU: the tensor, the nodes, and the leaves' marks. */
type Place = { bytes: number; tensor: number; nodes: number; marks: number };

/** Parts of memory with a smaller distance are read together. */
const GAP_BYTES = 2_048;

type Copy = { tensor: Uint8Array; nodes: Uint8Array<ArrayBuffer>; marks: Uint32Array<ArrayBuffer> };

/** A changed part in a copy, and the place on the GPU. */
type Change = { address: number; to: Uint8Array; from: Uint8Array };

/**
 * Checkpoints' tensors and trees after successive executions. The GPU keeps both and marks changed chunks: the GPU
 * hashes nothing else, and nothing else is read.
 */
export class FollowedTrees {
  readonly #places: readonly Place[];
  /** The receiver for the last execution. Another receiver gets separate memory. */
  #owner: SuccessiveTrees | undefined;
  #copies: readonly Copy[] = [];

  constructor(places: readonly Place[]) {
    this.#places = places;
  }

  /** Begins an execution. @returns true if reading the changes since the last execution is enough */
  begin(trees: SuccessiveTrees): boolean {
    if (this.#owner === trees) {
      this.#owner = undefined;
      return true;
    }
    this.#owner = undefined;
    this.#copies = this.#places.map(({ bytes }) => ({
      tensor: new Uint8Array(bytes),
      nodes: new Uint8Array(levelBytes(chunksOf(bytes))),
      marks: new Uint32Array(chunksOf(bytes)),
    }));
    return false;
  }

  /**
   * Whether the GPU keeps a checkpoint's tensor with these bytes. Ask only between a {@link begin} that returned true
   * and the execution's end.
   */
  holds(checkpoint: number, tensor: Uint8Array): boolean {
    return Buffer.compare(this.#copies[checkpoint]!.tensor, tensor) === 0;
  }

  /** The next execution is read as a whole. */
  forget(): void {
    this.#owner = undefined;
  }

  /** Asks for a checkpoint's marks, or for the whole checkpoint. */
  async ask(session: Session, checkpoint: number, follows: boolean): Promise<void> {
    const place = this.#places[checkpoint]!;
    const { tensor, nodes, marks } = this.#copies[checkpoint]!;
    if (follows) return session.read(place.marks, new Uint8Array(marks.buffer));
    await session.read(place.tensor, tensor);
    await session.read(place.nodes, nodes);
  }

  /** Reads marked chunks, once the marks have been read. No copy changes before everything has been read. */
  async readChanges(session: Session): Promise<void> {
    const changes = this.#places.flatMap((place, j) => changesOf(place, this.#copies[j]!));
    for (const { address, from } of changes) await session.read(address, from);
    await session.finish();
    for (const { to, from } of changes) to.set(from);
  }

  /** Ends an execution. @returns the checkpoints' tensors and trees, valid until the owner's next execution */
  end(trees: SuccessiveTrees): { tensor: Uint8Array; tree: MerkleList }[] {
    this.#owner = trees;
    return this.#copies.map(({ tensor, nodes }) => ({
      tensor,
      tree: MerkleList.fromLevels(new Levels(chunksOf(tensor.length), nodes)),
    }));
  }
}

function changesOf(place: Place, { tensor, nodes, marks }: Copy): Change[] {
  let changed = [...marks.keys()].filter((chunk) => marks[chunk] !== 0);
  if (changed.length === 0) return [];
  const changes = partsOf(changed, CHUNK_BYTES, place.tensor, tensor);
  const levels = new Levels(marks.length, nodes);
  let address = place.nodes;
  for (let height = 0; height <= levels.depth; height++) {
    const level = levels.at(height);
    changes.push(...partsOf(changed, HASH_BYTES, address, level));
    changed = [...new Set(changed.map((index) => index >>> 1))];
    address += level.length;
  }
  return changes;
}

/** Returns the parts with changed items; near parts are joined. */
function partsOf(changed: readonly number[], size: number, address: number, bytes: Uint8Array): Change[] {
  const parts: [number, number][] = [];
  for (const index of changed) {
    const [first, end] = [index * size, Math.min((index + 1) * size, bytes.length)];
    const last = parts.at(-1);
    if (last !== undefined && first - last[1] < GAP_BYTES) last[1] = end;
    else parts.push([first, end]);
  }
  return parts.map(([first, end]) => ({
    ...{ address: address + first, to: bytes.subarray(first, end) },
    from: new Uint8Array(end - first),
  }));
}
