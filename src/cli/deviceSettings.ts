import { join } from "node:path";
import type { GpuFacts } from "../executor/gpu/device.ts";
import { GpuReports } from "../runs/gpuReports.ts";
import { STATE_FOLDER } from "./folders.ts";
import { version } from "./version.ts";
import type { Execute } from "../runs/execute.ts";
import { CPU_SHARE, DeviceExecutions, type DeviceOptions } from "../runs/deviceExecutions.ts";
import { chooseDevice, type Device } from "../executor/gpu/chooseExecutor.ts";
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

/** What somebody is told of a device. */
type DeviceEvents = {
  /** Why the CPU computes, where `auto` was asked for. */
  onCpu: (reason: string) => void;
  /** What computes from now on: a GPU's name, or `cpu`. */
  onDevice: (name: string) => void;
  /** A GPU passed its self-test. */
  onTested: (gpu: Device) => void;
} & Pick<DeviceOptions, "onGpuSeconds" | "onStop" | "onRefusal">;

/** Tells the log, the monitor and the conditions of a serving process. */
export function deviceEvents(
  { device, cpuShare }: SettingValues<typeof deviceSettings>,
  {
    health,
    monitor,
    log,
  }: { health: Health; monitor: Pick<Monitor, "onDevice" | "onEvent" | "onGpuSeconds">; log: Logger },
): DeviceEvents {
  return {
    onCpu: (reason) => log.warn({ device }, reason),
    onDevice: (name) => monitor.onDevice(name),
    onTested({ name, products }) {
      log.info({ device: name, products, cpuShare }, "the GPU passed its self test");
      health.set("device", undefined);
    },
    onGpuSeconds: monitor.onGpuSeconds,
    onStop(error) {
      log.error({ device, code: error.code, reason: error.message }, "the GPU is stopped; the CPU computes");
      health.set("device", problemOf(error, "the CPU computes"));
      monitor.onEvent({ kind: "gpuStopped" });
    },
    onRefusal: (programRoot, reason) => log.warn({ programRoot, reason }, "the CPU executes a program"),
  };
}

/**
 * Opens the device of the settings, with a self-test.
 * @param cpu Executes on the CPU.
 * @throws MissingPackageError, CannotRunHereError, ExecutionMemoryError or ExecutionDeviceError for a GPU that is asked
 *   for and cannot be used
 */
export async function openDevice(
  { device, cpuShare }: SettingValues<typeof deviceSettings>,
  cpu: Execute,
  events: DeviceEvents,
  choose = chooseDevice,
): Promise<{ execute: Execute; close: () => Promise<void> }> {
  const refusalOf = (facts: GpuFacts): string | undefined => reportsOfGpus().refusalOf(facts);
  const gpu = await choose(device, events.onCpu, undefined, refusalOf);
  events.onDevice(gpu?.name ?? "cpu");
  if (gpu === undefined) return { execute: cpu, close: () => Promise.resolve() };
  events.onTested(gpu);
  const { onGpuSeconds, onRefusal } = events;
  return new DeviceExecutions({
    ...{ gpu, cpu, share: cpuShare, onGpuSeconds, onRefusal },
    onStop(error) {
      events.onStop(error);
      events.onDevice("cpu");
    },
  });
}
