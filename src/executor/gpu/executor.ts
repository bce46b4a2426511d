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
import { SuccessiveTrees } from "../successiveTrees.ts";
import { DeviceDifferenceError } from "../errors.ts";
import { maxBytesOf, type Gpu } from "./device.ts";
import { Dispatches, parameterBytes, shuffled, type Cutting } from "./dispatches.ts";
import { FollowedTrees } from "./followedTrees.ts";
import { stepKernel } from "./generate/step.ts";
import { hashKernels } from "./hashing.ts";
import type { Kernel } from "./kernel.ts";
import { gpuMemory, HEIGHTS } from "./memory.ts";
import { reasonForCpu } from "./onCpu.ts";
import { PagedMemory } from "./pagedMemory.ts";
import type { ResidueKind } from "./product/moduli.ts";
import {
  productKernels,
  productOf,
  type Product,
  type ProductKernels,
  type ProductOptions,
} from "./product/product.ts";
import { Session } from "./session.ts";
import { wrongElement } from "./spotCheck.ts";

type GpuExecutor = Omit<Executor, "runBlock" | "runApart"> & {
  /** The steps that the CPU computes, and why. */
  readonly cpuSteps: readonly { step: number; reason: string }[];
  /** The steps whose products are computed by residues. */
  readonly products: readonly number[];
};

type GpuExecutorOptions = {
  /** The seed of spot checks; by default a fresh one. */
  seed?: number;
  /** The engine for steps on the CPU; by default onnxruntime. */
  engine?: MatMulEngine | undefined;
  /** How products are computed; by default as the GPU's shaders can. */
  products?: Partial<ProductOptions>;
  /** How kernels are cut into dispatches. */
  cutting?: Cutting;
};

/** A step's kernels by number, in order; only the cuts may come in any order. */
type StepKernels = { before: number[]; cuts: number[][]; after: number[] };

/**
 * Creates an executor that computes on a GPU, with the bits of `createExecutor`. All is computed in integers: products
 * by residues, where a certificate settles them, and all else by the definition; steps for which {@link reasonForCpu}
 * gives a reason are computed by the CPU's executor. In each execution some elements of one random step are computed
 * again by the definition.
 * @throws ExecutionMemoryError if the program needs more than kernels address; ExecutionDeviceError if the GPU fails;
 *   the errors of `createExecutor` for steps on the CPU
 */
export async function createGpuExecutor(
  model: CompiledModel,
  gpu: Gpu,
  { seed = freshSeed(), engine, products: wanted, cutting = {} }: GpuExecutorOptions = {},
): Promise<GpuExecutor> {
  const { program } = model;
  const { steps } = program;
  const prng = new Prng(seed);
  const products = productsOf(steps, { kind: kindsOf(gpu)[0]!, ...wanted });
  const plan = gpuMemory(model, new Map([...products].map(([s, { bytes }]) => [s, bytes])), maxBytesOf(gpu.bounds));
  const kernels: Kernel[] = [];
  const add = (list: readonly Kernel[]): number[] => list.map((kernel) => kernels.push(kernel) - 1);
  /** The computing kernels by step. */
  const own = new Map<number, StepKernels>();
  const cpuSteps: { step: number; reason: string }[] = [];
  steps.forEach((step, s) => {
    const found = kernelsOf(step, s);
    if (typeof found === "string") cpuSteps.push({ step: s, reason: found });
    else own.set(s, { before: add(found.before), cuts: found.cuts.map(add), after: add([found.after]) });
  });
  const places = program.checkpoints.map(({ step }, j) => ({
    ...{ bytes: bytesOf(steps[step]!), nodes: plan.nodes[j]!.address },
    tensor: plan.history?.tensors[j]!.address ?? plan.tensors[step]!.address,
    marks: plan.history?.marks[j]!.address ?? 0,
  }));
  const hashing = places.map(({ bytes, nodes }, j) => {
    const tensor = plan.tensors[program.checkpoints[j]!.step]!.address;
    return add(hashKernels({ tensor, bytes, nodes, zeros: plan.zeros.address }));
  });
  const { history } = plan;
  const following =
    history &&
    places.map(({ bytes, nodes, tensor: before, marks }, j) => {
      const tensor = plan.tensors[program.checkpoints[j]!.step]!.address;
      const hashed = { tensor, bytes, nodes, zeros: plan.zeros.address };
      return add(hashKernels(hashed, { before, marks, anew: history.anew.address }));
    });
  const followed = new FollowedTrees(places);
  const checkpoints = new Map(program.checkpoints.map(({ step }, j) => [step, j]));
  const { memory, dispatches } = await gpu.watched(async () => {
    const memory = new PagedMemory(gpu, plan.bytes);
    return { memory, dispatches: await Dispatches.prepare(gpu, memory, kernels, cutting) };
  });
  await gpu.watched(() => {
    const session = new Session(gpu, memory, dispatches, []);
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
    products: [...plan.own.keys()],
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
      memory.close();
      dispatches.close();
      await onCpu.close();
    },
  };

  /** Returns a step's kernels, or the reason for the CPU. */
  function kernelsOf(step: Step, s: number): ProductKernels | string {
    const reason = reasonForCpu(step);
    if (reason !== undefined) return reason;
    const addresses = step.inputs.map((ref) => plan.of(ref).address);
    const { address } = plan.tensors[s]!;
    const [product, memory] = [products.get(s), plan.own.get(s)];
    const found: ProductKernels =
      product === undefined || memory === undefined
        ? { before: [], cuts: [], after: stepKernel(step, addresses, address) }
        : productKernels(step, product, addresses, memory.address, address);
    const all = [...found.before, ...found.cuts.flat(), found.after];
    const isLarge = all.some((kernel) => parameterBytes(kernel) > gpu.bounds.uniformBytes);
    return isLarge ? "more numbers than the GPU takes" : found;
  }

  async function execute(inputs: readonly Uint8Array[], options: RunOptions): Promise<ExecutionResult> {
    const { onStep, progress, keep, trees } = options;
    const successive = trees instanceof SuccessiveTrees && following !== undefined ? trees : undefined;
    /** Whether only changes since the last execution are read. */
    const follows = successive !== undefined && followed.begin(successive);
    // The nodes are overwritten.
    if (trees !== undefined && successive === undefined) followed.forget();
    const isKept = (s: number): boolean => keep === undefined || keep(s) || (trees !== undefined && checkpoints.has(s));
    const checked = cpuSteps.length < steps.length ? prng.pick([...own.keys()]) : -1;
    const tensors: Uint8Array[] = [];
    const nodes: Uint8Array<ArrayBuffer>[] = [];
    const session = new Session(gpu, memory, dispatches, sizesToRead());
    try {
      inputs.forEach((bytes, i) => session.write(plan.inputs[i]!.address, bytes));
      if (successive !== undefined) session.write(history!.anew.address, Uint8Array.of(follows ? 0 : 1, 0, 0, 0));
      const check = await computeAll();
      await session.finish();
      check();
      if (follows) await followed.readChanges(session);
    } finally {
      session.close();
    }
    if (successive !== undefined)
      followed.end(successive).forEach(({ tensor, tree }, j) => {
        tensors[program.checkpoints[j]!.step] = tensor;
        successive.set(program.checkpoints[j]!.step, tree);
      });
    else if (trees !== undefined)
      places.forEach(({ bytes }, j) =>
        trees.set(program.checkpoints[j]!.step, MerkleList.fromLevels(new Levels(chunksOf(bytes), nodes[j]!))),
      );
    return { tensors, stats: noStats(), milliseconds: new StageClock().milliseconds };

    function sizesToRead(): number[] {
      const kept = steps.flatMap((step, s) => (isKept(s) || onStep !== undefined ? [bytesOf(step)] : []));
      const hashed = trees === undefined ? [] : places.map(({ bytes }) => levelBytes(chunksOf(bytes)));
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
        const found = own.get(s);
        if (found === undefined) session.write(address, await onCpu.run(s, await readNow(step.inputs)));
        else runStep(found);
        if (s === checked) check = await checkOf(s);
        if (onStep !== undefined) {
          const [tensor] = await readNow([{ kind: "step", index: s, dtype: step.dtype, count: step.count }]);
          onStep(s, tensor!);
          session.write(address, tensor!);
        }
        const j = trees === undefined ? undefined : checkpoints.get(s);
        if (isKept(s) && (j === undefined || successive === undefined))
          await session.read(address, (tensors[s] = new Uint8Array(bytesOf(step))));
        if (j !== undefined) await hash(j);
        progress?.(s + 1, steps.length);
      }
      return check;
    }

    function runStep({ before, cuts, after }: StepKernels): void {
      const { order } = cutting;
      const all = [before, ...(order === undefined ? cuts : shuffled(cuts, order)), after];
      for (const kernel of all.flat()) session.run(kernel);
    }

    /** Hashes a checkpoint's tensor, and requests the bytes to read. */
    async function hash(j: number): Promise<void> {
      for (const kernel of successive === undefined ? hashing[j]! : following![j]!) session.run(kernel);
      if (successive !== undefined) return followed.ask(session, j, follows);
      await session.read(places[j]!.nodes, (nodes[j] = new Uint8Array(levelBytes(chunksOf(places[j]!.bytes)))));
    }

    /** Requests the tensors for a step's check. */
    async function checkOf(s: number): Promise<() => void> {
      const step = steps[s]!;
      const read = await askAll(step.inputs);
      const tensor = new Uint8Array(bytesOf(step));
      await session.read(plan.tensors[s]!.address, tensor);
      return () => {
        const wrong = wrongElement(step, read, tensor, prng);
        if (wrong === undefined) return;
        const { operator } = model.origins[s] ?? { operator: "?" };
        const finding = `element ${wrong} of step ${s} (${operator}) has other bits than the definition`;
        throw gpu.fail(finding, DeviceDifferenceError);
      };
    }

    async function ask(ref: TensorRef): Promise<Uint8Array> {
      if (ref.kind === "constant") return constantBytes(model.constants, ref);
      if (ref.kind === "input") return inputs[ref.index]!;
      const bytes = new Uint8Array(bytesOf(ref));
      await session.read(plan.of(ref).address, bytes);
      return bytes;
    }

    /** Asks for tensors. They are filled when all has been read. */
    async function askAll(refs: readonly TensorRef[]): Promise<Uint8Array[]> {
      const read: Uint8Array[] = [];
      for (const ref of refs) read.push(await ask(ref));
      return read;
    }

    async function readNow(refs: readonly TensorRef[]): Promise<Uint8Array[]> {
      const read = await askAll(refs);
      await session.finish();
      return read;
    }
  }
}

/** How a GPU can multiply residues. */
export const kindsOf = ({ bounds }: Gpu): readonly ResidueKind[] => (bounds.hasDot4 ? ["bytes", "floats"] : ["floats"]);

/** Returns the products among the GPU's steps. */
function productsOf(steps: readonly Step[], options: ProductOptions): Map<number, Product> {
  const found = steps.map((step) => (reasonForCpu(step) === undefined ? productOf(step, options) : undefined));
  return new Map(found.flatMap((product, s) => (product === undefined ? [] : [[s, product] as const])));
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
