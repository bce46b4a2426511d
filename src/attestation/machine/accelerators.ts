import { getOrAdd } from "../../base/getOrAdd.ts";
import { LAYERS, type SeenAccelerator, sourceOf } from "./observation.ts";
import type { MachinePart } from "./part.ts";

/** Makers by their PCI vendor: their drivers name devices that the bus shows too. */
const MAKERS: Record<string, string> = { "0x10de": "NVIDIA" };

/** The accelerators of a machine, and where sources disagree. */
export function judgeAccelerators(seen: readonly SeenAccelerator[]): { parts: MachinePart[]; warnings: string[] } {
  const named = seen.filter(({ uuid }) => uuid !== undefined);
  const onBus = seen.filter(({ uuid }) => uuid === undefined);
  const parts = [...new Set(named.map(({ uuid }) => uuid!))].map((uuid) =>
    partOf(named.filter((one) => one.uuid === uuid)),
  );
  const warnings = [...disagreements(named), ...missingOnBus(parts, onBus)];
  // Devices that the bus shows and no driver names have no identity.
  for (const [vendor, devices] of grouped(onBus, ({ vendor }) => vendor)) {
    const known = parts.filter((part) => part.vendor === MAKERS[vendor]).length;
    parts.push(...devices.slice(known).map((one) => partOf([one])));
  }
  return { parts, warnings };
}

/** @param seen What sources say of one device. */
function partOf(seen: readonly SeenAccelerator[]): MachinePart {
  const [first] = seen;
  return {
    kind: "accelerator",
    vendor: first!.vendor,
    device: first!.device,
    uuid: first!.uuid ?? "",
    memoryMiB: seen.find(({ memoryMiB }) => memoryMiB !== undefined)?.memoryMiB ?? 0,
    units: 1,
    layers: LAYERS.filter((layer) => seen.some((one) => one.layer === layer)),
  };
}

function disagreements(named: readonly SeenAccelerator[]): string[] {
  return [...grouped(named, ({ uuid }) => uuid!).values()].flatMap((devices) => {
    const [first, ...others] = devices;
    const renamed = others.filter(({ device }) => device !== first!.device);
    const lines = renamed.map((one) => `${sourceOf(one)} says ${one.device}, ${sourceOf(first!)} ${first!.device}`);
    const sources = devices.map(sourceOf);
    if (new Set(sources).size < sources.length) lines.push(`${sources[0]} names one ${first!.device} twice`);
    if (devices.every(({ layer }) => layer === "user"))
      lines.push(`only ${sourceOf(first!)} sees an accelerator ${first!.device}: the kernel names none like it`);
    return lines;
  });
}

function missingOnBus(parts: readonly MachinePart[], onBus: readonly SeenAccelerator[]): string[] {
  return Object.entries(MAKERS).flatMap(([vendor, maker]) => {
    const [named, shown] = [
      parts.filter((part) => part.vendor === maker).length,
      onBus.filter((one) => one.vendor === vendor).length,
    ];
    return named <= shown
      ? []
      : [`drivers name ${named} accelerators of ${maker}, /sys/bus/pci (kernel) shows ${shown}`];
  });
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) getOrAdd(groups, keyOf(one), () => []).push(one);
  return groups;
}
