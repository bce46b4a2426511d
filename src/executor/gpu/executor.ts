import { freshSeed, Prng } from "../../base/prng.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { zeroHash } from "../../program/merkle/hash.ts";
import { chunksOf, levelBytes, Levels } from "../../program/merkle/levels.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { Step, TensorRef } from "../../program/types.ts";
import type { BlockInputs, BlockResult } from "../blocks/runBlock.ts";
import { noStats } from "../certificateStats.ts";
import type { ExecutionResult, RunOptions } from "../createExecutor.ts";
import { checkInputs } from "../sources.ts";
import { StageClock } from "../stages.ts";
import { SuccessiveTrees } from "../successiveTrees.ts";
import { DeviceDifferenceError } from "../errors.ts";
import { carriedInputs, chainKernels } from "./chain.ts";
import { maxBytesOf, type Gpu } from "./device.ts";
import { Dispatches, parameterBytes, shuffled } from "./dispatches.ts";
import { FollowedTrees } from "./followedTrees.ts";
import { stepKernel, type Source } from "./generate/step.ts";
import type { GpuExecutor, GpuExecutorOptions } from "./gpuExecutor.ts";
import { hashKernels, MARKING } from "./hashing.ts";
import type { Kernel } from "./kernel.ts";
import { gpuMemory, HEIGHTS } from "./memory.ts";
import { cpuExecutors, reasonForCpu } from "./onCpu.ts";
import { PagedMemory } from "./pagedMemory.ts";
import type { ResidueKind } from "./product/moduli.ts";
import { productKernels, productsOf, type ProductKernels } from "./product/product.ts";
import { Session, type Readings } from "./session.ts";
import { wrongElement } from "./spotCheck.ts";
import { unpackedBy, unpackingSteps } from "./unpacked.ts";

/** How long a chain takes at most. Nothing is known before the first execution: a first chain has one item. */
const CHAIN_MS = 2_000;

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
  {
    seed = freshSeed(),
    engine,
    products: wanted,
    kernels: chosen = {},
    cutting = {},
    chainMs = CHAIN_MS,
  }: GpuExecutorOptions = {},
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
  /** The same for steps that unpack weights by themselves, if tensors are not altered. */
  const unpacking = new Map<number, StepKernels>();
  const unpacked = unpackingSteps(program, (s) => plan.own.has(s));
  const cpuSteps: { step: number; reason: string }[] = [];
  const added = ({ before, cuts, after }: ProductKernels): StepKernels => ({
    ...{ before: add(before), cuts: cuts.map(add), after: add([after]) },
  });
  steps.forEach((step, s) => {
    const packed = step.inputs.flatMap((ref) => (ref.kind === "step" && unpacked.has(ref.index) ? [ref.index] : []));
    const unpacks = packed.length === 0 ? "reads nothing packed" : kernelsOf(step, s, unpacked);
    if (typeof unpacks === "string") for (const each of packed) unpacked.delete(each);
    else unpacking.set(s, added(unpacks));
    const found = kernelsOf(step, s, new Set());
    if (typeof found === "string") cpuSteps.push({ step: s, reason: found });
    else own.set(s, added(found));
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
  const chain = chainOf();
  const outputs = new Set(program.outputs.map((checkpoint) => program.checkpoints[checkpoint]!.step));
  const carried = carriedInputs(program);
  const readings: Readings = { turns: 0, bytes: 0 };
  const checkpoints = new Map(program.checkpoints.map(({ step }, j) => [step, j]));
  /** What is open so far, also where the rest fails. */
  const opened: { close(): unknown }[] = [];
  const { memory, dispatches, onCpu } = await prepared().catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  let last: Promise<unknown> = Promise.resolve();
  /** Milliseconds of an item in the last execution. */
  let itemMs = CHAIN_MS;
  return {
    bytes: plan.bytes,
    cpuSteps,
    products: [...plan.own.keys()],
    unpacked: [...unpacked],
    readings,
    run: (inputs, options = {}) => inTurn([inputs], async () => (await execute([inputs], options)).result),
    runChain: (items, trees) =>
      inTurn(items, () => {
        if (chain === undefined || items.length === 0) return { items: [], carried: new Map(), isWrong: false };
        return executeChain(items.slice(0, Math.max(1, Math.floor(chainMs / itemMs))), trees);
      }),
    async close() {
      await last;
      await closeAll();
    },
  };

  async function prepared() {
    const open = <T extends { close(): unknown }>(each: T): T => (opened.push(each), each);
    const onGpu = await gpu.watched(async () => {
      const memory = open(new PagedMemory(gpu, plan.bytes));
      return { memory, dispatches: open(await Dispatches.prepare(gpu, memory, kernels, cutting)) };
    });
    await gpu.watched(() => {
      const session = new Session(gpu, onGpu.memory, onGpu.dispatches, []);
      try {
        for (const { ref, region } of plan.constants)
          session.write(region.address, constantBytes(model.constants, ref));
        for (let height = 0; height < HEIGHTS; height++)
          session.write(plan.zeros.address + height * HASH_BYTES, zeroHash(height));
      } finally {
        session.close();
      }
    });
    const numbers = cpuSteps.map(({ step }) => step);
    return { ...onGpu, onCpu: open(await cpuExecutors(model, numbers, engine)) };
  }

  async function closeAll(): Promise<void> {
    for (const each of opened) await each.close();
  }

  function inTurn<T>(items: BlockInputs, action: () => T | Promise<T>): Promise<T> {
    const execution = last.then(() => {
      for (const inputs of items) checkInputs(model, inputs);
      return gpu.watched(action);
    });
    last = execution.catch(() => undefined);
    return execution;
  }

  /** The numbers of the kernels between items. */
  function chainOf(): { pass: number[]; keep: number[]; roots: number } | undefined {
    const found = chainKernels(program, plan);
    if (found === undefined || parameterBytes(found.roots) > gpu.bounds.uniformBytes) return undefined;
    return { pass: add(found.pass), keep: add(found.keep), roots: add([found.roots])[0]! };
  }

  async function executeChain(items: BlockInputs, trees: SuccessiveTrees | undefined): Promise<BlockResult> {
    const kept = new Set([...outputs, ...carried.map(({ checkpoint }) => program.checkpoints[checkpoint]!.step)]);
    const options = { keep: (s: number): boolean => kept.has(s), ...(trees && { trees }) };
    const { result, passed } = await execute(items, options);
    const copyOf = (step: number): Uint8Array => Uint8Array.from(result.tensors[step]!);
    const list = trees && MerkleList.fromHashes(program.checkpoints.map(({ step }) => trees.get(step)!.root));
    const tensors: Uint8Array[] = [];
    for (const step of outputs) tensors[step] = copyOf(step);
    return {
      items: [...passed, { list, tensors }],
      carried: new Map(carried.map(({ input, checkpoint }) => [input, copyOf(program.checkpoints[checkpoint]!.step)])),
      isWrong: false,
    };
  }

  /** Returns a step's kernels, or the reason for the CPU. @param apart Steps to compute where they are read. */
  function kernelsOf(step: Step, s: number, apart: ReadonlySet<number>): ProductKernels | string {
    const reason = reasonForCpu(step);
    if (reason !== undefined) return reason;
    const sources = step.inputs.map((ref): Source => {
      const inner = ref.kind === "step" && apart.has(ref.index) ? steps[ref.index] : undefined;
      return inner
        ? { step: inner, addresses: inner.inputs.map((each) => plan.of(each).address) }
        : plan.of(ref).address;
    });
    const [product, memory, { address }] = [products.get(s), plan.own.get(s), plan.tensors[s]!];
    const found: ProductKernels =
      product === undefined || memory === undefined
        ? { before: [], cuts: [], after: stepKernel(step, sources, address, chosen) }
        : productKernels(step, product, sources, memory.address, address);
    const all = [...found.before, ...found.cuts.flat(), found.after];
    const isLarge = all.some((kernel) => parameterBytes(kernel) > gpu.bounds.uniformBytes);
    return isLarge ? "more numbers than the GPU takes" : found;
  }

  /** Executes items one after the other. @returns the last item's result, and what was read of the items before */
  async function execute(
    items: BlockInputs,
    options: RunOptions,
  ): Promise<{ result: ExecutionResult; passed: BlockResult["items"] }> {
    const { onStep, progress, keep, trees } = options;
    const successive = trees instanceof SuccessiveTrees && following !== undefined ? trees : undefined;
    /** Whether only changes since the last execution are read. */
    const follows = successive !== undefined && followed.begin(successive);
    // The nodes are overwritten.
    if (trees !== undefined && successive === undefined) followed.forget();
    const isKept = (s: number): boolean => keep === undefined || keep(s) || (trees !== undefined && checkpoints.has(s));
    // Readers do not use the kernels of steps whose elements readers unpack.
    const checkable = [...own.keys()].filter((s) => !unpacked.has(s) || isKept(s) || onStep !== undefined);
    const checked = checkable.length > 0 ? prng.pick(checkable) : -1;
    const checkedItem = items.length === 1 ? 0 : prng.below(items.length);
    const passed = items.slice(1).map(() => ({
      tensors: [] as Uint8Array[],
      roots: new Uint8Array(program.checkpoints.length * HASH_BYTES),
    }));
    const tensors: Uint8Array[] = [];
    const nodes: Uint8Array<ArrayBuffer>[] = [];
    const began = performance.now();
    const session = new Session(gpu, memory, dispatches, sizesToRead(), readings);
    /** The item in execution. */
    let item = 0;
    try {
      let check = (): void => undefined;
      for (item = 0; item < items.length; item++) {
        begin();
        const found = await computeAll(passed[item]?.tensors, item === checkedItem);
        if (item === checkedItem) check = found;
        const { roots } = passed[item] ?? {};
        if (successive === undefined || roots === undefined) continue;
        session.run(chain!.roots);
        await session.read(history!.roots.address, roots);
      }
      await session.finish();
      check();
      if (follows) await followed.readChanges(session);
      itemMs = (performance.now() - began) / items.length;
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
    const result = { tensors, stats: noStats(), milliseconds: new StageClock().milliseconds };
    return { result, passed: passed.map(({ tensors, roots }) => ({ tensors, list: trees && new MerkleList(roots) })) };

    function sizesToRead(): number[] {
      const kept = steps.flatMap((step, s) => (isKept(s) || onStep !== undefined ? [bytesOf(step)] : []));
      const hashed = trees === undefined ? [] : places.map(({ bytes }) => levelBytes(chunksOf(bytes)));
      const sources = [checked, ...cpuSteps.map(({ step }) => step)].flatMap(
        (s) => steps[s]?.inputs.map(bytesOf) ?? [],
      );
      const ofItems = passed.flatMap(({ roots }) => [roots.length, ...[...outputs].map((s) => bytesOf(steps[s]!))]);
      return [...kept, ...hashed, ...sources, ...ofItems, ...(checked < 0 ? [] : [bytesOf(steps[checked]!)])];
    }

    /** Gives an item its inputs. Carried tensors that the GPU has are copied there. */
    function begin(): void {
      const inputs = items[item]!;
      const isThere = (input: number, checkpoint: number): boolean =>
        item > 0 || (follows && chain !== undefined && followed.holds(checkpoint, inputs[input]!));
      const there = new Set<number>();
      carried.forEach(({ input, checkpoint }, k) => {
        if (!isThere(input, checkpoint)) return;
        there.add(input);
        session.run((item > 0 ? chain!.pass : chain!.keep)[k]!);
      });
      inputs.forEach((bytes, i) => there.has(i) || session.write(plan.inputs[i]!.address, bytes));
      if (successive === undefined) return;
      const marking = item > 0 ? MARKING.also : follows ? MARKING.changed : MARKING.all;
      session.write(history!.anew.address, Uint8Array.of(marking, 0, 0, 0));
    }

    /**
     * @param passing Receives the outputs of an item before the last.
     * @returns the check of the checked step, for when all has been read
     */
    async function computeAll(passing: Uint8Array[] | undefined, isChecked: boolean): Promise<() => void> {
      let check = (): void => undefined;
      const isRead = (s: number, j: number | undefined): boolean =>
        passing !== undefined ? outputs.has(s) : isKept(s) && (j === undefined || successive === undefined);
      for (const [s, step] of steps.entries()) {
        const { address } = plan.tensors[s]!;
        const found = own.get(s);
        if (found === undefined) session.write(address, await onCpu.run(s, await readNow(step.inputs)));
        else if (isNeeded(s, isRead(s, undefined)))
          runStep((onStep === undefined ? unpacking.get(s) : undefined) ?? found);
        if (isChecked && s === checked) check = await checkOf(s);
        if (onStep !== undefined) {
          const [tensor] = await readNow([{ kind: "step", index: s, dtype: step.dtype, count: step.count }]);
          onStep(s, tensor!);
          session.write(address, tensor!);
        }
        const j = trees === undefined ? undefined : checkpoints.get(s);
        if (isRead(s, j)) await session.read(address, ((passing ?? tensors)[s] = new Uint8Array(bytesOf(step))));
        if (j !== undefined) await hash(j, passing !== undefined);
        progress?.(s + 1, steps.length);
      }
      return check;
    }

    /** Whether a step's tensor is in use: of weights that readers unpack, only for somebody who asks for them. */
    function isNeeded(s: number, isAsked: boolean): boolean {
      return !unpacked.has(s) || isAsked || onStep !== undefined;
    }

    function runStep({ before, cuts, after }: StepKernels): void {
      const { order } = cutting;
      const all = [before, ...(order === undefined ? cuts : shuffled(cuts, order)), after];
      for (const kernel of all.flat()) session.run(kernel);
    }

    /** Hashes a checkpoint's tensor, and requests the bytes to read, except of an item before the last. */
    async function hash(j: number, isPassing: boolean): Promise<void> {
      for (const kernel of successive === undefined ? hashing[j]! : following![j]!) session.run(kernel);
      if (isPassing) return;
      if (successive !== undefined) return followed.ask(session, j, follows);
      await session.read(places[j]!.nodes, (nodes[j] = new Uint8Array(levelBytes(chunksOf(places[j]!.bytes)))));
    }

    /** Requests the tensors for a step's check. */
    async function checkOf(s: number): Promise<() => void> {
      const step = steps[s]!;
      const read: (Uint8Array | ((at: number) => bigint))[] = [];
      for (const ref of step.inputs) {
        const isPacked = ref.kind === "step" && unpacked.has(ref.index) && onStep === undefined;
        read.push(isPacked ? unpackedBy(model, ref.index) : await ask(ref));
      }
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
      // What a later item carries is on the GPU alone.
      const isHere = item === 0 || program.inputs[ref.index]?.source?.kind !== "carried";
      if (ref.kind === "input" && isHere) return items[item]![ref.index]!;
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
