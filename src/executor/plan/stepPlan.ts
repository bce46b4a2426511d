import type { BytesOfTensor } from "../../program/merkle/changes.ts";
import type { Machine, Operation } from "../machine.ts";

/** A step's computation, after all addresses are set. */
export type StepPlan = {
  /** Whether parts of the step can be computed at the same time, in any order; else one thread computes it all. */
  shared: boolean;
  /** The approximate nanoseconds per reduction term, if different from {@link TERM_NS}. */
  termNanoseconds?: number;
  /** Work before the first job: puts weights into the form that products need. */
  prepare?: ((machine: Machine) => void) | undefined;
  /** Work after `prepare`, when the constants that steps read unchanged lie in the memory. */
  loaded?: ((machine: Machine) => void) | undefined;
  /** For a step that changes a tensor in place: the bytes of the tensor that the next execution may change. */
  changes?: (machine: Machine) => readonly BytesOfTensor[];
  bind(machine: Machine): Operation;
};

/** The approximate nanoseconds per reduction term in a loop. */
export const TERM_NS = 0.4;

/** The options of plans. */
export type PlanOptions = {
  /** The minimum term count for computing a matrix product with the engine; 0 gives all products to the engine. */
  minEngineWork: number;
  /**
   * The number of elements of a product's or reduction's terms to gather at a time, if the shape can be cut. This
   * number bounds memory.
   */
  chunkElements: number;
  threads: number;
  /** The most bytes of one memory. */
  memoryBytes: number;
  /**
   * If true, constants lie in separate memories, and every constant factor in a product is made piece by piece: for
   * programs too large for one memory.
   */
  spreads: boolean;
  /**
   * If true, constant factors of a product with few vectors are made piece by piece, from the constants as other steps
   * read them: for steps that execute a block of items.
   */
  packs?: boolean;
};
