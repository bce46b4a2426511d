import type { Layer } from "./observation.ts";

/** A part of a machine, as it is reported. */
export type Part = {
  kind: "processors" | "accelerator";
  vendor: string;
  device: string;
  /** As its driver names it; empty if nothing does. It is reported hashed with the deployment. */
  uuid: string;
  memoryMiB: number;
  /** Logical processors, or 1. */
  units: number;
  /** The layers of which a source agrees with all this. */
  layers: Layer[];
};
