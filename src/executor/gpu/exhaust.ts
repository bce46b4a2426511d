import { createHash } from "node:crypto";
import { Op, type OpName } from "../../program/operations.ts";
import type { OneAtATime } from "./chooseExecutor.ts";
import type { Gpu } from "./device.ts";
import { CHUNK, CHUNKS, hashOfChunks, writeInputs } from "./allInputs.ts";
import { createGpuExecutor } from "./executor.ts";
import { FUNCTION_HASHES } from "./functionHashes.ts";
import { separateModel, functionStep } from "./selfTest.ts";

/** The functions of one float32; first those with the most inputs whose estimates stay in doubt. */
export const FUNCTIONS = Object.keys(FUNCTION_HASHES[1]!) as OpName[];
/** One input of so many is tried: the strides with known hashes. */
export const STRIDES = Object.keys(FUNCTION_HASHES).map(Number);

/** Inputs of one execution: 4 MB, so that no driver with a time limit loses the GPU. */
const BLOCK = 2 ** 20;

type ExhaustOptions = {
  /** A stride of {@link STRIDES}. */
  stride: number;
  /** The first chunks' hashes, from a stopped run. */
  chunks: readonly string[];
  /** Called after each chunk with its hash. @returns Whether to stop */
  onChunk: (hash: string) => boolean | Promise<boolean>;
};

/**
 * Computes a function of one float32 on a GPU, for all inputs or one of each stride, and compares the results' hash
 * with the definition's.
 * @returns Whether they are equal; undefined if the run was stopped before the end
 * @throws ExecutionDeviceError
 */
export async function exhaustFunction(
  gpu: Gpu,
  name: OpName,
  { stride, chunks: known, onChunk }: ExhaustOptions,
): Promise<boolean | undefined> {
  const chunks = [...known];
  if (chunks.length < CHUNKS) {
    const count = Math.min(BLOCK, CHUNK / stride);
    const executor = await createGpuExecutor(separateModel([functionStep(Op[name], count)]), gpu);
    try {
      while (chunks.length < CHUNKS) {
        chunks.push(await hashOfChunk(executor, { chunk: chunks.length, stride, count }));
        if ((await onChunk(chunks.at(-1)!)) && chunks.length < CHUNKS) return undefined;
      }
    } finally {
      await executor.close();
    }
  }
  return hashOfChunks(chunks) === FUNCTION_HASHES[stride]![name];
}

async function hashOfChunk(
  executor: OneAtATime,
  { chunk, stride, count }: { chunk: number; stride: number; count: number },
): Promise<string> {
  const hash = createHash("sha256");
  const inputs = new Uint32Array(count);
  for (let first = 0; first < CHUNK / stride; first += count) {
    writeInputs(inputs, chunk, first, stride);
    const { tensors } = await executor.run([new Uint8Array(inputs.buffer)]);
    hash.update(tensors[0]!);
  }
  return hash.digest("hex");
}
