import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { CHUNK, CHUNKS, writeInputs } from "./chunks.ts";
import { readTable } from "./table.ts";

/** Inputs of one execution: 4 MB, so that no driver with a time limit loses the GPU. */
const BLOCK = 2 ** 20;

const ROOT = resolve(import.meta.dirname, "../../..");
/** The files that decide a GPU's bits. */
const SOURCES = "src/executor/gpu/**/*.ts";

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
  const block = Math.min(BLOCK, CHUNK / stride);
  const known = new KnownChunks(folder, gpu.facts.name);
  for (const name of names) {
    const began = performance.now();
    const executor = await createGpuExecutor(modelOf(name, block), gpu);
    const all = createHash("sha256");
    try {
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const key = `${name} ${stride} ${chunk}`;
        const hash = known.get(key) ?? (await hashOfChunk(executor, { chunk, stride, block }));
        known.add(key, hash);
        all.update(hash, "hex");
      }
    } finally {
      await executor.close();
    }
    onFunction(name, all.digest("hex") === rows[name]?.hash, Math.round((performance.now() - began) / 1_000));
  }
}

async function hashOfChunk(
  executor: Awaited<ReturnType<typeof createGpuExecutor>>,
  { chunk, stride, block }: { chunk: number; stride: number; block: number },
): Promise<string> {
  const hash = createHash("sha256");
  const inputs = new Uint32Array(block);
  for (let first = 0; first < CHUNK / stride; first += block) {
    writeInputs(inputs, chunk, first, stride);
    const { tensors } = await executor.run([new Uint8Array(inputs.buffer)]);
    hash.update(tensors[0]!);
  }
  return hash.digest("hex");
}

/** A program of one step: the function of each element. */
function modelOf(name: OpName, count: number): CompiledModel {
  const dtype = DType.float32;
  const axes = [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
  const step: Step = {
    ...{ dtype, count, outDigits: [count], redDigits: [], reduce: Reduce.none },
    inputs: [{ kind: "input", index: 0, dtype, count }],
    ...{ constants: [], termReads: [], term: { code: [], outA: 0, outB: 0 } },
    epilogueReads: [{ input: 0, fill: 0n, axes }],
    epilogue: { code: [{ op: Op[name], dtype, a: 0, b: 0, c: 0 }], out: 1 },
  };
  return {
    program: {
      inputs: [{ dtype, count }],
      steps: [step],
      checkpoints: [],
      outputs: [0],
      maxStepGas: 0,
      maxStepBytes: 0,
    },
    ...{ programRoot: "0x00", constants: new Map(), outputs: [] },
    inputs: [{ name: "x", dtype, shape: [count] }],
    origins: [{ node: name, operator: name }],
  };
}

/** The hashes of finished chunks, on disk: one line each. */
class KnownChunks {
  readonly #file: string;
  readonly #known = new Map<string, string>();

  constructor(folder: string, gpuName: string) {
    const sources = createHash("sha256").update(gpuName);
    for (const file of globSync(SOURCES, { cwd: ROOT }).sort()) sources.update(readFileSync(join(ROOT, file)));
    mkdirSync(folder, { recursive: true });
    this.#file = join(folder, `gpu-${sources.digest("hex").slice(0, 16)}.txt`);
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : `${gpuName}\n`;
    if (!existsSync(this.#file)) appendFileSync(this.#file, text);
    for (const line of text.split("\n")) {
      const [, key, hash] = /^(\w+ \d+ \d+) ([0-9a-f]{64})$/.exec(line) ?? [];
      if (key !== undefined) this.#known.set(key, hash!);
    }
  }

  get(key: string): string | undefined {
    return this.#known.get(key);
  }

  add(key: string, hash: string): void {
    if (this.#known.has(key)) return;
    this.#known.set(key, hash);
    // A line that a killed run left half written is ended first.
    appendFileSync(this.#file, `\n${key} ${hash}`);
  }
}
