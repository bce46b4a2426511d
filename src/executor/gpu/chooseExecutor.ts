import { CannotRunHereError } from "../../base/platform.ts";
import { MissingPackageError } from "../../base/optionalPackage.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { isElementary, type Op } from "../../program/operations.ts";
import { createExecutor, type Executor, type ExecutorOptions } from "../createExecutor.ts";
import { ExecutionDeviceError, ExecutionMemoryError } from "../errors.ts";
import { openGpu, type GpuFacts } from "./device.ts";
import { createGpuExecutor, kindsOf } from "./executor.ts";
import type { GpuExecutor } from "./gpuExecutor.ts";
import { fastestKind } from "./product/fastestKind.ts";
import type { ResidueKind } from "./product/moduli.ts";
import { selfTestGpu } from "./selfTest.ts";
import { timedProduct } from "./timedProduct.ts";

/** Executes jobs and items one by one: blocks of items are for the CPU. */
export type OneAtATime = Omit<Executor, "runBlock" | "runApart">;

/** The same on a GPU, which also executes items of a run without a wait between them. */
export type OnGpu = OneAtATime & Pick<GpuExecutor, "runChain">;

/** A GPU after its tests. */
export type Device = {
  readonly name: string;
  /** How the GPU computes products: the kind that was fastest in a measurement. */
  readonly products: ResidueKind;
  /** @throws ExecutionMemoryError if the program is too large for the GPU; ExecutionDeviceError */
  createExecutor(model: CompiledModel, options?: Pick<ExecutorOptions, "engine">): Promise<OnGpu>;
  /** Ends the use of the GPU for good. @returns the error for all later executions */
  fail(finding: string): ExecutionDeviceError;
  close(): void;
};

/** An executor, and its device: `cpu`, or a GPU's name. */
export type ChosenExecutor = OneAtATime & { readonly device: string };

/**
 * Opens the device that somebody chose. A GPU is tested before: a small model and elementary functions. Then the
 * fastest kernel of products is chosen by measuring.
 * @param device `cpu`; `gpu` for the fastest GPU; `auto` for the fastest GPU that passes its tests, or else the CPU;
 *   any other text is a part of a GPU's name.
 * @param warn Receives the reason if `auto` becomes the CPU.
 * @param functions The functions to test; by default all.
 * @param refusalOf Says why a GPU must not compute, by what was found of it before.
 * @returns undefined for the CPU
 * @throws MissingPackageError, CannotRunHereError, ExecutionMemoryError or ExecutionDeviceError if a GPU is asked for
 *   and cannot be used
 */
export async function chooseDevice(
  device: string,
  warn: (reason: string) => void,
  functions?: readonly Op[],
  refusalOf?: (facts: GpuFacts) => string | undefined,
): Promise<Device | undefined> {
  if (device === "cpu") return undefined;
  try {
    const gpu = await openGpu(["auto", "gpu"].includes(device) ? undefined : device);
    let products: ResidueKind;
    try {
      const refusal = refusalOf?.(gpu.facts);
      if (refusal !== undefined) throw new CannotRunHereError(refusal);
      await selfTestGpu(gpu, undefined, functions);
      products = await fastestKind(kindsOf(gpu), (kind, size, times) => timedProduct(gpu, kind, size, times));
    } catch (error) {
      gpu.close();
      throw error;
    }
    return {
      name: gpu.facts.name,
      products,
      createExecutor: (model, { engine } = {}) =>
        createGpuExecutor(model, gpu, { engine, products: { kind: products } }),
      fail: (finding) => gpu.fail(finding),
      close: () => gpu.close(),
    };
  } catch (error) {
    return elseCpu(device, error, warn);
  }
}

/** @throws the error, unless `auto` allows the CPU instead */
function elseCpu(device: string, error: unknown, warn: (reason: string) => void): undefined {
  if (device !== "auto" || !isUnavailable(error)) throw error;
  warn(`computing on the CPU: ${error.message}`);
}

const isUnavailable = (error: unknown): error is Error =>
  [MissingPackageError, CannotRunHereError, ExecutionMemoryError, ExecutionDeviceError].some(
    (known) => error instanceof known,
  );

/**
 * Creates an executor on a device: see {@link chooseDevice}. If the GPU fails later, the job is computed again on the
 * CPU, as are all later jobs.
 * @param warn Receives the reason whenever the CPU computes instead.
 * @param options How the CPU computes.
 * @throws as `chooseDevice`; the errors of `createExecutor`
 */
export async function createExecutorOn(
  device: string,
  model: CompiledModel,
  warn: (reason: string) => void,
  options: Pick<ExecutorOptions, "engine"> = {},
): Promise<ChosenExecutor> {
  const codes = model.program.steps.flatMap(({ term, epilogue }) => [...term.code, ...epilogue.code]);
  const functions = [...new Set(codes.map(({ op }) => op).filter(isElementary))];
  const chosen = await chooseDevice(device, warn, functions);
  const onCpu = (): Promise<Executor> => createExecutor(model, options);
  if (chosen === undefined) return { ...(await onCpu()), device: "cpu" };
  try {
    return onDevice(chosen, await chosen.createExecutor(model, options), onCpu, warn);
  } catch (error) {
    chosen.close();
    elseCpu(device, error, warn);
    return { ...(await onCpu()), device: "cpu" };
  }
}

/** Executes on a GPU until the GPU fails, then on the CPU. */
function onDevice(
  gpu: Device,
  first: OneAtATime,
  onCpu: () => Promise<OneAtATime>,
  warn: (reason: string) => void,
): ChosenExecutor {
  let [executor, isWell] = [first, true];
  return {
    get bytes() {
      return executor.bytes;
    },
    get device() {
      return isWell ? gpu.name : "cpu";
    },
    async run(inputs, options) {
      try {
        return await executor.run(inputs, options);
      } catch (error) {
        if (!isWell || !(error instanceof ExecutionDeviceError)) throw error;
        isWell = false;
        warn(error.message);
        await executor.close().catch(() => undefined);
        executor = await onCpu();
        return executor.run(inputs, options);
      }
    },
    async close() {
      await executor.close();
      gpu.close();
    },
  };
}
