import { dtypeBytes } from "../../numerics/dtype.ts";
import { EXACT_SCRATCH } from "../../kernels/exactDot.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Step } from "../../program/types.ts";
import { compileLoops, type LoopCode } from "../loops/compile.ts";
import { compileReductions, type ReductionCode } from "../loops/reductions.ts";
import type { Region } from "../memory/memoryPlan.ts";
import type { Machine, PlanOptions, StepPlan } from "./plan.ts";
import { Planner } from "./planner.ts";
import { planStep } from "./stepPlan.ts";

/** A program with a place for everything and a way to compute each step. */
export type ProgramPlan = {
  /** Bytes of memory needed. */
  bytes: number;
  inputs: readonly Region[];
  /** For each thread, what settling elements needs, and its counts. */
  settling: readonly { scratch: Region; stats: Region }[];
  /** The tensor of each step. It holds it from that step on to the last that reads it. */
  tensors: readonly Region[];
  steps: readonly StepPlan[];
  loops: LoopCode;
  reductions: ReductionCode;
  /** Writes constants, in the forms that steps read, into the memory. */
  prepare(machine: Machine): void;
};

/** Plans a program: what is computed how, and where it lies. The same program and options give the same plan in every thread. */
export function planProgram(model: CompiledModel, options: PlanOptions): ProgramPlan {
  const planner = new Planner(model, options);
  const settling = Array.from({ length: options.threads }, () => ({
    scratch: planner.memory.permanent(EXACT_SCRATCH),
    stats: planner.memory.permanent(STATS_BYTES),
  }));
  const first = new Map<string, number>();
  const steps = model.program.steps.map((step, s) => {
    const out = planner.memory.during(step.count * dtypeBytes(step.dtype), s, s);
    const plan = planStep(planner, step, out);
    const same = first.get(keyOf(step));
    if (same === undefined) first.set(keyOf(step), s);
    else planner.tensors[same]!.keepUntil(s);
    planner.tensors.push(out);
    return same === undefined ? plan : copyOf(planner.tensors[same]!, out, plan);
  });
  return {
    bytes: planner.memory.settle(),
    inputs: planner.inputs,
    settling,
    tensors: planner.tensors,
    steps,
    loops: compileLoops(planner.specs),
    reductions: compileReductions(planner.reductions),
    prepare(machine) {
      for (const { prepare } of steps) prepare?.(machine);
      planner.loadConstants(machine);
    },
  };
}

/** Four counts of 32 bits. */
const STATS_BYTES = 16;

const keyOf = (step: Step): string =>
  JSON.stringify(step, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

/** A step that computes what an earlier one has computed: its tensor is copied, unless tensors are altered on the way. */
function copyOf(source: Region, out: Region, plan: StepPlan): StepPlan {
  return {
    ...plan,
    bind(machine) {
      const compute = plan.bind(machine);
      const { bytes } = machine.views;
      return () => {
        if (machine.isAltered) return compute();
        if (machine.part === 0) bytes.copyWithin(out.address, source.address, source.address + source.bytes);
      };
    },
  };
}
