import { dtypeBytes, dtypeName, readWord, type DType as DTypeCode } from "../numerics/dtype.ts";
import type { CircuitModel } from "./proverMessages.ts";
import { constantBytes } from "../program/constants.ts";
import { Op } from "../program/operations.ts";
import { hasTwoResults } from "../program/reduction.ts";
import type { Instruction, Step, TensorRef, View } from "../program/types.ts";
import { splitDigits, viewOffset } from "../program/view.ts";
import { programTerms } from "../program/work.ts";
import { getOrAdd } from "../base/getOrAdd.ts";
import { Circuit } from "./circuit.ts";
import { CircuitRefusalError, SpanError } from "./errors.ts";
import { constant, type Linear } from "./linear.ts";
import { Operations } from "./operations.ts";
import { reduceTerms, type Term } from "./reductions.ts";
import { numberOf, type Slot, type Value } from "./values.ts";
import {
  checkDomain,
  decodeFloat32,
  decodeInteger,
  encodeFloat32,
  encodeInteger,
  isKnownType,
  packWords,
  placesOf,
  rangeOf,
  valuesOf,
  type Decoded,
  type Domain,
} from "./words.ts";

/** A tensor in a circuit's public values. */
export type PublicTensor = { readonly name: string; readonly dtype: DTypeCode; readonly count: number };

/**
 * A program as constraints. The public values begin with a free value, the context. The inputs' words and the outputs'
 * words follow, packed.
 */
export type ProgramCircuit = {
  readonly circuit: Circuit;
  readonly inputs: readonly (PublicTensor & { readonly domain: Domain | undefined })[];
  readonly outputs: readonly PublicTensor[];
  /** The circuit assumes no values finer than 2^finest; undefined: no assumption. */
  readonly finest: number | undefined;
};

/** The most constraints in a circuit: a core then proves for about a minute. */
const MAX_CONSTRAINTS = 2 ** 19;
/** The most public values: the market's call with the key has 90,000 bytes then, and takes 9 of 12 million gas. */
const MAX_PUBLIC_VALUES = 900;
/** The most reduction terms and elements in a program. */
const MAX_TERMS = 2 ** 23;
/** The longest chain of steps: each takes a part of the call stack. */
const MAX_DEPTH = 256;
/** Units to try, from fine to coarse, where exact sums span too many bits. */
const UNITS = [undefined, -100, -90, -80, -72, -64, -56, -48, -40] as const;

/**
 * Makes constraints of a program.
 * @param domains The numbers for each float32 input, in the program's order; integers need no domain.
 * @throws CircuitRefusalError that names the step and why
 */
export function compileCircuit(model: CircuitModel, domains: readonly (Domain | undefined)[]): ProgramCircuit {
  checkProgram(model);
  let refusal: unknown;
  for (const finest of UNITS) {
    try {
      return new Compiler(model, domains, finest).compile();
    } catch (error) {
      if (!(error instanceof SpanError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** @throws CircuitRefusalError for a whole program */
function checkProgram(model: CircuitModel): void {
  const { inputs, steps } = model.program;
  const tensors = publicTensors(model);
  for (const { name, dtype } of [...tensors.inputs, ...tensors.outputs])
    if (!isKnownType(dtype))
      throw new CircuitRefusalError(`${name} is of ${dtypeName(dtype)}, and circuits know float32, integers and bools`);
  const terms = programTerms(steps);
  if (terms > MAX_TERMS) throw new CircuitRefusalError(`the program has ${terms} terms, at most ${MAX_TERMS}`);
  const values = 1 + valuesOf(placesOf([...tensors.inputs, ...tensors.outputs]));
  if (values > MAX_PUBLIC_VALUES) {
    const list = (of: readonly PublicTensor[]): string =>
      of.map(({ name, dtype, count }) => `${name} (${count} of ${dtypeName(dtype)})`).join(", ");
    throw new CircuitRefusalError(
      `${values} public values, and a transaction holds ${MAX_PUBLIC_VALUES}: the inputs ${list(tensors.inputs)}, ` +
        `the outputs ${list(tensors.outputs)}; a value holds 31 bytes, so give the model fewer or narrower elements`,
    );
  }
  inputs.forEach(({ source }, i) => {
    if (source !== undefined && source.kind !== "shared")
      throw new CircuitRefusalError(`input ${i} differs from item to item: a proof is about one item`);
  });
}

class Compiler {
  readonly #model: CircuitModel;
  readonly #circuit: Circuit;
  readonly #places: ReturnType<typeof placesOf>;
  readonly #operations: Operations;
  readonly #finest: number | undefined;
  readonly #inputs: Decoded[][] = [];
  readonly #domains: readonly (Domain | undefined)[];
  readonly #elements = new Map<number, (Value | undefined)[]>();
  readonly #constants = new Map<TensorRef, Uint8Array>();
  /** Steps in computation: each waits for an element of the next. */
  #depth = 0;

  constructor(model: CircuitModel, domains: readonly (Domain | undefined)[], finest: number | undefined) {
    [this.#model, this.#domains, this.#finest] = [model, domains, finest];
    const { inputs, outputs } = publicTensors(model);
    this.#places = placesOf([...inputs, ...outputs]);
    this.#circuit = new Circuit(1 + valuesOf(this.#places));
    this.#operations = new Operations(this.#circuit, finest);
  }

  compile(): ProgramCircuit {
    const { inputs, outputs } = publicTensors(this.#model);
    const words: Linear[] = [];
    inputs.forEach((tensor, i) => {
      this.#inputs.push(this.#decode(tensor, this.#domains[i], words.length));
      words.push(...this.#inputs[i]!.map(({ word }) => word));
    });
    const { program } = this.#model;
    outputs.forEach(({ dtype, count }, o) => {
      const { step } = program.checkpoints[program.outputs[o]!]!;
      for (let k = 0; k < count; k++) words.push(this.#encode(step, k, dtype));
    });
    packWords(words, this.#places).forEach((value, k) => this.#circuit.publish(1 + k, value));
    this.#checkSize();
    return {
      circuit: this.#circuit,
      inputs: inputs.map((tensor, i) => ({
        ...tensor,
        domain: rangeOf(tensor.dtype) === undefined ? this.#domains[i] : undefined,
      })),
      outputs,
      finest: this.#finest,
    };
  }

  /** @throws CircuitRefusalError */
  #checkSize(): void {
    if (this.#circuit.constraints.length > MAX_CONSTRAINTS)
      throw new CircuitRefusalError(`more than ${MAX_CONSTRAINTS} constraints`);
  }

  #decode({ name, dtype, count }: PublicTensor, domain: Domain | undefined, first: number): Decoded[] {
    const isFloat = rangeOf(dtype) === undefined;
    if (isFloat && domain === undefined) throw new CircuitRefusalError(`input ${name} has no domain`);
    if (isFloat) checkDomain(domain!);
    return Array.from({ length: count }, (_, k) =>
      isFloat ? decodeFloat32(this.#circuit, first + k, domain!) : decodeInteger(this.#circuit, first + k, dtype),
    );
  }

  #encode(step: number, index: number, dtype: DTypeCode): Linear {
    const value = this.#element(step, index);
    return this.#at(step, () => {
      if ("word" in value) return constant(BigInt.asUintN(8 * dtypeBytes(dtype), value.word));
      const number = numberOf(value, dtype);
      return rangeOf(dtype) === undefined
        ? encodeFloat32(this.#circuit, number)
        : encodeInteger(this.#circuit, number, dtype);
    });
  }

  /** Names the step in refusals. */
  #at<T>(step: number, compute: () => T): T {
    try {
      return compute();
    } catch (error) {
      if (error instanceof CircuitRefusalError && error.step === undefined)
        throw error.at(step, this.#model.origins[step]);
      throw error;
    }
  }

  #element(step: number, index: number): Value {
    const elements = getOrAdd(this.#elements, step, () => []);
    return (elements[index] ??= this.#at(step, () => {
      if (this.#depth === MAX_DEPTH)
        throw new CircuitRefusalError(`circuits know at most ${MAX_DEPTH} steps, each reading the step before`);
      this.#depth++;
      const value = this.#compute(this.#model.program.steps[step]!, index);
      this.#depth--;
      return value;
    }));
  }

  /** Mirrors `evaluateElement` with the circuit's values. */
  #compute(step: Step, index: number): Value {
    this.#checkSize();
    if (!isKnownType(step.dtype)) throw new CircuitRefusalError(`circuits do not know ${dtypeName(step.dtype)}`);
    const constants = step.constants.map(({ value }): Value => ({ word: value }));
    const outDigits = splitDigits(index, step.outDigits);
    const slots: Slot[] = this.#readAll(step, step.epilogueReads, outDigits);
    if (step.reduceType !== undefined) {
      if (!isKnownType(step.reduceType))
        throw new CircuitRefusalError(`circuits do not know ${dtypeName(step.reduceType)}`);
      slots.push(...reduceTerms(this.#operations, step, this.#terms(step, outDigits, constants)));
    }
    slots.push(...constants);
    this.#runCode(step.epilogue.code, slots, outDigits);
    return this.#operations.settled(slots[step.epilogue.out]!);
  }

  #terms(step: Step, outDigits: readonly number[], constants: readonly Value[]): Term[] {
    const count = step.redDigits.reduce((product, radix) => product * radix, 1);
    return Array.from({ length: count }, (_, r) => {
      const digits = [...outDigits, ...splitDigits(r, step.redDigits)];
      const slots: Slot[] = [...this.#readAll(step, step.termReads, digits), ...constants];
      this.#runCode(step.term.code, slots, digits);
      const settled = (slot: number): Value => this.#operations.settled(slots[slot]!);
      const b: Value = hasTwoResults(step.reduce) ? settled(step.term.outB) : { word: 0n };
      return { a: settled(step.term.outA), b };
    });
  }

  #runCode(code: readonly Instruction[], slots: Slot[], digits: readonly number[]): void {
    for (const { op, dtype, a, b, c } of code) {
      if (op === Op.digit) slots.push({ word: BigInt(digits[a]!) });
      else if (op === Op.cast) slots.push(this.#operations.cast(slots[a]!, dtype, b as DTypeCode));
      else slots.push(this.#operations.apply(op, dtype, slots[a]!, slots[b]!, slots[c]!));
    }
  }

  #readAll(step: Step, views: readonly View[], digits: readonly number[]): Value[] {
    const values: Value[] = [];
    for (const view of views) {
      const varying = view.axes
        .map(({ indirect }) => (indirect === undefined ? undefined : values[indirect]))
        .filter((value) => value !== undefined && "fixed" in value);
      const [index] = varying;
      if (varying.some((value) => value !== index))
        throw new CircuitRefusalError("a place that depends on two numbers of the data has no circuit");
      const at = (number: bigint): Value =>
        this.#readAt(
          step,
          view,
          digits,
          values.map((value) => ("word" in value ? value.word : number)),
        );
      values.push(index === undefined ? at(0n) : this.#operations.valueAt(index, step.inputs[view.input]!.dtype, at));
    }
    return values;
  }

  /** Reads a view, at indices that earlier reads gave. */
  #readAt(step: Step, view: View, digits: readonly number[], indices: readonly bigint[]): Value {
    const offset = viewOffset(view, digits, indices);
    return offset === undefined ? { word: view.fill } : this.#read(step.inputs[view.input]!, offset);
  }

  #read(ref: TensorRef, offset: number): Value {
    if (ref.kind === "step") return this.#element(ref.index, offset);
    if (ref.kind === "input") return { fixed: this.#inputs[ref.index]![offset]!.value };
    const bytes = getOrAdd(this.#constants, ref, () => constantBytes(this.#model.constants, ref));
    return { word: readWord(bytes, offset, ref.dtype) };
  }
}

/** The inputs and outputs of a program. */
function publicTensors({ program, inputs, outputs }: CircuitModel): {
  inputs: readonly PublicTensor[];
  outputs: readonly PublicTensor[];
} {
  return {
    inputs: program.inputs.map(({ dtype, count }, i) => ({ name: inputs[i]!.name, dtype, count })),
    outputs: program.outputs.map((checkpoint, o) => {
      const { dtype, count } = program.steps[program.checkpoints[checkpoint]!.step]!;
      return { name: outputs[o]!.name, dtype, count };
    }),
  };
}
