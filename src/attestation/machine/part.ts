import type { Layer } from "./observation.ts";

/** A machine's part, in reported form. */
export type MachinePart = {
  kind: "processors" | "accelerator";
  vendor: string;
  device: string;
  /** As its driver names it; empty if nothing does. It is reported hashed with the deployment. */
  uuid: string;
  memoryMiB: number;
  /** Logical processors, or 1. */
  units: number;
  /** The layers that have a source agreeing with all the fields above. */
  layers: Layer[];
};
