import {
  compileDirect,
  directCode,
  type CompiledKernels,
  type DirectCode,
} from "../../numerics/kernels/direct/directKernels.ts";
import { EXACT_SCRATCH } from "../../numerics/kernels/exactDot.ts";
import { Reduce, type Step, type TensorRef } from "../../program/types.ts";
import { compileLoops, loopCode, type CompiledFunctions, type LoopCode } from "../loops/compile.ts";
import { compileReductions, reductionCode, type ReductionCode } from "../loops/reductions.ts";
import type { Region } from "../memory/memoryPlan.ts";
import type { Machine } from "../machine.ts";
import type { PlanOptions, StepPlan } from "./stepPlan.ts";
import { stepNanoseconds } from "./stepNanoseconds.ts";
import { hasTwoMemories } from "../../numerics/kernels/elementary/tables.ts";
import { ExecutionMemoryError } from "../errors.ts";
import { PlanResources, textOf, type PlannedModel } from "./planResources.ts";
import { inlinedWeights } from "./inlinedWeights.ts";
import { joinedSum } from "./joinedSum.ts";
import { both } from "./planFloatProduct.ts";
import { chooseStepPlan } from "./chooseStepPlan.ts";
import { planInPlace } from "./planInPlace.ts";

/** A program's plan: the addresses of data and the way to compute each step. */
export type ProgramPlan = {
  /**
   * Steps whose tensors are read only if tensors are altered: parts of sums computed whole, weights computed during
   * their multiplication, and differences whose operands are multiplied instead.
   */
  optional: ReadonlySet<number>;
  /** The options used for planning. */
  options: PlanOptions;
  /** The bytes of the main memory. `farBytes` gives the bytes for each further memory with constants. */
  bytes: number;
  farBytes: readonly number[];
  inputs: readonly Region[];
  /** For each thread, the memory for settling elements and for their counts. */
  settling: readonly { scratch: Region; stats: Region }[];
  /** The region for each step's tensor, reserved from that step until the tensor's last reader. */
  tensors: readonly Region[];
  steps: readonly StepPlan[];
  /** The approximate nanoseconds for each step that can be computed in parts; 0 for other steps. */
  nanoseconds: readonly number[];
  findings: Findings;
  loops: LoopCode;
  reductions: ReductionCode;
  directs: DirectCode;
  /**
   * Writes constants into the memory, in the forms read by steps. For constants stored unchanged, the model gives up
   * its own copy.
   * @returns A function returning the stored constants to the model.
   */
  prepare(machine: Machine): () => void;
};

/** The results of planning that let another thread make the same plan without the program's constants. */
export type Findings = {
  answers: readonly boolean[];
  loops: CompiledFunctions;
  reductions: CompiledFunctions;
  directs: CompiledKernels;
};

/**
 * Plans a program in one memory. A program needing more gets separate memories for constants.
 * @throws ExecutionMemoryError
 */
export function planWithin(model: PlannedModel, options: Omit<PlanOptions, "spreads">): ProgramPlan {
  try {
    return planProgram(model, { ...options, spreads: false });
  } catch (error) {
    if (!(error instanceof ExecutionMemoryError && hasTwoMemories)) throw error;
    return planProgram(model, { ...options, spreads: true });
  }
}

/**
 * Plans a program: each step's computation, and the data's places. The same program and options give the same plan in
 * every thread.
 * @param findings Another thread's findings; the other thread runs `prepare` itself.
 */
export function planProgram(model: PlannedModel, options: PlanOptions, findings?: Findings): ProgramPlan {
  const resources = new PlanResources(model, options, findings?.answers);
  const settling = Array.from({ length: options.threads }, () => ({
    scratch: resources.memory.permanent(EXACT_SCRATCH),
    stats: resources.memory.permanent(STATS_BYTES),
  }));
  const copied = new Set<number>();
  const first = new Map<string, number>();
  const nanoseconds: number[] = [];
  const steps = model.program.steps.map((step, s) => {
    const place = model.program.places?.get(s);
    const out = resources.out(step, place);
    if (place?.computes === false) {
      resources.tensors.push(out);
      nanoseconds.push(0);
      return NAMING;
    }
    const whole = wholeOf(resources, step);
    for (const absorbed of whole?.absorbed ?? []) resources.absorb(absorbed);
    const split =
      (place?.rows && planInPlace(resources, step, out, place.rows)) ?? chooseStepPlan(resources, step, out);
    const plan = whole === undefined ? split : eitherOf(chooseStepPlan(resources, whole.step, out), split);
    // Steps with only constant inputs are never copied: most plans do not even compute their tensors.
    const key = step.inputs.every(({ kind }) => kind === "constant") ? undefined : textOf(step);
    const same = key === undefined ? undefined : first.get(key);
    if (key !== undefined && same === undefined) first.set(key, s);
    else if (same !== undefined) {
      resources.tensors[same]!.keepUntil(s);
      copied.add(same);
    }
    resources.tensors.push(out);
    // A second thread does not make a copy faster.
    const isSplit = plan.shared && same === undefined;
    nanoseconds.push(isSplit ? stepNanoseconds(whole?.step ?? step, plan.termNanoseconds) : 0);
    return same === undefined ? plan : copyOf(resources.tensors[same]!, out, plan);
  });
  const loops = findings === undefined ? compileLoops(resources.specs) : loopCode(findings.loops);
  const reductions =
    findings === undefined ? compileReductions(resources.reductions) : reductionCode(findings.reductions);
  const directs = findings === undefined ? compileDirect(resources.directs) : directCode(findings.directs);
  return {
    optional: new Set([...resources.absorbed()].filter((step) => !copied.has(step))),
    options,
    bytes: resources.memory.settle(options.memoryBytes),
    farBytes: resources.far.bytes,
    inputs: resources.inputs,
    settling,
    tensors: resources.tensors,
    steps,
    nanoseconds,
    findings: {
      answers: resources.answers,
      loops: loops.compiled,
      reductions: reductions.compiled,
      directs: directs.compiled,
    },
    loops,
    reductions,
    directs,
    prepare(machine) {
      for (const { prepare } of steps) prepare?.(machine);
      resources.loadConstants(machine);
      for (const { loaded } of steps) loaded?.(machine);
      return resources.moveConstants(machine);
    },
  };
}

/** A step that only names memory. */
const NAMING: StepPlan = { shared: false, bind: () => () => undefined };

/** Four counts of 32 bits. */
const STATS_BYTES = 16;

/**
 * Merges a step with earlier steps: a total with the partial sums, or a product with the weights' computation.
 * @returns undefined if nothing can be merged; otherwise the merged step, and the steps whose tensors the merged step
 *   bypasses
 */
function wholeOf(resources: PlanResources, step: Step): { step: Step; absorbed: readonly number[] } | undefined {
  const stepOf = (ref: TensorRef): Step | undefined => resources.stepOf(ref);
  const view = step.termReads[step.term.outA];
  const ref = step.reduce === Reduce.total && view !== undefined ? step.inputs[view.input]! : undefined;
  const joined = ref?.kind === "step" ? joinedSum(stepOf(ref)!, step) : undefined;
  const inlined = inlinedWeights(joined ?? step, stepOf);
  const whole = inlined?.step ?? joined;
  if (whole === undefined) return undefined;
  const parts = joined !== undefined && ref?.kind === "step" ? [ref.index] : [];
  const absorbed = [...parts, ...(inlined === undefined ? [] : [inlined.weights])];
  return absorbed.some((s) => resources.readsRewritten(s)) ? undefined : { step: whole, absorbed };
}

/** Computes a step as one with earlier ones, or by itself if tensors are altered between steps. */
function eitherOf(whole: StepPlan, split: StepPlan): StepPlan {
  return {
    ...whole,
    prepare: both(whole.prepare, split.prepare),
    loaded: both(whole.loaded, split.loaded),
    bind(machine) {
      const [runWhole, runSplit] = [whole.bind(machine), split.bind(machine)];
      return () => (machine.altering.isOn ? runSplit() : runWhole());
    },
  };
}

/** Copies the tensor of an equal earlier step, unless tensors are altered between steps. */
function copyOf(source: Region, out: Region, plan: StepPlan): StepPlan {
  return {
    ...plan,
    bind(machine) {
      const compute = plan.bind(machine);
      const { bytes } = machine.views;
      return () => {
        if (machine.altering.isOn) return compute();
        if (machine.part === 0) bytes.copyWithin(out.address, source.address, source.address + source.bytes);
      };
    },
  };
}
