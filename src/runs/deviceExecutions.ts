import { randomInt } from "node:crypto";
import type { Device, OnGpu } from "../executor/gpu/chooseExecutor.ts";
import { ExecutionDeviceError, ExecutionMemoryError } from "../executor/errors.ts";
import { readWord } from "../numerics/dtype.ts";
import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import { carriedTensors } from "../program/trace/runItems.ts";
import { Trace } from "../program/trace/trace.ts";
import type { BlockResult } from "../executor/blocks/runBlock.ts";
import type { Execute, ExecuteApart, ExecuteBlock, ExecutionOrder } from "./execute.ts";

/** The default share for repetitions by the CPU: a twentieth. */
export const CPU_SHARE = 0.05;

/** A share is drawn in millionths. */
const MILLION = 1_000_000;

/** The maximum number of prepared programs on the GPU. */
const MAX_PROGRAMS = 4;

/** Options for executing on a GPU, with the CPU as a check. */
export type DeviceOptions = {
  gpu: Device;
  /** Executes on the CPU: large programs, repetitions, and everything after a fault. */
  cpu: Execute;
  /** The share of executions repeated by the CPU, 0 to 1. Each item is drawn separately; doubted orders always are. */
  share: number;
  /** Called with the seconds after each execution on the GPU, failed executions included. */
  onGpuSeconds: (seconds: number) => void;
  /** Called once, with the GPU's fault. */
  onStop: (error: ExecutionDeviceError) => void;
  /** Called once for each program too large for the GPU. */
  onRefusal: (programRoot: string, reason: string) => void;
};

/**
 * Executes on a GPU until the first fault: a difference from the definition or from the CPU, a lost
 * device, no memory, no answer. From then on the CPU executes everything, beginning with the execution at hand. The
 * CPU repeats a random share of executions before a result is given: every kept tensor and every node is compared.
 */
export class DeviceExecutions {
  readonly #options: DeviceOptions;
  #fault: ExecutionDeviceError | undefined;
  /** By program; the least recently used first. */
  readonly #prepared = new Map<string, Promise<OnGpu>>();
  /** Programs for the CPU alone. */
  readonly #refused = new Set<string>();

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  /** Where executions happen now: the GPU's name, or `cpu`. */
  get device(): string {
    return this.#fault === undefined ? this.#options.gpu.name : "cpu";
  }

  /** A GPU executes a block's items one after the other, whatever is guessed. */
  readonly #block: ExecuteBlock = async (block, order) => {
    const { cpu } = this.#options;
    const executor = await this.#executorOf(block.model);
    if (executor !== undefined) return (await this.#chain(executor, block, order)) ?? NO_ITEMS;
    return cpu.block === undefined || block.isChain === true ? NO_ITEMS : cpu.block(block, order);
  };

  readonly #apart: ExecuteApart = async (model, items, order) => {
    const { cpu } = this.#options;
    const isHere = cpu.apart === undefined || (await this.#executorOf(model)) !== undefined;
    return isHere ? [] : cpu.apart(model, items, order);
  };

  readonly execute: Execute = Object.assign(
    (...asked: Parameters<Execute>) => this.#execute(asked, this.#isRepeated(asked[4])),
    {
      block: this.#block,
      apart: this.#apart,
      chains: true,
      device: () => this.device,
    },
  );

  async close(): Promise<void> {
    const { gpu } = this.#options;
    if (this.#fault === undefined) await Promise.all([...this.#prepared.values()].map(closed));
    gpu.close();
  }

  async #execute(asked: Parameters<Execute>, isRepeated: boolean): Promise<Uint8Array[]> {
    const [model, given, keep, trees, order] = asked;
    const { cpu, gpu } = this.#options;
    // Carried tensors may lie in memory overwritten by the execution, and the CPU still needs the old bytes.
    const inputs = trees instanceof SuccessiveTrees ? given.map((bytes) => Uint8Array.from(bytes)) : given;
    const own = await this.#onGpu(model, inputs, keep, trees);
    if (own === undefined) {
      trees?.clear();
      return cpu(model, inputs, keep, trees, order);
    }
    if (!isRepeated) return own;
    const repeated = trees && new Map<number, MerkleList>();
    const tensors = await cpu(model, inputs, keep, repeated, order);
    const finding = differenceOf(model, { tensors: own, trees }, { tensors, trees: repeated });
    if (finding !== undefined) this.#stop(gpu.fail(`${finding} than on the CPU`));
    // Another execution may have found a fault meanwhile.
    if (this.#fault === undefined) return own;
    trees?.clear();
    repeated?.forEach((tree, step) => trees!.set(step, tree));
    return tensors;
  }

  #isRepeated(order: ExecutionOrder | undefined): boolean {
    return order?.isDoubted === true || randomInt(MILLION) < this.#options.share * MILLION;
  }

  /** @returns undefined if the CPU must execute */
  async #onGpu(...[model, inputs, keep, trees]: Parameters<Execute>): Promise<Uint8Array[] | undefined> {
    const executor = await this.#executorOf(model);
    if (executor === undefined) return undefined;
    const result = await this.#timed(() => executor.run(inputs, { ...(keep && { keep }), ...(trees && { trees }) }));
    return result?.tensors;
  }

  /** @returns undefined after a fault of the GPU */
  async #timed<T>(action: () => Promise<T>): Promise<T | undefined> {
    const began = performance.now();
    try {
      const result = await action();
      return this.#fault === undefined ? result : undefined;
    } catch (error) {
      if (!(error instanceof ExecutionDeviceError)) throw error;
      this.#stop(error);
      return undefined;
    } finally {
      this.#options.onGpuSeconds((performance.now() - began) / 1_000);
    }
  }

  /**
   * Executes a block on the GPU. Each item is drawn separately: a chain ends before the first drawn item, which is
   * executed by itself and repeated by the CPU.
   * @returns undefined after a fault of the GPU
   */
  async #chain(
    executor: OnGpu,
    { model, items, trees }: Parameters<ExecuteBlock>[0],
    order: ExecutionOrder | undefined,
  ): Promise<BlockResult | undefined> {
    const drawn = items.findIndex(() => this.#isRepeated(order));
    const chained = drawn < 0 ? items : items.slice(0, drawn);
    let result = NO_ITEMS;
    if (drawn !== 0) {
      const own = await this.#timed(() => executor.runChain(chained, trees));
      // A chain may end early: the next items are drawn again.
      if (own === undefined || own.items.length < chained.length || drawn < 0) return own;
      result = own;
    }
    const { program } = model;
    const checkpoints = new Set(program.checkpoints.map(({ step }) => step));
    const inputs = items[drawn]!.map((bytes, input) => result.carried.get(input) ?? bytes);
    const tensors = await this.#execute([model, inputs, (step) => checkpoints.has(step), trees, order], true);
    if (this.#fault !== undefined) return undefined;
    const copyOf = (step: number): Uint8Array => Uint8Array.from(tensors[step]!);
    const outputs: Uint8Array[] = [];
    for (const checkpoint of program.outputs) {
      const { step } = program.checkpoints[checkpoint]!;
      outputs[step] = copyOf(step);
    }
    const item = { list: trees && new Trace(program, tensors, trees).list, tensors: outputs };
    return { items: [...result.items, item], carried: carriedTensors(program, copyOf), isWrong: false };
  }

  /** @returns the program's executor on the GPU; undefined if the CPU must execute */
  async #executorOf(model: CompiledModel): Promise<OnGpu | undefined> {
    const { programRoot } = model;
    const { gpu, onRefusal } = this.#options;
    if (this.#fault !== undefined || this.#refused.has(programRoot)) return undefined;
    const executor = this.#prepared.get(programRoot) ?? gpu.createExecutor(model);
    this.#prepared.delete(programRoot);
    this.#prepared.set(programRoot, executor);
    this.#makeRoom();
    try {
      return await executor;
    } catch (error) {
      this.#prepared.delete(programRoot);
      if (error instanceof ExecutionDeviceError) this.#stop(error);
      else if (!(error instanceof ExecutionMemoryError)) throw error;
      else if (!this.#refused.has(programRoot)) {
        this.#refused.add(programRoot);
        onRefusal(programRoot, error.message);
      }
      return undefined;
    }
  }

  /** Closes the longest unused programs, after their running executions. */
  #makeRoom(): void {
    for (const [root, executor] of this.#prepared) {
      if (this.#prepared.size <= MAX_PROGRAMS) break;
      this.#prepared.delete(root);
      void closed(executor);
    }
  }

  #stop(error: ExecutionDeviceError): void {
    if (this.#fault !== undefined) return;
    this.#fault = error;
    this.#prepared.clear();
    this.#options.gpu.close();
    this.#options.onStop(error);
  }
}

const closed = (executor: Promise<OnGpu>): Promise<void> =>
  executor.then((each) => each.close()).catch(() => undefined);

const NO_ITEMS: BlockResult = { items: [], carried: new Map(), isWrong: false };

type Result = { tensors: readonly Uint8Array[]; trees?: ReadonlyMap<number, MerkleList> | undefined };

/** @returns the first difference, in words; undefined for equal results */
function differenceOf({ program, origins }: CompiledModel, own: Result, cpu: Result): string | undefined {
  for (const [s, { dtype, count }] of program.steps.entries()) {
    const [tensor, expected, tree] = [own.tensors[s], cpu.tensors[s], cpu.trees?.get(s)];
    const place = `step ${s} (${origins[s]?.operator ?? "?"})`;
    if (tensor !== undefined && expected !== undefined && Buffer.compare(tensor, expected) !== 0) {
      let element = 0;
      while (element < count && readWord(tensor, element, dtype) === readWord(expected, element, dtype)) element++;
      return `element ${element} of ${place} has other bits`;
    }
    if (tree !== undefined && own.trees?.get(s)?.equals(tree) !== true) return `${place} is hashed to other nodes`;
  }
  return undefined;
}
