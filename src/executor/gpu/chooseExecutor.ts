import { CannotRunHereError } from "../../base/platform.ts";
import { MissingPackageError } from "../../base/optionalPackage.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { isElementary } from "../../program/operations.ts";
import { createExecutor, type Executor } from "../createExecutor.ts";
import { ExecutionDeviceError, ExecutionMemoryError } from "../errors.ts";
import { openGpu, type Gpu } from "./device.ts";
import { createGpuExecutor } from "./executor.ts";
import { selfTestGpu } from "./selfTest.ts";

/** Executes jobs and items one by one: blocks of items are for the CPU. */
type OneAtATime = Omit<Executor, "runBlock">;

/** An executor, and where it computes: `cpu`, or a GPU's name. */
type ChosenExecutor = OneAtATime & { readonly device: string };

/**
 * Creates an executor on a device. A GPU is tested before: a small model, and each elementary function of the program.
 * If the GPU fails later, the job is computed again on the CPU, as are all later jobs.
 * @param device `cpu`; `gpu` for the fastest GPU; `auto` for the fastest GPU that can compute the program, or else the
 *   CPU; any other text is a part of a GPU's name.
 * @param warn Receives the reason whenever the CPU computes instead.
 * @throws MissingPackageError, CannotRunHereError or ExecutionMemoryError if a GPU is asked for and cannot be used; the
 *   errors of `createExecutor`
 */
export async function createExecutorOn(
  device: string,
  model: CompiledModel,
  warn: (reason: string) => void,
): Promise<ChosenExecutor> {
  const onCpu = async (): Promise<ChosenExecutor> => ({ ...(await createExecutor(model)), device: "cpu" });
  if (device === "cpu") return onCpu();
  try {
    return await onGpu(await openGpu(["auto", "gpu"].includes(device) ? undefined : device), model, warn);
  } catch (error) {
    if (device !== "auto" || !isUnavailable(error)) throw error;
    warn(`computing on the CPU: ${error.message}`);
    return onCpu();
  }
}

const isUnavailable = (error: unknown): error is Error =>
  [MissingPackageError, CannotRunHereError, ExecutionMemoryError, ExecutionDeviceError].some(
    (known) => error instanceof known,
  );

async function onGpu(gpu: Gpu, model: CompiledModel, warn: (reason: string) => void): Promise<ChosenExecutor> {
  let executor: OneAtATime;
  try {
    const codes = model.program.steps.flatMap(({ term, epilogue }) => [...term.code, ...epilogue.code]);
    const functions = [...new Set(codes.map(({ op }) => op).filter(isElementary))];
    await selfTestGpu(gpu, undefined, functions);
    executor = await createGpuExecutor(model, gpu);
  } catch (error) {
    gpu.close();
    throw error;
  }
  let isWell = true;
  return {
    get bytes() {
      return executor.bytes;
    },
    get device() {
      return isWell ? gpu.facts.name : "cpu";
    },
    async run(inputs, options) {
      try {
        return await executor.run(inputs, options);
      } catch (error) {
        if (!isWell || !(error instanceof ExecutionDeviceError)) throw error;
        isWell = false;
        warn(error.message);
        await executor.close().catch(() => undefined);
        executor = await createExecutor(model);
        return executor.run(inputs, options);
      }
    },
    async close() {
      await executor.close();
      gpu.close();
    },
  };
}
