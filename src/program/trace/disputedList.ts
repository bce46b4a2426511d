import { fromHash, sha256, toHash, type Hash } from "../merkle/hash.ts";
import { depthOf } from "../merkle/sizes.ts";
import type { MerkleList } from "../merkle/list.ts";

/**
 * A challenger's knowledge about the other side's tree: nodes seen in reveals, and otherwise nodes from the
 * challenger's own tree. Left of the first difference both trees agree, and therefore every path needed for a step
 * proof can be taken from this list.
 */
export class DisputedList {
  readonly width: number;
  readonly depth: number;
  readonly #own: MerkleList;
  readonly #seen = new Map<string, Hash>();

  constructor(own: MerkleList) {
    this.#own = own;
    this.width = own.width;
    this.depth = depthOf(own.width);
  }

  /** Takes in the 2^hop nodes, left to right, that were revealed under node (`height`, `index`). */
  addReveal(height: number, index: number, children: readonly Hash[]): void {
    const hop = Math.log2(children.length);
    let nodes = [...children];
    for (let h = height - hop; h < height; h++) {
      const firstIndex = index * 2 ** (height - h);
      nodes.forEach((node, k) => this.#seen.set(`${h}:${firstIndex + k}`, node));
      nodes = nodes.flatMap((node, k) =>
        k % 2 === 0 ? [toHash(sha256(fromHash(node), fromHash(nodes[k + 1]!)))] : [],
      );
    }
    this.#seen.set(`${height}:${index}`, nodes[0]!);
  }

  node(height: number, index: number): Hash {
    return this.#seen.get(`${height}:${index}`) ?? this.#own.node(height, index);
  }

  /** The siblings that open node (`height`, `index`) under its ancestor at `toHeight`, lowest first. */
  path(index: number, height = 0, toHeight = this.depth): Hash[] {
    return Array.from({ length: toHeight - height }, (_, k) => this.node(height + k, Math.floor(index / 2 ** k) ^ 1));
  }

  /**
   * The first of the 2^hop nodes under (`height`, `index`) that differs from the challenger's own; undefined if none
   * does.
   */
  firstDifference(height: number, index: number, hop: number): number | undefined {
    const first = index * 2 ** hop;
    for (let k = first; k < first + 2 ** hop; k++) {
      if (this.node(height - hop, k) !== this.#own.node(height - hop, k)) return k;
    }
    return undefined;
  }
}
