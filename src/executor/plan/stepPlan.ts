import type { Machine, Operation } from "../machine.ts";

/** How a step is computed, once everything has its address. */
export type StepPlan = {
  /** Whether its parts can be computed at the same time, in any order; else one thread does it all. */
  shared: boolean;
  /** A rough figure for a term of a reduction, where it is not {@link TERM_NS}. */
  termNanoseconds?: number;
  /** Work before the first job: weights in the form that products want. */
  prepare?: ((machine: Machine) => void) | undefined;
  bind(machine: Machine): Operation;
};

/** What a term of a reduction takes in a loop, roughly. */
export const TERM_NS = 0.4;

/** What plans depend on besides the program. */
export type PlanOptions = {
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  minEngineWork: number;
  /**
   * Elements of a product's or reduction's terms that are gathered at a time, where its shape allows to cut: bounds
   * memory.
   */
  chunkElements: number;
  threads: number;
};
