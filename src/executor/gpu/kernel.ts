import { shaderOf } from "./wgsl/library.ts";

/** A kernel to run: text (see `shaderOf`), parameters in whole vectors with four words, number of invocations. */
export type Kernel = {
  source: string;
  parameters: Uint32Array<ArrayBuffer>;
  invocations: number;
  /** Rough integer operations per invocation. */
  operations: number;
};

/** Makes a kernel from a text and the numbers that the text reads as parameters. */
export function kernelOf(text: string, parameters: readonly number[], invocations: number, operations: number): Kernel {
  const words = new Uint32Array(4 * Math.ceil(parameters.length / 4));
  words.set(parameters);
  return { source: shaderOf(text), parameters: words, invocations, operations };
}
