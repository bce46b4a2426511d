/** A kernel to run: its text (see `shaderOf`), the parameters in whole vectors of four, and the number of invocations. */
export type Kernel = {
  source: string;
  parameters: Uint32Array<ArrayBuffer>;
  invocations: number;
  /** Roughly the integer operations of an invocation. */
  operations: number;
};
