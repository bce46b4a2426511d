/** The two sides of a comparison of a model with the code. */

/** Calls a function of a test contract; undefined if the call reverts. */
export type Call = (contract: string, name: string, args: readonly unknown[]) => Promise<unknown>;

/** A function's words by its model in Coq and by the code. */
export type Vectors = {
  /** A term of Coq: the words of the model, a list of Z. */
  readonly term: string;
  /** The words of the code. */
  readonly play: (call: Call) => Promise<readonly bigint[]>;
};
