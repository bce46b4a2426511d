import * as os from "node:os";
import { acceleratorsOf } from "./acceleratorSources.ts";
import { physicalMachine } from "./dmi.ts";
import type { MachineObservation, SeenProcessors } from "./observation.ts";
import { fieldsOf, nameOf, numberOf, read, run } from "./reading.ts";

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

/** Looks at a machine from every side. What cannot be read says nothing. */
export async function look({ root, env, system }: Sources): Promise<MachineObservation> {
  const [lscpu, accelerators] = await Promise.all([run("lscpu", [], env), acceleratorsOf(root, env)]);
  const processors: SeenProcessors[] = [
    ofLibrary(system),
    ...(lscpu === "" ? [] : [ofLscpu(lscpu)]),
    ofProc(root),
    ...physicalMachine(root),
  ];
  return { processors, accelerators };
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
