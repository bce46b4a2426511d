import { getOrAdd } from "../../base/getOrAdd.ts";
import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { axisRange, REACH } from "../../program/loops.ts";
import { Op } from "../../program/operations.ts";
import {
  Reduce,
  type Instruction,
  type Program,
  type ProgramInput,
  type Step,
  type TensorRef,
  type View,
} from "../../program/types.ts";
import { ExecutionMemoryError } from "../errors.ts";
import type { Place, PlannedProgram } from "../plan/planResources.ts";
import { apartProgram } from "./apart.ts";
import { blockOrder, type BlockOrder, type Rows } from "./inPlace.ts";

/** What a step of a block computes: a step of the program for some consecutive items, one tensor behind the other. */
type Made = {
  step: number;
  item: number;
  items: number;
  /** The program's input whose tensor is changed in place, if any. */
  changes?: number | undefined;
};

/** The steps of a planned program that execute a block of items. */
export type BlockPart = {
  /** The most items: shorter blocks are filled up. */
  items: number;
  /** The range of steps, `from .. to - 1`. */
  from: number;
  to: number;
  /** For each input of the program, the input of the planned program, and whether each item has a tensor of its own. */
  inputs: readonly { index: number; isEach: boolean }[];
  /** By step of the planned program. A step that is the same for all items counts for item 0 with `items` of 0. */
  made: ReadonlyMap<number, Made>;
};

/** The lengths of blocks to execute, each list from small to large. */
export type BlockLengths = {
  lengths: readonly number[];
  /** The checkpoints whose tensors are given for each item: what the caller guesses. */
  guessed: readonly number[];
  /** Block lengths for items of different runs. */
  apart?: readonly number[];
};

type StepOrInput = { kind: "step" | "input"; index: number };

/**
 * Appends to a program what executes blocks of its items: the same mathematics with another order. A step without
 * differences between items is computed once. A step on no circle gets one more digit, the item, slowest of all. The
 * steps of a circle are repeated for each item.
 * @throws ExecutionMemoryError if a tensor of a block has more elements than loops can count
 */
export function withBlocks(
  program: Program,
  { lengths: sizes, guessed, apart: apartSizes = [] }: BlockLengths,
): { program: PlannedProgram; parts: BlockPart[]; apart: BlockPart[] } {
  const all = {
    steps: [...program.steps],
    inputs: [...program.inputs],
    places: new Map<number, Place>(),
    arrivals: program.inputs.map(() => -1),
  };
  const order = blockOrder(program, new Set(guessed));
  const parts = sizes.map((items) => new BlockWriter(program, items, new Set(guessed), all).write(order));
  const own = apartProgram(program);
  const none = new Set<number>();
  const apart = apartSizes.map((items) => new BlockWriter(own, items, none, all).write(blockOrder(own, none)));
  return { program: { ...program, ...all }, parts, apart };
}

type Written = { steps: Step[]; inputs: ProgramInput[]; places: Map<number, Place>; arrivals: number[] };

class BlockWriter {
  readonly #program: Program;
  readonly #items: number;
  readonly #guessed: ReadonlySet<number>;
  readonly #all: Written;
  readonly #inputs: BlockPart["inputs"];
  readonly #made = new Map<number, Made>();
  /** For a step on no circle, the written step: of all items, or the same for all. */
  readonly #whole = new Map<number, { ref: TensorRef; isEach: boolean }>();
  /** For a step on a circle, the written step of each item. */
  readonly #single = new Map<number, TensorRef[]>();
  /** Tensors of single items within tensors of all, and tensors of all put together from single ones. */
  readonly #parts = new Map<string, TensorRef>();
  readonly #joined = new Map<string, TensorRef>();
  #inPlace: BlockOrder["inPlace"] = new Map();
  /** For steps that follow a carried tensor, the bools of the changes. */
  readonly #followed = new Map<number, { mask: TensorRef; rows: Rows }>();
  /** The steps that a step on no circle reads. */
  #readWhole: ReadonlySet<number> = new Set();

  constructor(program: Program, items: number, guessed: ReadonlySet<number>, all: Written) {
    [this.#program, this.#items, this.#guessed, this.#all] = [program, items, guessed, all];
    this.#inputs = program.inputs.map(({ dtype, count, source }) => {
      const isEach =
        source?.kind === "each" ||
        source?.kind === "index" ||
        (source?.kind === "carried" && guessed.has(source.checkpoint));
      all.arrivals.push(all.steps.length);
      return { index: all.inputs.push({ dtype, count: isEach ? this.#times(count) : count }) - 1, isEach };
    });
  }

  write({ components, inPlace }: BlockOrder): BlockPart {
    this.#inPlace = inPlace;
    for (const { mask, followers } of inPlace.values())
      for (const [s, rows] of followers) this.#followed.set(s, { mask, rows });
    const from = this.#all.steps.length;
    // Inputs arrive at a step of their own: before, their memory belongs to other steps.
    this.#name(DType.bool, 1, [], { computes: false });
    const whole = components.flatMap(({ steps, isCircle }) => (isCircle ? [] : steps));
    const read = whole.flatMap((s) => this.#program.steps[s]!.inputs);
    this.#readWhole = new Set(read.flatMap((ref) => (ref.kind === "step" ? [ref.index] : [])));
    for (const { steps, isCircle } of components) {
      if (isCircle) for (let item = 0; item < this.#items; item++) for (const s of steps) this.#writeSingle(s, item);
      else this.#writeWhole(steps[0]!);
    }
    // Changed tensors are read once more at the end.
    for (const { input } of inPlace.values()) {
      const { dtype, count } = this.#program.inputs[input]!;
      this.#name(dtype, count, [], { of: this.#inputOf(input), offset: 0, computes: false });
    }
    return { items: this.#items, from, to: this.#all.steps.length, inputs: this.#inputs, made: this.#made };
  }

  #times(count: number): number {
    if (count * this.#items >= REACH)
      throw new ExecutionMemoryError(`a tensor of ${count} elements is too large for ${this.#items} items together`);
    return count * this.#items;
  }

  #writeWhole(s: number): void {
    const step = this.#program.steps[s]!;
    const given = step.inputs.map((ref) => this.#wholeRef(ref));
    const inputs = given.map(({ ref }) => ref);
    const isEach = given.some((each) => each.isEach);
    const written = isEach
      ? ofItems(step, inputs, this.#items, (input) => (given[input]!.isEach ? step.inputs[input]!.count : undefined))
      : { ...step, inputs };
    this.#times(step.count);
    const ref = this.#add(written, undefined);
    this.#whole.set(s, { ref, isEach });
    this.#made.set(ref.index, { step: s, item: 0, items: isEach ? this.#items : 0 });
  }

  #writeSingle(s: number, item: number): void {
    const step = this.#program.steps[s]!;
    const of = getOrAdd(this.#single, s, () => []);
    const inputs = step.inputs.map((ref) => this.#refOf(ref, item));
    const key = `after ${s}`;
    const changed = this.#inPlace.get(s);
    const grouped = this.#readWhole.has(s) ? this.#partOf(this.#group(key, step), step, item, true) : undefined;
    const followed = this.#followed.get(s);
    let place: Place | undefined = grouped;
    if (changed !== undefined) {
      const rows = { ...changed, masks: [this.#refOf(changed.mask, item)] };
      place = { of: this.#inputOf(changed.input), offset: 0, computes: true, rows };
    } else if (followed !== undefined && item > 0) {
      const rows = { ...followed.rows, masks: [this.#refOf(followed.mask, item - 1)] };
      place = { of: of[0] as StepOrInput, offset: 0, computes: true, rows };
    }
    of[item] = this.#add({ ...step, inputs }, place);
    this.#made.set((of[item] as StepOrInput).index, { step: s, item, items: 1, changes: changed?.input });
  }

  /** An input, as the place of other tensors. */
  #inputOf(input: number): StepOrInput {
    return { kind: "input", index: this.#inputs[input]!.index };
  }

  /** A tensor in the form for a step over all items. */
  #wholeRef(ref: TensorRef): { ref: TensorRef; isEach: boolean } {
    if (ref.kind === "constant") return { ref, isEach: false };
    if (ref.kind === "step") return this.#whole.get(ref.index) ?? { ref: this.#after(ref.index), isEach: true };
    const { index, isEach } = this.#inputs[ref.index]!;
    if (this.#carriedFrom(ref.index) !== undefined) return { ref: this.#before(ref.index), isEach: true };
    return { ref: { ...ref, index, count: isEach ? this.#times(ref.count) : ref.count }, isEach };
  }

  /** A tensor as an item reads it. */
  #refOf(ref: TensorRef, item: number): TensorRef {
    if (ref.kind === "constant") return ref;
    const checkpoint = ref.kind === "input" ? this.#carriedFrom(ref.index) : undefined;
    if (checkpoint !== undefined && item > 0) {
      const { step } = this.#program.checkpoints[checkpoint]!;
      return this.#refOf({ ...ref, kind: "step", index: step }, item - 1);
    }
    if (checkpoint !== undefined) return { ...ref, index: this.#inputs[ref.index]!.index };
    const single = ref.kind === "step" ? this.#single.get(ref.index) : undefined;
    if (single !== undefined) return single[item]!;
    const whole = this.#wholeRef(ref);
    if (!whole.isEach) return whole.ref;
    const of = whole.ref as StepOrInput;
    return getOrAdd(this.#parts, `${of.kind} ${of.index}, ${item}`, () =>
      this.#name(ref.dtype, ref.count, [whole.ref], this.#partOf(of, ref, item, false)),
    );
  }

  /** The checkpoint that an input is carried from, unless the caller gives the input for each item. */
  #carriedFrom(input: number): number | undefined {
    const { source } = this.#program.inputs[input]!;
    return source?.kind === "carried" && !this.#guessed.has(source.checkpoint) ? source.checkpoint : undefined;
  }

  /** The tensors that a circle's step gave, of all items. */
  #after(s: number): TensorRef {
    const step = this.#program.steps[s]!;
    return this.#join(`after ${s}`, step, this.#single.get(s)!);
  }

  /** What all items take from the items before them: copies, for the first one may come from outside the block. */
  #before(input: number): TensorRef {
    const { dtype, count } = this.#program.inputs[input]!;
    const key = `before ${input}`;
    const known = this.#joined.get(key);
    if (known !== undefined) return known;
    const group = this.#group(key, { dtype, count });
    const refs = Array.from({ length: this.#items }, (_, item) => {
      const from = this.#refOf({ kind: "input", index: input, dtype, count }, item);
      return this.#add(copyOf(from), this.#partOf(group, { dtype, count }, item, true));
    });
    return this.#join(key, { dtype, count }, refs);
  }

  /** Memory for a tensor of each item, one behind the other. */
  #group(key: string, { dtype, count }: Pick<Step, "dtype" | "count">): StepOrInput {
    const ref = getOrAdd(this.#parts, key, () => this.#name(dtype, this.#times(count), [], { computes: false }));
    return ref as StepOrInput;
  }

  /** A group's whole memory, for readers behind the last tensor of the group. */
  #join(key: string, { dtype, count }: Pick<Step, "dtype" | "count">, refs: readonly TensorRef[]): TensorRef {
    const group = this.#parts.get(key) as StepOrInput;
    return getOrAdd(this.#joined, key, () =>
      this.#name(dtype, this.#times(count), refs, { of: group, offset: 0, computes: false }),
    );
  }

  #partOf(of: StepOrInput, { dtype, count }: Pick<Step, "dtype" | "count">, item: number, computes: boolean): Place {
    return { of, offset: item * count * dtypeBytes(dtype), computes };
  }

  /** A step that computes nothing and gives memory a name. It reads what must be computed for it. */
  #name(dtype: DType, count: number, inputs: readonly TensorRef[], place: Place): TensorRef {
    return this.#add({ ...NOTHING, dtype, count, inputs, outDigits: [count] }, place);
  }

  #add(step: Step, place: Place | undefined): TensorRef & StepOrInput {
    const index = this.#all.steps.push(step) - 1;
    if (place !== undefined) this.#all.places.set(index, place);
    return { kind: "step", index, dtype: step.dtype, count: step.count };
  }
}

/**
 * A step for several items: the item is the first digit.
 * @param countOf For each input, the elements of one item's tensor; undefined where all items read the same.
 */
function ofItems(
  step: Step,
  inputs: readonly TensorRef[],
  items: number,
  countOf: (input: number) => number | undefined,
): Step {
  const radices = [items, ...step.outDigits, ...step.redDigits];
  const view = (read: View): View => {
    const axes = read.axes.map((axis) => ({
      ...axis,
      coeffs: axis.coeffs.map(({ digit, coeff }) => ({ digit: digit + 1, coeff })),
    }));
    const count = countOf(read.input);
    if (count === undefined) return { ...read, axes };
    // An axis that spans the tensor and is never left counts the items too: plans look for plain views.
    const k = axes.findIndex((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices[digit] ?? 1);
      const isInside = axis.indirect === undefined && axis.div === 1 && low >= 0 && high < axis.extent;
      return isInside && axis.extent * axis.stride === count;
    });
    const own = axes[k] ?? { extent: 1, stride: count, base: 0, div: 1, coeffs: [] };
    const spanning = {
      ...own,
      extent: own.extent * items,
      coeffs: [{ digit: 0, coeff: own.extent }, ...own.coeffs],
    };
    return { ...read, axes: k < 0 ? [spanning, ...axes] : axes.with(k, spanning) };
  };
  const code = (instruction: Instruction): Instruction =>
    instruction.op === Op.digit ? { ...instruction, a: instruction.a + 1 } : instruction;
  return {
    ...step,
    inputs,
    count: step.count * items,
    outDigits: [items, ...step.outDigits],
    termReads: step.termReads.map(view),
    epilogueReads: step.epilogueReads.map(view),
    term: { ...step.term, code: step.term.code.map(code) },
    epilogue: { ...step.epilogue, code: step.epilogue.code.map(code) },
  };
}

/** A step that copies a tensor. */
function copyOf(ref: TensorRef): Step {
  const { dtype, count } = ref;
  const axis = { extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] };
  const epilogueReads = [{ input: 0, fill: 0n, axes: [axis] }];
  return { ...NOTHING, dtype, count, inputs: [ref], outDigits: [count], epilogueReads };
}

const NOTHING = {
  ...{ redDigits: [], reduce: Reduce.none, constants: [], termReads: [], epilogueReads: [] },
  ...{ term: { code: [], outA: 0, outB: 0 }, epilogue: { code: [], out: 0 } },
};
