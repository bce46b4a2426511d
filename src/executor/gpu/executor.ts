import { freshSeed, Prng } from "../../base/prng.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { zeroHash } from "../../program/merkle/hash.ts";
import { chunksOf, levelBytes, Levels } from "../../program/merkle/levels.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { Step, TensorRef } from "../../program/types.ts";
import { noStats } from "../certificateStats.ts";
import { createExecutor, type ExecutionResult, type Executor, type RunOptions } from "../createExecutor.ts";
import type { MatMulEngine } from "../engine/matMulEngine.ts";
import { onnxEngine } from "../engine/onnxEngine.ts";
import { checkInputs } from "../sources.ts";
import { StageClock } from "../stages.ts";
import { Usage } from "./api.ts";
import type { Gpu } from "./device.ts";
import { Dispatches, hashKernels, type Kernel } from "./dispatches.ts";
import { stepKernel } from "./generate/step.ts";
import { gpuMemory, HEIGHTS } from "./memory.ts";
import { reasonForCpu } from "./onCpu.ts";
import { Session, stagingBytes } from "./session.ts";
import { wrongElement } from "./spotCheck.ts";

type GpuExecutor = Omit<Executor, "runBlock"> & {
  /** The steps that the CPU computes, and why. */
  readonly cpuSteps: readonly { step: number; reason: string }[];
};

type GpuExecutorOptions = {
  /** The seed of spot checks; by default a fresh one. */
  seed?: number;
  /** The engine for steps on the CPU; by default onnxruntime. */
  engine?: MatMulEngine | undefined;
};

/**
 * Creates an executor that computes on a GPU, with the bits of `createExecutor`. All is computed in integers, by the
 * definition; steps for which {@link reasonForCpu} gives a reason are computed by the CPU's executor. In each execution
 * some elements of one random step are computed again by the definition.
 * @throws ExecutionMemoryError if the program needs more than the GPU binds at once; ExecutionDeviceError if the GPU
 *   fails; the errors of `createExecutor` for steps on the CPU
 */
export async function createGpuExecutor(
  model: CompiledModel,
  gpu: Gpu,
  { seed = freshSeed(), engine }: GpuExecutorOptions = {},
): Promise<GpuExecutor> {
  const { program } = model;
  const { steps } = program;
  const prng = new Prng(seed);
  const plan = gpuMemory(model, gpu.facts.maxBytes);
  const kernels: Kernel[] = [];
  /** By step: the computing kernel, and the hashing kernels. */
  const own = new Map<number, number>();
  const hashing = new Map<number, number[]>();
  const cpuSteps: { step: number; reason: string }[] = [];
  steps.forEach((step, s) => {
    const kernel = stepKernelOf(step, s);
    if (typeof kernel === "string") cpuSteps.push({ step: s, reason: kernel });
    else own.set(s, kernels.push(kernel) - 1);
  });
  program.checkpoints.forEach(({ step }, j) => {
    const [tensor, nodes] = [plan.tensors[step]!.address, plan.nodes[j]!.address];
    const hashes = hashKernels(tensor, bytesOf(steps[step]!), nodes, plan.zeros.address);
    hashing.set(
      step,
      hashes.map((kernel) => kernels.push(kernel) - 1),
    );
  });
  const checkpoints = new Map(program.checkpoints.map(({ step }, j) => [step, j]));
  const { device } = gpu;
  const { memory, dispatches } = await gpu.watched(async () => {
    const memory = device.createBuffer({
      size: Math.ceil(plan.bytes / 4) * 4,
      usage: Usage.storage | Usage.copySource | Usage.copyTarget,
    });
    return { memory, dispatches: await Dispatches.prepare(gpu, memory, kernels) };
  });
  await gpu.watched(() => {
    const session = new Session(device, memory, dispatches, stagingBytes([]));
    for (const { ref, region } of plan.constants) session.write(region.address, constantBytes(model.constants, ref));
    for (let height = 0; height < HEIGHTS; height++)
      session.write(plan.zeros.address + height * HASH_BYTES, zeroHash(height));
    session.close();
  });
  const onCpu = await cpuExecutors(
    model,
    cpuSteps.map(({ step }) => step),
    engine,
  );
  let last: Promise<unknown> = Promise.resolve();
  return {
    bytes: plan.bytes,
    cpuSteps,
    run(inputs, options = {}) {
      const execution = last.then(() => {
        checkInputs(model, inputs);
        return gpu.watched(() => execute(inputs, options));
      });
      last = execution.catch(() => undefined);
      return execution;
    },
    async close() {
      await last;
      memory.destroy();
      dispatches.close();
      await onCpu.close();
    },
  };

  /** The kernel of a step, or why the CPU computes it. */
  function stepKernelOf(step: Step, s: number): Kernel | string {
    const reason = reasonForCpu(step);
    if (reason !== undefined) return reason;
    const kernel = stepKernel(
      step,
      step.inputs.map((ref) => plan.of(ref).address),
      plan.tensors[s]!.address,
    );
    return kernel.parameters.byteLength > gpu.maxUniformBytes ? "more numbers than the GPU takes" : kernel;
  }

  async function execute(inputs: readonly Uint8Array[], options: RunOptions): Promise<ExecutionResult> {
    const { onStep, progress, keep, trees } = options;
    const isKept = (s: number): boolean => keep === undefined || keep(s) || (trees !== undefined && checkpoints.has(s));
    const checked = cpuSteps.length < steps.length ? prng.pick([...own.keys()]) : -1;
    const tensors: Uint8Array[] = [];
    const nodes: Uint8Array<ArrayBuffer>[] = [];
    const session = new Session(device, memory, dispatches, stagingBytes(sizesToRead()));
    try {
      inputs.forEach((bytes, i) => session.write(plan.inputs[i]!.address, bytes));
      const check = await computeAll();
      await session.finish();
      check();
    } finally {
      session.close();
    }
    if (trees !== undefined)
      program.checkpoints.forEach(({ step }, j) =>
        trees.set(step, MerkleList.fromLevels(new Levels(chunksOf(bytesOf(steps[step]!)), nodes[j]!))),
      );
    return { tensors, stats: noStats(), milliseconds: new StageClock().milliseconds };

    function sizesToRead(): number[] {
      const kept = steps.flatMap((step, s) => (isKept(s) || onStep !== undefined ? [bytesOf(step)] : []));
      const hashed = trees === undefined ? [] : program.checkpoints.map(({ step }) => nodeBytes(step));
      const sources = [checked, ...cpuSteps.map(({ step }) => step)].flatMap(
        (s) => steps[s]?.inputs.map(bytesOf) ?? [],
      );
      return [...kept, ...hashed, ...sources, ...(checked < 0 ? [] : [bytesOf(steps[checked]!)])];
    }

    /** @returns the check of the checked step, for when all has been read */
    async function computeAll(): Promise<() => void> {
      let check = (): void => undefined;
      for (const [s, step] of steps.entries()) {
        const { address } = plan.tensors[s]!;
        const kernel = own.get(s);
        if (kernel === undefined) session.write(address, await onCpu.run(s, await readNow(step.inputs)));
        else session.run(kernel);
        if (s === checked) check = await checkOf(s);
        if (onStep !== undefined) {
          const [tensor] = await readNow([{ kind: "step", index: s, dtype: step.dtype, count: step.count }]);
          onStep(s, tensor!);
          session.write(address, tensor!);
        }
        if (isKept(s)) await session.read(address, bytesOf(step), (bytes) => void (tensors[s] = bytes));
        if (trees !== undefined) {
          for (const hash of hashing.get(s) ?? []) session.run(hash);
          const j = checkpoints.get(s);
          if (j !== undefined)
            await session.read(plan.nodes[j]!.address, nodeBytes(s), (bytes) => void (nodes[j] = bytes));
        }
        progress?.(s + 1, steps.length);
      }
      return check;
    }

    /** Requests the tensors for a step's check. */
    async function checkOf(s: number): Promise<() => void> {
      const step = steps[s]!;
      const read = await askAll(step.inputs);
      let tensor = new Uint8Array();
      await session.read(plan.tensors[s]!.address, bytesOf(step), (bytes) => void (tensor = bytes));
      return () => {
        const wrong = wrongElement(step, read, tensor, prng);
        if (wrong === undefined) return;
        const { operator } = model.origins[s] ?? { operator: "?" };
        throw gpu.fail(`element ${wrong} of step ${s} (${operator}) has other bits than the definition`);
      };
    }

    async function ask(ref: TensorRef, take: (bytes: Uint8Array) => void): Promise<void> {
      if (ref.kind === "constant") take(constantBytes(model.constants, ref));
      else if (ref.kind === "input") take(inputs[ref.index]!);
      else await session.read(plan.of(ref).address, bytesOf(ref), take);
    }

    /** Asks for tensors. The list is filled when all has been read. */
    async function askAll(refs: readonly TensorRef[]): Promise<Uint8Array[]> {
      const read: Uint8Array[] = [];
      for (const [n, ref] of refs.entries()) await ask(ref, (bytes) => void (read[n] = bytes));
      return read;
    }

    async function readNow(refs: readonly TensorRef[]): Promise<Uint8Array[]> {
      const read = await askAll(refs);
      await session.finish();
      return read;
    }
  }

  function nodeBytes(step: number): number {
    return levelBytes(chunksOf(bytesOf(steps[step]!)));
  }
}

/** The CPU's executors of single steps, which share an engine. */
async function cpuExecutors(
  model: CompiledModel,
  numbers: readonly number[],
  given: MatMulEngine | undefined,
): Promise<{ run(step: number, sources: readonly Uint8Array[]): Promise<Uint8Array>; close(): Promise<void> }> {
  const engine = given ?? (numbers.length > 0 ? await onnxEngine() : undefined);
  const executors = new Map<number, Executor>();
  if (engine !== undefined)
    for (const s of numbers) executors.set(s, await createExecutor(stepModel(model, s), { engine }));
  return {
    run: async (s, sources) => (await executors.get(s)!.run(sources)).tensors[0]!,
    async close() {
      for (const executor of executors.values()) await executor.close();
      if (given === undefined) await engine?.close();
    },
  };
}

/** A model with a single step. The step reads only the inputs. */
function stepModel(model: CompiledModel, s: number): CompiledModel {
  const step = model.program.steps[s]!;
  const inputs = step.inputs.map(({ dtype, count }) => ({ dtype, count }));
  const refs = inputs.map((input, index): TensorRef => ({ kind: "input", index, ...input }));
  const program = { ...model.program, inputs, steps: [{ ...step, inputs: refs }], checkpoints: [], outputs: [] };
  return { ...model, program, constants: new Map(), inputs: [], outputs: [], origins: [model.origins[s]!] };
}
