import type { Make } from "../operators/makers.ts";
import { ELEMENTWISE_FUZZ } from "./elementwise.ts";
import { GRAPH_FUZZ } from "./graphs.ts";
import { MOVEMENT_FUZZ } from "./movement.ts";
import { SPATIAL_FUZZ } from "./spatial.ts";

/** All families of random experiments, by name. */
export const FUZZ: Readonly<Record<string, Make>> = {
  ...ELEMENTWISE_FUZZ,
  ...MOVEMENT_FUZZ,
  ...SPATIAL_FUZZ,
  ...GRAPH_FUZZ,
};
