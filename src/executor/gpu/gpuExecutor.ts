import type { BlockInputs, BlockResult } from "../blocks/runBlock.ts";
import type { Executor } from "../createExecutor.ts";
import type { MatMulEngine } from "../engine/matMulEngine.ts";
import type { SuccessiveTrees } from "../successiveTrees.ts";
import type { Cutting } from "./dispatches.ts";
import type { KernelOptions } from "./generate/step.ts";
import type { ProductOptions } from "./product/product.ts";
import type { Readings } from "./session.ts";

/** Executes a program on a GPU. */
export type GpuExecutor = Omit<Executor, "runBlock" | "runApart"> & {
  /**
   * Executes consecutive items of a run one after the other, without a wait between items: what an item takes from the
   * item before stays on the GPU. Carried tensors are read of the first item alone. Of each item only the outputs and,
   * with `trees`, the roots of checkpoints are read; the last item is read as by `run`.
   * @returns as many items as take some seconds; none for programs without carried state, or without room for it
   * @throws as `run`
   */
  runChain(items: BlockInputs, trees?: SuccessiveTrees): Promise<BlockResult>;
  /** The steps that the CPU computes, and why. */
  readonly cpuSteps: readonly { step: number; reason: string }[];
  /** The steps whose products are computed by residues. */
  readonly products: readonly number[];
  /** The steps that unpack weights: readers unpack what they read, and the steps' tensors are written if asked for. */
  readonly unpacked: readonly number[];
  /** What was read of the GPU so far. */
  readonly readings: Readonly<Readings>;
};

export type GpuExecutorOptions = {
  /** The seed of spot checks; by default a fresh one. */
  seed?: number;
  /** The engine for steps on the CPU; by default onnxruntime. */
  engine?: MatMulEngine | undefined;
  /** How products are computed; by default as the GPU's shaders can. */
  products?: Partial<ProductOptions>;
  /** How the kernels of other steps are chosen. */
  kernels?: KernelOptions;
  /** How kernels are cut into dispatches. */
  cutting?: Cutting;
  /** How long a chain of items takes at most, by the time of the execution before: whoever waits sees its tokens. */
  chainMs?: number;
};
