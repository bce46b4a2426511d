/*
 * What sources say of a machine. A layer is who could forge what a source of it says: several sources of one layer are
 * one witness.
 */

/** From the weakest: programs and libraries; the kernel; the hypervisor or the firmware; the maker of the hardware. */
export const LAYERS = ["user", "kernel", "hypervisor", "vendor"] as const;
export type Layer = (typeof LAYERS)[number];

/** A machine's processors and memory according to one source. Fields that the source does not state are absent. */
export type SeenProcessors = {
  layer: Layer;
  /** Named in warnings. */
  source: string;
  vendor?: string | undefined;
  model?: string | undefined;
  /** Logical processors. */
  units?: number | undefined;
  memoryMiB?: number | undefined;
};

/** An accelerator, as one source has it. */
export type SeenAccelerator = {
  layer: Layer;
  source: string;
  vendor: string;
  device: string;
  /** As its driver names it; absent where a source knows none. */
  uuid?: string | undefined;
  memoryMiB?: number | undefined;
  /** The place on the bus, to compare sources: no report has it. */
  slot?: string | undefined;
  /** The name of the device's number in the system's list of numbers. */
  listed?: string | undefined;
};

/** All that is seen of a machine. */
export type MachineObservation = { processors: SeenProcessors[]; accelerators: SeenAccelerator[] };

/** How a warning names a source. */
export const sourceOf = ({ source, layer }: Pick<SeenProcessors, "source" | "layer">): string => `${source} (${layer})`;

/** Memory that a kernel or a hypervisor keeps for itself makes sources differ: an eighth is no disagreement. */
const MEMORY_SHARE = 8;

/** Whether two sources agree on an amount of memory. */
export const agreeOnMemory = (a: number, b: number): boolean => Math.abs(a - b) * MEMORY_SHARE <= Math.max(a, b);
