import type { DirectSpec } from "../../numerics/kernels/direct/directKernels.ts";
import { DType, dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { constantBytes } from "../../program/constants.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Program, Step, TensorRef } from "../../program/types.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { bytesOf, readableArray } from "../arrays.ts";
import { neededSlots, type Expression } from "../loops/slots.ts";
import type { ReductionSpec } from "../loops/reductionSpec.ts";
import type { LoopSpec } from "../loops/spec.ts";
import { FarMemories, MemoryPlan, PartOfRegion, type Region } from "../memory/memoryPlan.ts";
import type { Views } from "../memory/views.ts";
import type { Rows } from "../blocks/inPlace.ts";
import type { Machine } from "../machine.ts";
import type { PlanOptions } from "./stepPlan.ts";

/** The rows of a result differing from the old contents in memory: fixed rows, and rows where bools hold. */
export type ChangedRows = Rows & { masks: readonly TensorRef[] };

/** Where a step's tensor lies, and whether the step computes the tensor or only names memory. */
export type Place = {
  /** A tensor with the step's tensor as a part, from byte `offset` on; if absent, the step has memory of its own. */
  of?: { kind: "step" | "input"; index: number };
  offset?: number;
  computes: boolean;
  /** If given, the place holds the step's result already, except for these rows. */
  rows?: ChangedRows;
};

/** A program, perhaps with steps behind its own that execute blocks of items (src/executor/blocks). */
export type PlannedProgram = Program & {
  /** By step; other steps compute a tensor of their own. */
  places?: ReadonlyMap<number, Place>;
  /** For each input, the step at which it arrives; -1, the default, is before all steps. */
  arrivals?: readonly number[];
};

/** The parts of a compiled model needed for planning. */
export type PlannedModel = Pick<CompiledModel, "constants"> & { program: PlannedProgram };

type ConstantRef = TensorRef & { kind: "constant" };

/**
 * Distinguishes tensors with the same root: they may have different types, or different numbers of zeros at the end.
 */
const constantKey = (ref: ConstantRef): string => `${ref.root} ${ref.dtype} ${ref.count}`;
const bytesOfRef = ({ dtype, count }: { dtype: DTypeCode; count: number }): number => dtypeBytes(dtype) * count;

/**
 * Collects the loops, kernels and memory regions for a program's steps. Each region records when it is needed. Step s
 * runs at moment s. The inputs arrive at moment -1. Earlier moments, one per step, prepare the weights.
 */
export class PlanResources {
  readonly memory = new MemoryPlan();
  readonly specs: LoopSpec[] = [];
  readonly reductions: ReductionSpec[] = [];
  readonly directs: DirectSpec[] = [];
  readonly #options: PlanOptions;
  readonly inputs: readonly Region[];
  /** The tensor of each planned step. */
  readonly tensors: Region[] = [];
  readonly #model: PlannedModel;
  readonly #constants = new Map<string, { ref: ConstantRef; region: Region }>();
  /**
   * For each step, the later steps that bypass the step's tensor and compute the needed values from the step's inputs.
   */
  readonly #absorbers = new Map<number, Set<number>>();
  /** Memories for constants that only loops read, with their contents. */
  readonly far: FarMemories;
  readonly #farConstants = new Map<string, { ref: ConstantRef; region: Region }>();
  readonly #prepared = new Map<string, Region>();
  /** The entries' numbers in each specification list. */
  readonly #numbers = new Map<unknown, Map<string, number>>();
  /** The first step that executes blocks of items. */
  readonly #firstOfBlocks: number;
  /** The answers about constants, in the order of the questions. */
  readonly answers: boolean[] = [];
  readonly #known: readonly boolean[] | undefined;
  #rewritten: Set<string> | undefined;

  /** @param known The answers of another resources for the same program: constants are not read then. */
  constructor(model: PlannedModel, options: PlanOptions, known?: readonly boolean[]) {
    this.#model = model;
    this.#options = options;
    this.#known = known;
    this.far = new FarMemories(options.memoryBytes);
    const { inputs, arrivals } = model.program;
    this.inputs = inputs.map((input, k) => {
      const moment = arrivals?.[k] ?? -1;
      return this.memory.during(bytesOfRef(input), moment, moment);
    });
    const first = arrivals?.find((moment) => moment >= 0);
    this.#firstOfBlocks = first ?? Infinity;
  }

  /** The options for the step being planned. */
  get options(): PlanOptions {
    return this.moment < this.#firstOfBlocks ? this.#options : { ...this.#options, packs: true };
  }

  /**
   * Where the tensor of the step being planned lies.
   * @param place None for a place of its own.
   */
  out({ dtype, count }: Step, place: Place | undefined): Region {
    const bytes = bytesOfRef({ dtype, count });
    if (place?.of === undefined) return this.memory.during(bytes, this.moment, this.moment);
    const whole = (place.of.kind === "input" ? this.inputs : this.tensors)[place.of.index]!;
    whole.keepUntil(this.moment);
    return new PartOfRegion(whole, place.offset ?? 0, bytes);
  }

  /**
   * Returns a loop's number among the loops of a machine. Equal loops, as in a model's repeated layers, share a number.
   */
  loop(spec: LoopSpec): number {
    return this.#numberOf(this.specs, spec);
  }

  /**
   * Plans a loop over a step's inputs, and returns the regions read, by input number. Constants may lie in separate
   * memories.
   */
  loopOver(step: Step, spec: LoopSpec): { loop: number; sources: (Region | undefined)[] } {
    const used = inputsOf(spec);
    const sources = step.inputs.map((ref, n) => (used.has(n) ? this.#anySource(ref) : undefined));
    const memories = spec.sourceTypes.map((_, n) => sources[n]?.memory ?? 0);
    const isFar = memories.some((memory) => memory > 0);
    return { loop: this.loop(isFar ? { ...spec, sourceMemories: memories } : spec), sources };
  }

  /** Returns the region of a tensor that may lie outside the computing memory. */
  #anySource(ref: TensorRef): Region {
    if (!this.options.spreads || ref.kind !== "constant") return this.source(ref);
    const place = (): { ref: ConstantRef; region: Region } => ({ ref, region: this.far.place(bytesOfRef(ref)) });
    return getOrAdd(this.#farConstants, constantKey(ref), place).region;
  }

  /** Returns a reduction's number among the reductions of a machine. */
  reduction(spec: ReductionSpec): number {
    return this.#numberOf(this.reductions, spec);
  }

  /** Returns a direct kernel's number among the direct kernels of a machine. */
  direct(spec: DirectSpec): number {
    return this.#numberOf(this.directs, spec);
  }

  #numberOf<Spec>(list: Spec[], spec: Spec): number {
    const known = getOrAdd(this.#numbers, list, () => new Map<string, number>());
    return getOrAdd(known, textOf(spec), () => list.push(spec) - 1);
  }

  /** Whether a step reads memory that is changed in place: no later step may compute the step's values again. */
  readsRewritten(step: number): boolean {
    const { places, steps } = this.#model.program;
    this.#rewritten ??= new Set(
      [...(places ?? [])].flatMap(([s, { of, rows }]) => (rows ? [`step ${s}`, `${of!.kind} ${of!.index}`] : [])),
    );
    return steps[step]!.inputs.some(
      (ref) => ref.kind !== "constant" && this.#rewritten!.has(`${ref.kind} ${ref.index}`),
    );
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
    const { steps } = this.#model.program;
    const readers = steps.map(() => new Set<number>());
    const all = new Set<number>();
    for (let s = steps.length - 1; s >= 0; s--) {
      const absorbers = this.#absorbers.get(s);
      if (absorbers !== undefined && [...readers[s]!].every((reader) => absorbers.has(reader))) all.add(s);
      // Absorbing steps read this step's inputs instead.
      const own = all.has(s) ? absorbers! : [s];
      for (const ref of steps[s]!.inputs)
        if (ref.kind === "step") for (const reader of own) readers[ref.index]!.add(reader);
    }
    return all;
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

  /** Returns the step inputs that a loop reads, by number; other entries are undefined. */
  sources(step: Step, spec: Expression & { outs: readonly number[] }): (Region | undefined)[] {
    const used = inputsOf(spec);
    return step.inputs.map((ref, n) => (used.has(n) ? this.source(ref) : undefined));
  }

  /** All inputs of a step. */
  allSources(step: Step): Region[] {
    return step.inputs.map((ref) => this.source(ref));
  }

  /** Returns all inputs of a step, for code not bound to one memory: see `bytesAt`. */
  readSources(step: Step): Region[] {
    return step.inputs.map((ref) => this.#anySource(ref));
  }

  /** Returns the region of a tensor read by the step being planned. */
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

  /** Returns permanent memory under a name, for data made at the first request. */
  once(name: string, bytes: number): { region: Region; isKnown: boolean } {
    const known = this.#prepared.get(name);
    if (known !== undefined) return { region: known, isKnown: true };
    const region = this.memory.permanent(bytes);
    this.#prepared.set(name, region);
    return { region, isKnown: false };
  }

  /** Memory for data that is made once, from constants only, and shared by all requests for the same data. */
  prepared(
    step: Step,
    spec: LoopSpec,
    { key, bytes, temporary, fill }: Preparation,
  ): { region: Region; prepare?: (machine: Machine) => void } {
    const used = inputsOf(spec);
    const refs = step.inputs.map((ref, n) => (used.has(n) ? (ref as ConstantRef) : undefined));
    const full = `${key} ${refs.map((ref) => ref && constantKey(ref)).join(";")} ${textOf(spec)}`;
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

  /**
   * Returns true if a result of the step's term equals an unchanged int32 constant, and `test` accepts the whole
   * constant.
   */
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
    for (const { ref, region } of this.#placed()) this.#load(machine, ref, region);
  }

  /**
   * Lets the model's constants lie in the memory where loops read them, and nowhere else.
   * @returns What copies them out of it again.
   */
  moveConstants(machine: Machine): () => void {
    const { constants } = this.#model;
    const moved = this.#placed().flatMap(({ ref: { root }, region }) => {
      const held = constants.get(root);
      // Those of another executor stay there.
      if (held?.length !== region.bytes || held.buffer instanceof SharedArrayBuffer) return [];
      const part = bytesAt(machine, region);
      constants.set(root, part);
      return [{ root, part }];
    });
    return () => {
      for (const { root, part } of moved) if (constants.get(root) === part) constants.set(root, Uint8Array.from(part));
    };
  }

  #placed(): { ref: ConstantRef; region: Region }[] {
    return [...this.#constants.values(), ...this.#farConstants.values()];
  }

  #load(machine: Machine, ref: ConstantRef, region: Region): void {
    viewsOf(machine, region).bytes.set(
      bytesOf(readableArray(constantBytes(this.#model.constants, ref), ref.dtype)),
      region.address,
    );
  }
}

const viewsOf = ({ views, farViews }: Machine, { memory }: Region): Views =>
  memory === 0 ? views : farViews[memory - 1]!;

/** Returns the bytes of a region in any memory, without copying. */
export const bytesAt = (machine: Machine, region: Region): Uint8Array =>
  viewsOf(machine, region).part(region.address, region.bytes);

type Preparation = {
  /** Identifies the prepared data, together with the constants and the loop. */
  key: string;
  bytes: number;
  /** Bytes that are needed while it is made. */
  temporary: number;
  /** Prepares the data. `sources` are the addresses of the step's inputs during preparation. */
  fill: (machine: Machine, region: Region, sources: readonly number[], temporary: Region) => void;
};

/** Returns the numbers of all sources read by a loop. */
function inputsOf(spec: Expression & { outs: readonly number[] }): Set<number> {
  const slots = [...neededSlots(spec, spec.outs)].filter((slot) => slot < spec.reads.length);
  return new Set(slots.map((slot) => spec.reads[slot]!.input));
}

/** A specification or a step as text: the same for equal ones. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part));
