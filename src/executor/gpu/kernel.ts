/** A kernel to run: text (see `shaderOf`), parameters in whole vectors with four words, number of invocations. */
export type Kernel = {
  source: string;
  parameters: Uint32Array<ArrayBuffer>;
  invocations: number;
  /** Rough integer operations per invocation. */
  operations: number;
};
