import { isFloat, type DType, type Word } from "../../numerics/dtype.ts";
import type { Attribute, Body, Node, TensorData } from "../../model/onnx/model.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { NodeInputError, UnsupportedOperatorError } from "../errors.ts";
import type { Expressions } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { wordNumber } from "../../numerics/numbers.ts";

/** An integer as a number, the nearest number of 53 bits for larger integers. */
const saturated = (value: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));

/** The data for lowering a node: the node, typed attributes, and the builder. */
export class NodeContext {
  readonly builder: ProgramBuilder;
  readonly node: Node;
  /** The version of the operator set in the node's domain. */
  readonly opset: number;
  readonly inputs: readonly (LazyTensor | undefined)[];
  #read = new Set<string>();

  constructor(builder: ProgramBuilder, node: Node, opset: number, inputs: readonly (LazyTensor | undefined)[]) {
    this.builder = builder;
    this.node = node;
    this.opset = opset;
    this.inputs = inputs;
  }

  /**
   * Returns the same node, read under another ai.onnx operator set: for operators from other domains with the same
   * meaning.
   */
  asOf(opset: number): NodeContext {
    const other = new NodeContext(this.builder, this.node, opset, this.inputs);
    other.#read = this.#read;
    return other;
  }

  /** The same node over other inputs. */
  withInputs(inputs: readonly (LazyTensor | undefined)[]): NodeContext {
    const other = new NodeContext(this.builder, this.node, this.opset, inputs);
    other.#read = this.#read;
    return other;
  }

  /** Returns a node with other attributes, all known, over the same inputs. */
  withAttributes(attributes: ReadonlyMap<string, Attribute>): NodeContext {
    return new NodeContext(this.builder, { ...this.node, attributes }, this.opset, this.inputs);
  }

  get expressions(): Expressions {
    return this.builder.expressions;
  }

  /** Refuses the node because an attribute or input has no entry in the table. */
  refuse(attribute: string | undefined, why: string): never {
    throw new UnsupportedOperatorError(this.node, attribute, why);
  }

  /** Refuses the node because its inputs do not fit together. */
  fail(what: string): never {
    throw new NodeInputError(this.node, what);
  }

  /** Input `index`. @throws NodeInputError if it is absent */
  input(index: number): LazyTensor {
    return this.inputs[index] ?? this.fail(`input ${index} is missing`);
  }

  /** Input `index`, refused unless it is of floats. */
  floatInput(index = 0): LazyTensor {
    const tensor = this.input(index);
    if (!isFloat(tensor.dtype)) this.refuse(`input ${index}`, "is not of floats");
    return tensor;
  }

  /** An optional input. */
  optional(index: number): LazyTensor | undefined {
    return this.inputs[index];
  }

  #attribute<K extends Attribute["kind"]>(name: string, kind: K): Extract<Attribute, { kind: K }> | undefined {
    this.#read.add(name);
    const found = this.node.attributes.get(name);
    if (found === undefined) return undefined;
    if (found.kind !== kind) this.refuse(name, `is of kind ${found.kind}, expected ${kind}`);
    return found as Extract<Attribute, { kind: K }>;
  }

  /** An integer of the data, in all its 64 bits. */
  integer(name: string, otherwise: bigint): bigint {
    return this.#attribute(name, "int")?.value ?? otherwise;
  }

  /** Integers of the data, in all their 64 bits. */
  integers(name: string): readonly bigint[] | undefined {
    return this.#attribute(name, "ints")?.value;
  }

  /** A size, an axis, a number or a flag. @throws UnsupportedOperatorError beyond 2^53, where numbers lose bits */
  int(name: string, otherwise: number): number {
    const found = this.#attribute(name, "int");
    return found === undefined ? otherwise : this.#size(found.value, name);
  }

  /** Sizes, axes, numbers or flags. @throws UnsupportedOperatorError beyond 2^53, where numbers lose bits */
  ints(name: string): number[] | undefined {
    return this.integers(name)?.map((value) => this.#size(value, name));
  }

  /** A bound that gets cut to a dimension's size: as far as 2^53, it may say "all". */
  bound(name: string, otherwise: number): number {
    const found = this.#attribute(name, "int");
    return found === undefined ? otherwise : saturated(found.value);
  }

  /** Bounds cut to a dimension's size, for example the ends of Slice. */
  bounds(name: string): number[] | undefined {
    return this.integers(name)?.map(saturated);
  }

  #size(value: bigint, what: string): number {
    const size = Number(value);
    return Number.isSafeInteger(size) ? size : this.refuse(what, `is ${value}: no size or axis is beyond 2^53`);
  }

  /** A list of integers, or its default; it must have as many values as that. */
  intsLike(name: string, otherwise: readonly number[]): readonly number[] {
    const found = this.ints(name) ?? otherwise;
    if (found.length !== otherwise.length)
      this.fail(`${name} has ${found.length} values, expected ${otherwise.length}`);
    return found;
  }

  float(name: string, otherwise: number): number {
    return this.#attribute(name, "float")?.value ?? otherwise;
  }

  floats(name: string): readonly number[] | undefined {
    return this.#attribute(name, "floats")?.value;
  }

  string(name: string, otherwise: string): string {
    return this.#attribute(name, "string")?.value ?? otherwise;
  }

  strings(name: string): readonly string[] | undefined {
    return this.#attribute(name, "strings")?.value;
  }

  /** A body. */
  graph(name: string): Body {
    return this.#attribute(name, "graph")?.value ?? this.fail(`${name} is missing`);
  }

  tensor(name: string): TensorData | undefined {
    return this.#attribute(name, "tensor")?.value;
  }

  has(name: string): boolean {
    return this.node.attributes.has(name);
  }

  /** Marks attributes that do not change the computed values. */
  ignore(...names: string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** A flag that must have the given value. */
  requireInt(name: string, value: number): void {
    const found = this.int(name, value);
    if (found !== value) this.refuse(name, `is ${found}, only ${value} is executed`);
  }

  /** The sizes or axes in an optional input, which must be known at compile time. @throws as `ints` */
  constantInts(index: number, what: string): number[] | undefined {
    const tensor = this.optional(index);
    return tensor && this.constantWords(tensor, what).map((word) => this.#size(word, what));
  }

  /** The bounds in an optional input, as `bounds`. */
  constantBounds(index: number, what: string): number[] | undefined {
    const tensor = this.optional(index);
    return tensor && this.constantWords(tensor, what).map(saturated);
  }

  /** Returns the numbers in a float tensor, which must be known at compile time. */
  constantNumbers(tensor: LazyTensor, what: string): number[] {
    return this.constantWords(tensor, what).map((word) => wordNumber(word, tensor.dtype));
  }

  /** Returns a tensor's only element, which must be known at compile time. */
  constantWord(tensor: LazyTensor, what: string): Word {
    const [word, ...others] = this.constantWords(tensor, what);
    return word === undefined || others.length > 0
      ? this.fail(`${what} has ${others.length === 0 ? "no" : "more than one"} element`)
      : word;
  }

  constantWords(tensor: LazyTensor, what: string): Word[] {
    return this.builder.words(tensor) ?? this.refuse(what, "is not known at compile time");
  }

  /**
   * Returns a list of values computed at compile time; the values count. @throws CompileBudgetError if there are too
   * many
   */
  tabulate<T>(length: number, value: (index: number) => T): T[] {
    this.builder.budget.computeElements(length);
    return Array.from({ length }, (_, index) => value(index));
  }

  /** An axis, counted from the end if negative. */
  axis(value: number, rank: number): number {
    const axis = value < 0 ? value + rank : value;
    if (!Number.isInteger(axis) || axis < 0 || axis >= Math.max(rank, 1))
      this.fail(`axis ${value} of a tensor of rank ${rank}`);
    return axis;
  }

  /** Refuses outputs beyond the first. */
  onlyFirstOutput(): void {
    const extra = this.node.outputs.findIndex((name, k) => k > 0 && name !== "");
    if (extra > 0) this.refuse(`output ${extra}`, "is not computed");
  }

  /** A scalar of the given type. */
  scalar(dtype: DType, value: Word): LazyTensor {
    return this.builder.filled(dtype, [], value);
  }

  /** Refuses attributes that the lowering did not read: they might change the result. */
  checkAttributes(): void {
    // A hint about memory that every operator had before opset 6.
    if (this.opset < 6) this.ignore("consumed_inputs");
    for (const name of this.node.attributes.keys())
      if (!this.#read.has(name)) this.refuse(name, "is not an attribute that is known here");
  }
}

/**
 * Turns one node into tensors, a tensor for each output; undefined for an output that the lowering does not compute.
 */
export type Lower = (context: NodeContext) => (LazyTensor | undefined)[];
