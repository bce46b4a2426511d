import { join } from "node:path";
import type { GpuFacts } from "../executor/gpu/device.ts";
import { GpuReports } from "../runs/gpuReports.ts";
import { STATE_FOLDER } from "./folders.ts";
import { version } from "./version.ts";
import type { Execute } from "../runs/execute.ts";
import { CPU_SHARE, DeviceExecutions } from "../runs/deviceExecutions.ts";
import { chooseDevice } from "../executor/gpu/chooseExecutor.ts";
import { problemOf, type Health } from "../base/health.ts";
import type { Logger } from "../base/log.ts";
import type { Monitor } from "./monitor.ts";
import { share, text } from "./parse.ts";
import { defaulted, type SettingValues } from "./settings.ts";

/** This user's reports by `refute device gpus`. */
export const reportsOfGpus = (): GpuReports => new GpuReports(join(STATE_FOLDER, "gpus"), version());

/** The device on which a serving process computes. */
export const deviceSettings = {
  device: defaulted("device", "where jobs are computed: cpu, gpu, auto or a part of a GPU's name", text, "cpu"),
  cpuShare: defaulted(
    "share",
    "of a GPU's executions that the CPU repeats before the result counts, 0 to 1",
    share,
    CPU_SHARE,
  ),
};

/**
 * Opens the device of the settings, with a self-test.
 * @param cpu Executes on the CPU.
 * @throws MissingPackageError, CannotRunHereError, ExecutionMemoryError or ExecutionDeviceError for a GPU that is asked
 *   for and cannot be used
 */
export async function openDevice(
  { device, cpuShare }: SettingValues<typeof deviceSettings>,
  cpu: Execute,
  {
    health,
    monitor,
    log,
  }: { health: Health; monitor: Pick<Monitor, "onDevice" | "onEvent" | "onGpuSeconds">; log: Logger },
  choose = chooseDevice,
): Promise<{ execute: Execute; close: () => Promise<void> }> {
  const refusalOf = (facts: GpuFacts): string | undefined => reportsOfGpus().refusalOf(facts);
  const gpu = await choose(device, (reason) => log.warn({ device }, reason), undefined, refusalOf);
  monitor.onDevice(gpu?.name ?? "cpu");
  if (gpu === undefined) return { execute: cpu, close: () => Promise.resolve() };
  log.info({ device: gpu.name, products: gpu.products, cpuShare }, "the GPU passed its self test");
  health.set("device", undefined);
  return new DeviceExecutions({
    ...{ gpu, cpu, share: cpuShare },
    onGpuSeconds: monitor.onGpuSeconds,
    onStop: (error) => {
      log.error({ device: gpu.name, code: error.code, reason: error.message }, "the GPU is stopped; the CPU computes");
      health.set("device", problemOf(error, "the CPU computes"));
      monitor.onEvent({ kind: "gpuStopped" });
      monitor.onDevice("cpu");
    },
    onRefusal: (programRoot, reason) => log.warn({ programRoot, reason }, "the CPU executes a program"),
  });
}
