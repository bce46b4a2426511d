import { kernelMemory, PAGE_BYTES } from "../../kernels/memory.ts";
import { bytesOf, type TensorArray } from "../arrays.ts";
import { compileLoops } from "./compile.ts";
import type { LoopSpec } from "./spec.ts";

/**
 * Runs the loops for values `start .. end - 1` of the first digit; results are stored from index 0 of each array of `outs`.
 */
export type Loop = (sources: readonly TensorArray[], outs: readonly TensorArray[], start: number, end: number) => void;

const ALIGNMENT = 64;
const memory = kernelMemory();

/** Compiles a nest of loops for arrays outside of the kernels' memory: they are copied in and out. */
export function compileLoop(spec: LoopSpec): Loop {
  const [loop] = compileLoops([spec]).on(memory);
  const perValue = spec.digits.slice(1).reduce((product, { radix }) => product * radix, 1);
  return (sources, outs, start, end) => {
    let next = 0;
    const place = (array: TensorArray): number => {
      const at = next;
      next += Math.ceil((array.byteLength + 1) / ALIGNMENT) * ALIGNMENT;
      return at;
    };
    const from = sources.map(place);
    const to = outs.map(place);
    const missing = Math.ceil((next - memory.buffer.byteLength) / PAGE_BYTES);
    if (missing > 0) memory.grow(missing);
    const bytes = new Uint8Array(memory.buffer);
    sources.forEach((array, n) => bytes.set(bytesOf(array), from[n]));
    const bases = to.map((at, n) => at - start * perValue * outs[n]!.BYTES_PER_ELEMENT);
    loop!(from, bases, start, end);
    outs.forEach((array, n) => bytesOf(array).set(bytes.subarray(to[n], to[n]! + array.byteLength)));
  };
}
