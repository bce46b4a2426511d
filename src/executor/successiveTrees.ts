import type { MerkleList } from "../program/merkle/list.ts";
import type { HashJob, HashLayout } from "./threads/hashJob.ts";

/**
 * Receives the trees for successive executions of one program, for example a run's items. Each execution overwrites the
 * previous execution: its tensors are compared with the previous tensors, and only the differences are hashed. The
 * checkpoints' tensors and trees therefore hold until the next execution begins to compute.
 */
export class SuccessiveTrees extends Map<number, MerkleList> {
  #job: HashJob | undefined;

  /** Returns the tensors and trees that an execution overwrites; new ones for another executor, or after a failure. */
  over(layout: HashLayout, make: () => HashJob): HashJob {
    // A thread may still be hashing for an execution that failed.
    if (this.#job?.layout !== layout || !this.#job.isHashed) this.#job = make();
    return this.#job;
  }
}
