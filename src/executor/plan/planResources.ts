import type { DirectSpec } from "../../kernels/direct/directKernels.ts";
import { DType, dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { constantBytes } from "../../program/constants.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Step, TensorRef } from "../../program/types.ts";
import { bytesOf, readableArray } from "../arrays.ts";
import { neededSlots, type Expression } from "../loops/slots.ts";
import type { ReductionSpec } from "../loops/reductionSpec.ts";
import type { LoopSpec } from "../loops/spec.ts";
import { MemoryPlan, type Region } from "../memory/memoryPlan.ts";
import type { Machine } from "../machine.ts";
import type { PlanOptions } from "./stepPlan.ts";

/** The parts of a compiled model from which plans are made. */
export type PlannedModel = Pick<CompiledModel, "program" | "constants">;

type ConstantRef = TensorRef & { kind: "constant" };

/** The same root may be read as several tensors: of different types, or with different numbers of zeros at the end. */
const constantKey = (ref: ConstantRef): string => `${ref.root} ${ref.dtype} ${ref.count}`;
const bytesOfRef = ({ dtype, count }: { dtype: DTypeCode; count: number }): number => dtypeBytes(dtype) * count;

/**
 * Collects the loops, kernels and memory regions that the steps of a program need, each region with the time for which
 * it is needed. Step s runs at moment s. The inputs arrive at moment -1; before it, each step has another moment, at
 * which its weights are prepared.
 */
export class PlanResources {
  readonly memory = new MemoryPlan();
  readonly specs: LoopSpec[] = [];
  readonly reductions: ReductionSpec[] = [];
  readonly directs: DirectSpec[] = [];
  readonly options: PlanOptions;
  readonly inputs: readonly Region[];
  /** The tensor of each step that has been planned. */
  readonly tensors: Region[] = [];
  readonly #model: PlannedModel;
  readonly #constants = new Map<string, { ref: ConstantRef; region: Region }>();
  /** For each step, the later steps that do not read its tensor but compute from its inputs what they need of it. */
  readonly #absorbers = new Map<number, Set<number>>();
  readonly #prepared = new Map<string, Region>();
  /** The answers about constants, in the order of the questions. */
  readonly answers: boolean[] = [];
  readonly #known: readonly boolean[] | undefined;

  /** @param known The answers of another resources for the same program: constants are not read then. */
  constructor(model: PlannedModel, options: PlanOptions, known?: readonly boolean[]) {
    this.#model = model;
    this.options = options;
    this.#known = known;
    this.inputs = model.program.inputs.map((input) => this.memory.during(bytesOfRef(input), -1, -1));
  }

  /** The number of a loop among those of a machine. */
  loop(spec: LoopSpec): number {
    return this.specs.push(spec) - 1;
  }

  /** The number of a reduction among those of a machine. */
  reduction(spec: ReductionSpec): number {
    return this.reductions.push(spec) - 1;
  }

  /** The number of a direct kernel among those of a machine. */
  direct(spec: DirectSpec): number {
    return this.directs.push(spec) - 1;
  }

  /** The step that gives a tensor. */
  stepOf(ref: TensorRef): Step | undefined {
    return ref.kind === "step" ? this.#model.program.steps[ref.index] : undefined;
  }

  /** Notes that the step being planned reads the tensor of another step only if tensors are altered. */
  absorb(step: number): void {
    this.#absorbers.set(step, (this.#absorbers.get(step) ?? new Set()).add(this.moment));
  }

  /** The steps whose tensors are read only if tensors are altered. */
  absorbed(): Set<number> {
    const readers = new Map<number, Set<number>>();
    this.#model.program.steps.forEach(({ inputs }, reader) => {
      for (const ref of inputs)
        if (ref.kind === "step") readers.set(ref.index, (readers.get(ref.index) ?? new Set()).add(reader));
    });
    const all = [...this.#absorbers].filter(([step, absorbers]) => absorbers.size === readers.get(step)?.size);
    return new Set(all.map(([step]) => step));
  }

  /** Makes something once for each thread. */
  perThread<T>(make: () => T): T[] {
    return Array.from({ length: this.options.threads }, make);
  }

  /** The step that is being planned. */
  get moment(): number {
    return this.tensors.length;
  }

  /** Memory for the time of this step alone. */
  scratch(bytes: number): Region {
    return this.memory.during(bytes, this.moment, this.moment);
  }

  /** The inputs of a step that a loop reads, by number; others are undefined. */
  sources(step: Step, spec: Expression & { outs: readonly number[] }): (Region | undefined)[] {
    const used = inputsOf(spec);
    return step.inputs.map((ref, n) => (used.has(n) ? this.source(ref) : undefined));
  }

  /** All inputs of a step. */
  allSources(step: Step): Region[] {
    return step.inputs.map((ref) => this.source(ref));
  }

  /** The region of a tensor that the step being planned reads. */
  source(ref: TensorRef): Region {
    if (ref.kind === "constant") {
      const key = constantKey(ref);
      const known = this.#constants.get(key) ?? { ref, region: this.memory.permanent(bytesOfRef(ref)) };
      this.#constants.set(key, known);
      return known.region;
    }
    const region = (ref.kind === "input" ? this.inputs : this.tensors)[ref.index]!;
    region.keepUntil(this.moment);
    return region;
  }

  /** Memory for data that is made once, from constants only, and shared by all requests for the same data. */
  prepared(
    step: Step,
    spec: LoopSpec,
    { key, bytes, temporary, fill }: Preparation,
  ): { region: Region; prepare?: (machine: Machine) => void } {
    const used = inputsOf(spec);
    const refs = step.inputs.map((ref, n) => (used.has(n) ? (ref as ConstantRef) : undefined));
    const full = `${key} ${refs.map((ref) => ref && constantKey(ref)).join(";")} ${specKey(spec)}`;
    const known = this.#prepared.get(full);
    if (known !== undefined) return { region: known };
    const region = this.memory.permanent(bytes);
    this.#prepared.set(full, region);
    const moment = this.moment - this.#model.program.steps.length - 1;
    const staged = refs.map((ref) => ref && this.memory.during(bytesOfRef(ref), moment, moment));
    const scratch = this.memory.during(temporary, moment, moment);
    const prepare = (machine: Machine): void => {
      refs.forEach((ref, n) => ref && this.#load(machine, ref, staged[n]!));
      const addresses = staged.map((part) => part?.address ?? 0);
      fill(machine, region, addresses, scratch);
    };
    return { region, prepare };
  }

  /** Whether a result of a step's term is an int32 constant as it is, and `test` accepts the whole constant. */
  areBytes(step: Step, slot: number, test: (values: Int32Array) => unknown): boolean {
    const view = step.termReads[slot];
    const ref = view && step.inputs[view.input]!;
    if (ref?.kind !== "constant" || ref.dtype !== DType.int32) return false;
    return this.#answer(
      () => test(readableArray(constantBytes(this.#model.constants, ref), ref.dtype) as Int32Array) !== undefined,
    );
  }

  /** Answers a question about the values of constants. Threads without the constants use the first thread's answers. */
  #answer(find: () => boolean): boolean {
    const answer = this.#known?.[this.answers.length] ?? find();
    this.answers.push(answer);
    return answer;
  }

  /** Writes the constants that loops read into their memory. */
  loadConstants(machine: Machine): void {
    for (const { ref, region } of this.#constants.values()) this.#load(machine, ref, region);
  }

  #load({ views }: Machine, ref: ConstantRef, region: Region): void {
    views.bytes.set(bytesOf(readableArray(constantBytes(this.#model.constants, ref), ref.dtype)), region.address);
  }
}

type Preparation = {
  /** Identifies what is made, together with the constants and the loop. */
  key: string;
  bytes: number;
  /** Bytes that are needed while it is made. */
  temporary: number;
  /** Makes it; `sources` are the addresses of the step's inputs while it runs. */
  fill: (machine: Machine, region: Region, sources: readonly number[], temporary: Region) => void;
};

/** The numbers of the sources that a loop reads. */
function inputsOf(spec: Expression & { outs: readonly number[] }): Set<number> {
  const slots = [...neededSlots(spec, spec.outs)].filter((slot) => slot < spec.reads.length);
  return new Set(slots.map((slot) => spec.reads[slot]!.input));
}

const specKey = (spec: LoopSpec): string =>
  JSON.stringify(spec, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
