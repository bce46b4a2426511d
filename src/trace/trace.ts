import { fromHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { tensorTree } from "../merkle/tensor.ts";
import type { Program } from "../program/types.ts";

/**
 * An execution's commitments (DESIGN section 3). Only checkpoint tensors are hashed at once; interior trees and the trees of
 * other steps are built when a dispute asks for them.
 */
export class Trace {
  /** The list of checkpoint tensor roots; its root is the trace root. */
  readonly list: MerkleList;
  readonly #program: Program;
  readonly #tensors: readonly Uint8Array[];
  readonly #trees = new Map<number, MerkleList>();
  readonly #interiors = new Map<number, MerkleList>();

  /** @param tensors One tensor a step: canonical bytes, little-endian. */
  constructor(program: Program, tensors: readonly Uint8Array[]) {
    this.#program = program;
    this.#tensors = tensors;
    this.list = MerkleList.fromHashes(program.checkpoints.map(({ step }) => this.tree(step).root));
  }

  /** What a worker posts. */
  get root(): Hash {
    return this.list.root;
  }

  tensor(step: number): Uint8Array {
    const tensor = this.#tensors[step];
    if (tensor === undefined) throw new RangeError(`no tensor of step ${step}`);
    return tensor;
  }

  /** The tree over the chunks of a step's tensor. */
  tree(step: number): MerkleList {
    return cached(this.#trees, step, () => tensorTree(this.tensor(step)));
  }

  /** The list of tensor roots of steps `[first .. step]` of checkpoint `j`. */
  interior(j: number): MerkleList {
    return cached(this.#interiors, j, () => {
      const { first, step } = this.#program.checkpoints[j]!;
      const roots = Array.from({ length: step - first + 1 }, (_, k) => fromHash(this.tree(first + k).root));
      return new MerkleList(Buffer.concat(roots));
    });
  }
}

function cached<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
