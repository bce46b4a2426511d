import { productKernels } from "../../numerics/kernels/productKernels.ts";
import { Views, type ProgramMemories } from "../memory/views.ts";
import { noStats } from "../certificateStats.ts";
import type { MatMulEngine } from "../engine/matMulEngine.ts";
import { SpotChecks } from "../spotChecks.ts";
import { StageClock } from "../stages.ts";
import type { Machine, Operation } from "../machine.ts";
import type { ProgramPlan } from "./planProgram.ts";

/** Creates the machine for a thread that executes a plan alone. */
export function machineOf(
  plan: ProgramPlan,
  { memory, far }: ProgramMemories,
  engine: MatMulEngine,
  { thread, alwaysExact, checksAll }: { thread: number; alwaysExact: boolean; checksAll: boolean },
): Machine {
  const { scratch, stats } = plan.settling[thread]!;
  return {
    memory,
    views: new Views(memory),
    farViews: far.map((each) => new Views(each)),
    loops: plan.loops.on(memory, far),
    reductions: plan.reductions.on(memory),
    directs: plan.directs.on(memory),
    engine,
    kernels: productKernels(memory),
    settleScratch: scratch.address,
    settleStats: stats.address,
    stats: noStats(),
    clock: new StageClock(),
    checks: new SpotChecks({ areAll: checksAll }),
    alwaysExact,
    altering: { isOn: false },
    ...{ thread, part: 0, parts: 1 },
  };
}

/** Returns a thread's operations for the thread's parts of each step; undefined for unsplit steps. */
export function partsOf(
  plan: ProgramPlan,
  machine: Machine,
  parts: readonly number[],
): (readonly Operation[] | undefined)[] {
  return plan.steps.map((step, s) => {
    const count = parts[s]!;
    if (count < 2) return undefined;
    return Array.from({ length: count }, (_, part) => step.bind({ ...machine, part, parts: count }));
  });
}
