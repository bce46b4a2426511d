import type { Machine, Operation } from "../machine.ts";

/** A step's computation, after all addresses are set. */
export type StepPlan = {
  /** Whether parts of the step can be computed at the same time, in any order; else one thread computes it all. */
  shared: boolean;
  /** The approximate time of a term of a reduction, if it is not {@link TERM_NS}. */
  termNanoseconds?: number;
  /** Work before the first job: puts weights into the form that products need. */
  prepare?: ((machine: Machine) => void) | undefined;
  /** Work after that, when the constants that are read as they are lie in the memory. */
  loaded?: ((machine: Machine) => void) | undefined;
  bind(machine: Machine): Operation;
};

/** The approximate nanoseconds of a term of a reduction in a loop. */
export const TERM_NS = 0.4;

/** The options of plans. */
export type PlanOptions = {
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  minEngineWork: number;
  /**
   * The number of elements of a product's or reduction's terms that are gathered at a time, where its shape can be cut.
   * It bounds memory.
   */
  chunkElements: number;
  threads: number;
  /** The most bytes of one memory. */
  memoryBytes: number;
  /**
   * Whether constants lie in memories of their own, and every constant factor of a product is made piece by piece: for
   * programs that do not find place in one memory.
   */
  spreads: boolean;
};
