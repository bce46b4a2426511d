import { floatGraph } from "../graphs/floatGraphs.ts";
import type { Make } from "../operators/makers.ts";
import { ELEMENTWISE_FUZZ } from "./elementwise.ts";
import { MOVEMENT_FUZZ } from "./movement.ts";
import { SPATIAL_FUZZ } from "./spatial.ts";

/**
 * All families of random experiments, by name: families for a single operator each, and families for graphs with
 * several operators.
 */
export const FUZZ: Readonly<Record<string, Make>> = {
  ...ELEMENTWISE_FUZZ,
  ...MOVEMENT_FUZZ,
  ...SPATIAL_FUZZ,
  graph: (r) => floatGraph(r, r.pick([17, 17, 13]), r.int(2, 9)),
};
