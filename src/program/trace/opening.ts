import { toHex, type Hash } from "../merkle/hash.ts";
import type { MerkleList } from "../merkle/list.ts";
import { CHUNK_BYTES } from "../merkle/sizes.ts";
import { chunkOf } from "../merkle/tensor.ts";
import { dtypeBytes, readWord, type Word } from "../../numerics/dtype.ts";
import { evaluateElement } from "../evaluate.ts";
import type { Step } from "../types.ts";

/** Opened chunks of a tensor, formatted like `ChunkOpening` in IStepVerifier.sol. */
export type ChunkOpening = { indices: bigint[]; chunks: `0x${string}`; siblings: Hash[] };

/** A step's input tensor with the tensor's tree. */
export type OpenableTensor = { bytes: Uint8Array; tree: () => MerkleList };

/** Opens chunks of a tensor. @param indices Strictly increasing chunk numbers. */
export function openChunks({ bytes, tree }: OpenableTensor, indices: readonly number[]): ChunkOpening {
  if (indices.length === 0) return { indices: [], chunks: "0x", siblings: [] };
  const chunks = Buffer.concat(indices.map((index) => chunkOf(bytes, index)));
  return { indices: indices.map(BigInt), chunks: toHex(chunks), siblings: tree().multiproof(indices) };
}

/** The openings for one element's proof, and the exact value. */
type ElementOpening = { value: Word; openings: ChunkOpening[] };

/**
 * Evaluates one element of a step and opens every chunk read for the element.
 * @param inputs The step's inputs, in the step's order.
 */
export function openElement(step: Step, element: number, inputs: readonly OpenableTensor[]): ElementOpening {
  const touched = step.inputs.map(() => new Set<number>());
  const value = evaluateElement(step, element, (input, offset) => {
    const { dtype } = step.inputs[input]!;
    touched[input]!.add(Math.floor((offset * dtypeBytes(dtype)) / CHUNK_BYTES));
    return readWord(inputs[input]!.bytes, offset, dtype);
  });
  const openings = inputs.map((tensor, k) =>
    openChunks(
      tensor,
      [...touched[k]!].sort((a, b) => a - b),
    ),
  );
  return { value, openings };
}
