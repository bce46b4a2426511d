import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import * as os from "node:os";
import { join } from "node:path";
import { physicalMachine } from "./dmi.ts";
import type { MachineObservation, SeenAccelerator, SeenProcessors } from "./observation.ts";

/** Where a machine is looked at. */
export type Sources = {
  /** The directory read instead of `/`: it contains `/proc` and `/sys`. */
  root: string;
  /** The environment of tools: `PATH` says which are run. */
  env: NodeJS.ProcessEnv;
  /** The operating system's library. */
  system: Pick<typeof os, "cpus" | "totalmem">;
};

export const THIS_MACHINE: Sources = { root: "/", env: process.env, system: os };

/** The longest text of a source, bytes; what is longer is not read. `/proc/cpuinfo` has some 1.5 kB a processor. */
const MAX_BYTES = 2 ** 22;

/** How long a tool may take. */
const TOOL_MS = 10_000;

/** The longest name that is taken over, characters. */
const MAX_NAME = 64;

/** Looks at a machine from every side. What cannot be read says nothing. */
export async function look({ root, env, system }: Sources): Promise<MachineObservation> {
  const [lscpu, nvidiaSmi] = await Promise.all([
    run("lscpu", [], env),
    run("nvidia-smi", ["--query-gpu=name,uuid,memory.total", "--format=csv,noheader,nounits"], env),
  ]);
  const processors: SeenProcessors[] = [
    ofLibrary(system),
    ...(lscpu === "" ? [] : [ofLscpu(lscpu)]),
    ofProc(root),
    ...physicalMachine(root),
  ];
  return { processors, accelerators: [...ofNvidiaSmi(nvidiaSmi), ...ofNvidiaDriver(root), ...ofPci(root)] };
}

function ofLibrary({ cpus, totalmem }: Sources["system"]): SeenProcessors {
  const all = cpus();
  return {
    layer: "user",
    source: "the library of the system",
    model: nameOf(all[0]?.model),
    units: all.length || undefined,
    memoryMiB: Math.floor(totalmem() / 2 ** 20),
  };
}

function ofLscpu(text: string): SeenProcessors {
  const { "Vendor ID": vendor, "Model name": model, "CPU(s)": units } = fieldsOf(text);
  return { layer: "user", source: "lscpu", vendor: nameOf(vendor), model: nameOf(model), units: numberOf(units) };
}

function ofProc(root: string): SeenProcessors {
  const info = read(root, "proc/cpuinfo");
  const { vendor_id: vendor, "model name": model } = fieldsOf(info);
  const kiB = numberOf(/^(\d+) kB$/.exec(fieldsOf(read(root, "proc/meminfo")).MemTotal ?? "")?.[1]);
  return {
    layer: "kernel",
    source: "/proc",
    vendor: nameOf(vendor),
    model: nameOf(model),
    units: [...info.matchAll(/^processor\s*:/gm)].length || undefined,
    memoryMiB: kiB && Math.floor(kiB / 1_024),
  };
}

function ofNvidiaSmi(text: string): SeenAccelerator[] {
  return text.split("\n").flatMap((line) => {
    const [device, uuid, memory] = line.split(",").map((part) => part.trim());
    if (uuid === undefined || !/^GPU-[0-9a-f-]{36}$/.test(uuid)) return [];
    const seen = { layer: "user", source: "nvidia-smi", vendor: "NVIDIA" } as const;
    return [{ ...seen, device: nameOf(device) ?? "", uuid, memoryMiB: numberOf(memory) }];
  });
}

/** Reads the accelerators that NVIDIA's kernel module lists. */
function ofNvidiaDriver(root: string): SeenAccelerator[] {
  return list(root, "proc/driver/nvidia/gpus").flatMap((gpu) => {
    const { Model: device, "GPU UUID": uuid } = fieldsOf(read(root, `proc/driver/nvidia/gpus/${gpu}/information`));
    if (uuid === undefined || !/^GPU-[0-9a-f-]{36}$/.test(uuid)) return [];
    const seen = { layer: "kernel", source: "/proc/driver/nvidia", vendor: "NVIDIA" } as const;
    return [{ ...seen, device: nameOf(device) ?? "", uuid }];
  });
}

/** Classes of PCI devices that compute: 3D controllers, processing accelerators; graphics of makers of accelerators. */
const ACCELERATOR = /^0x(0302|1200)/;
const GRAPHICS = /^0x03/;
const MAKERS = ["0x10de", "0x1002"];

function ofPci(root: string): SeenAccelerator[] {
  const folder = "sys/bus/pci/devices";
  return list(root, folder).flatMap((slot) => {
    const [kind, vendor, device] = ["class", "vendor", "device"].map((name) =>
      read(root, `${folder}/${slot}/${name}`).trim(),
    );
    if (!ACCELERATOR.test(kind!) && !(GRAPHICS.test(kind!) && MAKERS.includes(vendor!))) return [];
    return [{ layer: "kernel", source: "/sys/bus/pci", vendor: nameOf(vendor) ?? "", device: nameOf(device) ?? "" }];
  });
}

/** Lines of `name: value`; of lines with the same name the first counts. */
function fieldsOf(text: string): Record<string, string | undefined> {
  const lines = [...text.matchAll(/^([^:\n]+?)\s*:[^\S\n]*(.*)$/gm)].map(([, name, value]) => [
    name!.trim(),
    value!.trim(),
  ]);
  return Object.fromEntries(lines.reverse()) as Record<string, string>;
}

const nameOf = (text: string | undefined): string | undefined => text?.trim().slice(0, MAX_NAME) || undefined;
const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/**
 * Reads a file of `/proc` or `/sys`, where file sizes mean nothing. Returns an empty text if the file is unreadable.
 */
function read(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), "utf8").slice(0, MAX_BYTES);
  } catch {
    return "";
  }
}

function list(root: string, path: string): string[] {
  try {
    return readdirSync(join(root, path)).sort();
  } catch {
    return [];
  }
}

/** Returns a tool's output, or an empty text if the tool is missing or fails. */
function run(tool: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const options = { env: { ...env, LC_ALL: "C" }, timeout: TOOL_MS, maxBuffer: MAX_BYTES };
  return new Promise((resolve) => execFile(tool, args, options, (error, text) => resolve(error === null ? text : "")));
}
