import { getOrAdd } from "../../base/getOrAdd.ts";
import { MAKERS } from "./acceleratorSources.ts";
import { agreeOnMemory, LAYERS, type SeenAccelerator, sourceOf } from "./observation.ts";
import type { MachinePart } from "./part.ts";

/** The accelerators of a machine, and where sources disagree. */
export function judgeAccelerators(seen: readonly SeenAccelerator[]): { parts: MachinePart[]; warnings: string[] } {
  const named = seen.filter(({ uuid }) => uuid !== undefined);
  const onBus = seen.filter(({ uuid }) => uuid === undefined);
  const parts = [...new Set(named.map(({ uuid }) => uuid!))].map((uuid) =>
    partOf(named.filter((one) => one.uuid === uuid)),
  );
  const warnings = [...disagreements(named), ...placesOf(named, onBus), ...missingOnBus(parts, onBus)];
  // Devices that the bus shows and no driver names have no identity.
  const slots = new Set(named.map(({ slot }) => slot));
  for (const [vendor, devices] of grouped(onBus, ({ vendor }) => vendor)) {
    const known = parts.filter((part) => part.vendor === MAKERS[vendor]).length;
    const ordered = devices.toSorted((a, b) => Number(slots.has(b.slot)) - Number(slots.has(a.slot)));
    parts.push(...ordered.slice(known).map((one) => partOf([one])));
  }
  return { parts, warnings };
}

/** @param seen What sources say of one device. */
function partOf(seen: readonly SeenAccelerator[]): MachinePart {
  const [first] = seen;
  return {
    kind: "accelerator",
    vendor: first!.vendor,
    device: seen.find(({ device }) => device !== "")?.device ?? "",
    uuid: first!.uuid ?? "",
    memoryMiB: seen.find(({ memoryMiB }) => memoryMiB !== undefined)?.memoryMiB ?? 0,
    units: 1,
    layers: LAYERS.filter((layer) => seen.some((one) => one.layer === layer)),
  };
}

function disagreements(named: readonly SeenAccelerator[]): string[] {
  return [...grouped(named, ({ uuid }) => uuid!).values()].flatMap((devices) => {
    const name = nameOf(devices);
    const lines: string[] = [];
    for (const [k, first] of devices.entries())
      for (const one of devices.slice(k + 1)) {
        if (one.device !== "" && first.device !== "" && one.device !== first.device)
          lines.push(`${sourceOf(one)} says ${one.device}, ${sourceOf(first)} ${first.device}`);
        if (one.slot !== undefined && first.slot !== undefined && one.slot !== first.slot && !isSameSource(one, first))
          lines.push(`${sourceOf(one)} has ${name} at another place on the bus than ${sourceOf(first)}`);
        if (one.memoryMiB && first.memoryMiB && !agreeOnMemory(one.memoryMiB, first.memoryMiB))
          lines.push(
            `${sourceOf(one)} says ${one.memoryMiB} MiB of ${name}, ${sourceOf(first)} ${first.memoryMiB} MiB`,
          );
      }
    const sources = devices.map(sourceOf);
    if (new Set(sources).size < sources.length) lines.push(`${sources[0]} names one ${name} twice`);
    if (devices.every(({ layer }) => layer === "user"))
      lines.push(`only ${sources[0]} sees an accelerator ${name}: unproven, the kernel names none like it`);
    return lines;
  });
}

/** Compares the places of named devices with each other and with the bus: one card is not two, and no other card. */
function placesOf(named: readonly SeenAccelerator[], onBus: readonly SeenAccelerator[]): string[] {
  const lines: string[] = [];
  const placed = named.filter(({ slot }) => slot !== undefined);
  for (const devices of grouped(placed, (one) => `${sourceOf(one)} ${one.slot}`).values()) {
    const ids = new Set(devices.map(({ uuid }) => uuid));
    if (ids.size > 1)
      lines.push(
        `${sourceOf(devices[0]!)} names ${ids.size} accelerators at one place on the bus: one card seen twice`,
      );
  }
  const shownPlaces = onBus.filter(({ slot }) => slot !== undefined);
  for (const one of placed) {
    const shown = shownPlaces.find(({ slot }) => slot === one.slot);
    const what = `${sourceOf(one)} names ${one.device || "a device"}`;
    if (shown === undefined) {
      if (shownPlaces.length > 0) lines.push(`${what} at a place where /sys/bus/pci (kernel) shows no accelerator`);
    } else if (MAKERS[shown.vendor] !== one.vendor) {
      lines.push(`${what} of ${one.vendor}, where /sys/bus/pci (kernel) shows one of ${shown.vendor}`);
    } else if (shown.listed !== undefined && !isNamedLike(one.device, shown.listed)) {
      lines.push(`${what}, but the number of the device on the bus is that of ${shown.listed}: renamed, or a new name`);
    }
  }
  return lines;
}

/**
 * Whether a driver's name fits the list's name of the device's number: a word with a digit of the part in brackets is
 * a word of the driver's name. `NVIDIA H100 80GB HBM3` fits `GH100 [H100 SXM5 80GB]`. Names that say nothing fit.
 */
function isNamedLike(device: string, listed: string): boolean {
  const words = wordsOf(/\[(.*)\]/.exec(listed)?.[1] ?? listed).filter((word) => /\d/.test(word) && !SIZE.test(word));
  const own = wordsOf(device);
  return device === "" || words.length === 0 || words.some((word) => own.includes(word));
}

/** Sizes and sockets, which cards of different models share. */
const SIZE = /^(\d+G[BI]*B?|SXM\d*|HBM\d*\w*)$/;
const wordsOf = (text: string): string[] => text.toUpperCase().split(/[^0-9A-Z]+/);

const nameOf = (devices: readonly SeenAccelerator[]): string =>
  devices.find(({ device }) => device !== "")?.device ?? "accelerator";

const isSameSource = (a: SeenAccelerator, b: SeenAccelerator): boolean => sourceOf(a) === sourceOf(b);

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
