import { createHash } from "node:crypto";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { separateModel, functionStep } from "../../../src/executor/gpu/selfTest.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { Checkpoint } from "./checkpoint.ts";
import { CHUNK, CHUNKS, writeInputs, type ChunkReport } from "./chunks.ts";
import { hashOfChunks } from "./exhaust.ts";
import { readTable } from "./table.ts";

/** Inputs of one execution: 4 MB, so that no driver with a time limit loses the GPU. */
const BLOCK = 2 ** 20;

/** The files that decide a GPU's bits. */
const SOURCES = ["src/executor/gpu/**/*.ts"];

type Report = Pick<ChunkReport, "chunk" | "hash">;

type OnGpuOptions = {
  gpu: Gpu;
  names: readonly OpName[];
  /** One of so many inputs: a stride of the table, or every result counts as wrong. */
  stride: number;
  /** Where reports are kept, by GPU with driver and by sources. */
  folder: string;
  /** Called after each function. @param seconds Computed in this run. */
  onFunction: (name: OpName, isRight: boolean, seconds: number) => void;
};

/**
 * Computes functions of one float32 on a GPU, and compares the hash of all results with the table's: the results of the
 * definition. A stopped run goes on with the next chunk.
 * @throws ExecutionDeviceError
 */
export async function exhaustOnGpu({ gpu, names, stride, folder, onFunction }: OnGpuOptions): Promise<void> {
  const rows = readTable()[stride] ?? {};
  const count = Math.min(BLOCK, CHUNK / stride);
  for (const name of names) {
    const began = performance.now();
    const origin = { sources: SOURCES, machine: gpu.facts.name };
    const checkpoint = new Checkpoint<Report>(folder, name, stride, origin);
    const known = checkpoint.read();
    const executor = await createGpuExecutor(separateModel([functionStep(Op[name], count)]), gpu);
    const reports: Report[] = [];
    try {
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const report = known.get(chunk) ?? { chunk, hash: await hashOfChunk(executor, { chunk, stride, count }) };
        if (!known.has(chunk)) checkpoint.add([report]);
        reports.push(report);
      }
    } finally {
      await executor.close();
    }
    onFunction(name, hashOfChunks(reports) === rows[name]?.hash, Math.round((performance.now() - began) / 1_000));
  }
}

async function hashOfChunk(
  executor: Awaited<ReturnType<typeof createGpuExecutor>>,
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
