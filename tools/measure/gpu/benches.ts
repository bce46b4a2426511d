import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { productStep, separateModel } from "../../../src/executor/gpu/selfTest.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { sha256 } from "../../../src/program/merkle/hash.ts";
import { MINI_LM, miniLm, sentence } from "../../../testkit/models/miniLm.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { EXAM_KINDS, examProgram } from "./examPrograms.ts";

/** A kind of kernel is not tried at larger sizes after an execution of so many milliseconds. */
const LONG = 5_000;
/** The median of so many executions counts; the first one is left out. */
const TIMES = 3;

type Runner = Pick<Awaited<ReturnType<typeof createGpuExecutor>>, "run" | "close">;
type Timed = { milliseconds: number; sha256: string };

/** Executes some times, with trees or without. Only the last tensor is brought back. */
async function timed(executor: Runner, model: CompiledModel, inputs: Uint8Array[], withTrees = false): Promise<Timed> {
  const last = model.program.steps.length - 1;
  const took: number[] = [];
  let hash = "";
  try {
    for (let k = 0; k <= TIMES; k++) {
      const trees = withTrees ? { trees: new Map<number, MerkleList>() } : {};
      const start = performance.now();
      const { tensors } = await executor.run(inputs, { keep: (step) => step === last, ...trees });
      took.push(performance.now() - start);
      hash = Buffer.from(sha256(tensors[last]!)).toString("hex");
      if (took[0]! > LONG && k > 0) break;
    }
  } finally {
    await executor.close();
  }
  const sorted = took.slice(1).sort((a, b) => a - b);
  return { milliseconds: sorted[sorted.length >> 1]!, sha256: hash };
}

/** Numbers as of a normal distribution, nearly. */
function numbers(count: number, seed: number): Uint8Array {
  const prng = new Prng(seed);
  const values = Float32Array.from({ length: count }, () => (prng.uint32() + prng.uint32()) / 2 ** 32 - 1);
  return new Uint8Array(values.buffer);
}

/** Square products by each kernel, and by the CPU: all must have the same bits. */
export async function productFigures(gpu: Gpu, sizes: readonly number[]): Promise<object> {
  const withoutDot4 = new Gpu(gpu.device, gpu.facts, { ...gpu.bounds, hasDot4: false });
  const never = { least: { terms: Infinity, rows: Infinity, columns: Infinity } };
  const kernels: Record<string, (model: CompiledModel) => Promise<Runner>> = {
    ...(gpu.bounds.hasDot4 && { bytes: (model: CompiledModel) => createGpuExecutor(model, gpu) }),
    floats: (model) => createGpuExecutor(model, withoutDot4),
    definition: (model) => createGpuExecutor(model, gpu, { products: never }),
    cpu: (model) => createExecutor(model),
  };
  const rows: object[] = [];
  const slow = new Set<string>();
  for (const size of sizes) {
    const model = separateModel([productStep(size, size, size)]);
    const inputs = [numbers(size * size, 1), numbers(size * size, 2)];
    const hashes = new Set<string>();
    const row: Record<string, number | boolean> = { size };
    for (const [name, create] of Object.entries(kernels)) {
      if (slow.has(name)) continue;
      const { milliseconds, sha256 } = await timed(await create(model), model, inputs);
      row[name] = milliseconds;
      hashes.add(sha256);
      if (milliseconds > LONG / 8) slow.add(name);
    }
    rows.push({ ...row, isEqual: hashes.size === 1 });
  }
  return { milliseconds: rows };
}

/** A sentence encoder: on the GPU and on the CPU, without trees and with them. */
export async function modelFigures(gpu: Gpu, layers: number): Promise<object> {
  const shape = { ...MINI_LM, layers };
  const given = sentence(shape);
  const shapes = Object.fromEntries([...given].map(([name, tensor]) => [name, tensor.shape]));
  const model = compile(readModel(miniLm({ shape })), { shapes });
  const inputs = model.inputs.map(({ name }) => given.get(name)!.bytes);
  const onGpu = await timed(await createGpuExecutor(model, gpu), model, inputs);
  const hashed = await timed(await createGpuExecutor(model, gpu), model, inputs, true);
  const onCpu = await timed(await createExecutor(model), model, inputs);
  return {
    ...{ model: `MiniLM of ${layers} layers`, gpu: onGpu.milliseconds, withTrees: hashed.milliseconds },
    ...{ cpu: onCpu.milliseconds, isEqual: onGpu.sha256 === onCpu.sha256 && hashed.sha256 === onCpu.sha256 },
  };
}

/** Rounds of the exams by kind: a class's task repeats them. */
const ROUNDS = { products: 1, memory: 16 };

/** What exams for GPUs take: the seconds of a class follow from these by its rounds. */
export async function examFigures(gpu: Gpu, size: number): Promise<object> {
  const rows: object[] = [];
  for (const kind of EXAM_KINDS) {
    const { model } = examProgram(kind, size, ROUNDS[kind]);
    const seed = [new Uint8Array(32)];
    const onGpu = await timed(await createGpuExecutor(model, gpu), model, seed, true);
    const onCpu = await timed(await createExecutor(model), model, seed, true);
    rows.push({
      ...{ kind, size, rounds: ROUNDS[kind], programRoot: model.programRoot, gpu: onGpu.milliseconds },
      ...{ cpu: onCpu.milliseconds, isEqual: onGpu.sha256 === onCpu.sha256 },
    });
  }
  return { milliseconds: rows };
}
