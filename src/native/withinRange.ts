import { ModuleBuilder } from "../numerics/kernels/assembler/moduleBuilder.ts";
import { betweenFunction } from "../numerics/kernels/between.ts";
import { kernelMemory, MAX_PAGES, PAGE_BYTES } from "../numerics/kernels/memory.ts";

const WORD = 4;
const VECTOR = 16;

type Between = (at: number, vectors: number, low: number, high: number) => number;
let kernel: { bytes: Uint8Array; words: Int32Array; between: Between } | undefined;

function start(): NonNullable<typeof kernel> {
  const builder = new ModuleBuilder();
  builder.importMemory(true, MAX_PAGES);
  builder.define(betweenFunction(), "between");
  const memory = kernelMemory(1);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(builder.encode()), { env: { memory } });
  const { buffer } = memory;
  return { bytes: new Uint8Array(buffer), words: new Int32Array(buffer), between: exports.between as Between };
}

/**
 * Whether float32 values are canonical and from `low` to `high`, which are numbers of float32: four at a time, because
 * all of a job's inputs are looked at.
 * @param values Little-endian bytes.
 */
export function areCanonicalBetween(values: Uint8Array, low: number, high: number): boolean {
  const { bytes, words, between } = (kernel ??= start());
  for (let from = 0; from < values.length; from += PAGE_BYTES) {
    const piece = values.subarray(from, from + PAGE_BYTES);
    const vectors = Math.ceil(piece.length / VECTOR);
    bytes.set(piece);
    // The first value fills up the last vector.
    words.fill(words[0]!, piece.length / WORD, (vectors * VECTOR) / WORD);
    if (between(0, vectors, low, high) === 0) return false;
  }
  return true;
}
