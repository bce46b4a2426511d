import type { MerkleList } from "../program/merkle/list.ts";
import type { HashJob, HashLayout } from "./threads/hashJob.ts";

/**
 * Receives the trees of executions of one program that follow each other, such as the items of a run. Each execution is
 * put over the one before: its tensors are compared with those, and only what differs is hashed. So the tensors of
 * checkpoints and the trees of an execution hold until the next one begins to compute.
 */
export class SuccessiveTrees extends Map<number, MerkleList> {
  #job: HashJob | undefined;

  /** The tensors and trees that an execution is put over; made anew for another executor, or after a failure. */
  over(layout: HashLayout, make: () => HashJob): HashJob {
    // Of an execution that failed, a thread may still be hashing.
    if (this.#job?.layout !== layout || !this.#job.isHashed) this.#job = make();
    return this.#job;
  }
}
