import { fromHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { tensorTree } from "../merkle/tensor.ts";
import { RefuteError } from "../../base/errors.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { Program } from "../types.ts";

/** Tensors that were not kept when a job was executed. Executing the job again gives them. */
export class MissingTensorsError extends RefuteError {
  readonly code = "TENSORS_NOT_KEPT";
  readonly steps: readonly number[];
  readonly trace: Trace;

  constructor(trace: Trace, steps: readonly number[]) {
    super(`the tensors of steps ${steps.join(", ")} were not kept; execute the job again and hold them`);
    [this.trace, this.steps] = [trace, steps];
  }
}

/**
 * An execution's commitments (docs/program.md). Only checkpoint tensors are hashed at once; interior trees and the
 * trees of other steps are built when a dispute needs them. The tensors of other steps may be missing until they are
 * held.
 */
export class Trace {
  /** The list of checkpoint tensor roots; its root is the trace root. */
  readonly list: MerkleList;
  readonly #program: Program;
  readonly #tensors: readonly Uint8Array[];
  /** Tensors that were missing at first and have been held since. */
  readonly #held = new Map<number, Uint8Array>();
  readonly #trees: Map<number, MerkleList>;
  readonly #interiors = new Map<number, MerkleList>();

  /**
   * @param tensors One tensor per step, at least for the checkpoints: canonical bytes, little-endian.
   * @param trees The trees of tensors that have been hashed already, by step.
   */
  constructor(program: Program, tensors: readonly Uint8Array[], trees: ReadonlyMap<number, MerkleList> = new Map()) {
    this.#program = program;
    this.#tensors = tensors;
    this.#trees = new Map(trees);
    this.list = MerkleList.fromHashes(program.checkpoints.map(({ step }) => this.tree(step).root));
  }

  /** The root that a worker submits. */
  get root(): Hash {
    return this.list.root;
  }

  /** Roughly the bytes of memory that it takes: tensors, trees and lists. */
  get bytes(): number {
    let sum = this.list.bytes;
    // `forEach` skips holes.
    this.#tensors.forEach(({ length }) => (sum += length));
    for (const { length } of this.#held.values()) sum += length;
    for (const lists of [this.#trees, this.#interiors]) for (const { bytes } of lists.values()) sum += bytes;
    return sum;
  }

  /** @throws MissingTensorsError if it was not kept; RangeError if there is no such step. */
  tensor(step: number): Uint8Array {
    if (!(step in this.#program.steps)) throw new RangeError(`no tensor of step ${step}`);
    const tensor = this.#tensors[step] ?? this.#held.get(step);
    if (tensor === undefined) throw new MissingTensorsError(this, [step]);
    return tensor;
  }

  /** @throws MissingTensorsError, naming every given step with a missing tensor. */
  require(steps: readonly number[]): void {
    const missing = this.missing(steps);
    if (missing.length > 0) throw new MissingTensorsError(this, missing);
  }

  /** Returns the steps, among those given, whose tensors were not kept and are not held. */
  missing(steps: readonly number[]): number[] {
    return steps.filter((step) => this.#tensors[step] === undefined && !this.#held.has(step));
  }

  /** Holds tensors that were missing. */
  hold(tensors: readonly Uint8Array[]): void {
    tensors.forEach((tensor, step) => {
      if (this.#tensors[step] === undefined) this.#held.set(step, tensor);
    });
  }

  /** Releases the tensors that were held, and their trees. */
  release(): void {
    for (const step of this.#held.keys()) this.#trees.delete(step);
    this.#held.clear();
  }

  /** The tree over the chunks of a step's tensor. */
  tree(step: number): MerkleList {
    return getOrAdd(this.#trees, step, () => tensorTree(this.tensor(step)));
  }

  /** Returns the list of tensor roots for steps `[first .. step]`, the range of checkpoint `j`. */
  interior(j: number): MerkleList {
    return getOrAdd(this.#interiors, j, () => {
      const { first, step } = this.#program.checkpoints[j]!;
      this.require(Array.from({ length: step - first + 1 }, (_, k) => first + k));
      const roots = Array.from({ length: step - first + 1 }, (_, k) => fromHash(this.tree(first + k).root));
      return new MerkleList(Buffer.concat(roots));
    });
  }
}
