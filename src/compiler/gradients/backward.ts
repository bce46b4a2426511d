import { DType, isFloat, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { elementCount, type Body, type Graph, type Node } from "../../model/onnx/model.ts";
import { int64Tensor, numberTensor } from "../../model/onnx/tensorData.ts";
import { UnsupportedOperatorError } from "../errors.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import type { AttributeValue, NodeList } from "../nodes.ts";
import { inlineBody } from "./inlineBody.ts";

/** Gives the gradients of a node's inputs. A gradient that nobody asks for is undefined. */
export type Rule = (b: Backward) => readonly (string | undefined)[];

/** Type and shape of a value. */
export type Typed = { dtype: DTypeCode; shape: readonly number[] };

/** Types, shapes and known integers of a graph's values. */
export type GraphValues = {
  /**
   * Adds further nodes of the graph, in graph order, with their constants. A node is left out if all its outputs were
   * added before.
   */
  add: (nodes: readonly Node[], initializers?: Graph["initializers"]) => void;
  /** Type and shape of a value; undefined if no node gives the value, and for a sequence. */
  of: (name: string) => Typed | undefined;
  /** Returns a value's integers if known at compile time. */
  integers: (name: string) => number[] | undefined;
  /** Returns the context for lowering the node. */
  contextOf: (node: Node, opset: number) => NodeContext;
  /** Finds a number-drawing node in a body or in nested bodies. */
  drawingNode: (body: Body) => Node | undefined;
};

/** A node whose rule is asked. */
type Differentiated = {
  node: Node;
  opset: number;
  /** The gradient of each output, undefined for outputs without a relevant reader. */
  gradients: readonly (string | undefined)[];
  /** The values whose gradients are asked for. */
  active: ReadonlySet<string>;
  /** Returns an output's name, and adds the output to the node if missing. */
  output: (index: number) => string;
};

/** A node for the rule of its operator: with the gradients of the outputs, and with means to write nodes. */
export class Backward {
  readonly node: Node;
  /** The version of the node's operator set. */
  readonly opset: number;
  /** Typed attributes of the node. */
  readonly attributes: NodeContext;
  readonly #n: NodeList;
  readonly #values: GraphValues;
  readonly #gradients: readonly (string | undefined)[];
  readonly #active: ReadonlySet<string>;
  readonly #output: (index: number) => string;
  /** The number of nodes before the rule writes any. */
  readonly #first: number;

  constructor(of: Differentiated, nodes: NodeList, values: GraphValues) {
    this.node = of.node;
    this.opset = of.opset;
    this.attributes = values.contextOf(of.node, of.opset);
    this.#gradients = of.gradients;
    this.#active = of.active;
    this.#output = of.output;
    this.#n = nodes;
    this.#first = nodes.nodes.length;
    this.#values = values;
  }

  /** The gradient of the first output. */
  get dy(): string {
    return this.#gradients[0]!;
  }

  /** Returns an output's gradient, undefined for an output without a relevant reader. */
  gradientOf(output: number): string | undefined {
    return this.#gradients[output];
  }

  get y(): string {
    return this.node.outputs[0]!;
  }

  /** Returns a further output's name, and adds the output to the node if missing. */
  output(index: number): string {
    return this.#output(index);
  }

  /** The name of an input. */
  x(input = 0): string {
    return this.node.inputs[input] || this.refuse(`input ${input} is missing`);
  }

  has(input: number): boolean {
    return (this.node.inputs[input] ?? "") !== "";
  }

  /** Whether an input's gradient is requested. */
  wants(input: number): boolean {
    return this.has(input) && this.#active.has(this.x(input));
  }

  /** The gradient of an input, computed only on demand. */
  if(input: number, gradient: () => string): string | undefined {
    return this.wants(input) ? gradient() : undefined;
  }

  refuse(why: string): never {
    throw new UnsupportedOperatorError(this.node, undefined, `Gradient: ${why}`);
  }

  shapeOf(name: string): readonly number[] {
    return this.#values.of(name)?.shape ?? this.refuse(`the shape of "${name}" is not known`);
  }

  shape(input = 0): readonly number[] {
    return this.shapeOf(this.x(input));
  }

  get outputShape(): readonly number[] {
    return this.shapeOf(this.y);
  }

  /** Returns the type of an input. Without an index: the type of the node's first present output. */
  dtype(input?: number): DTypeCode {
    const output = this.node.outputs.find((name) => name !== "");
    return this.#values.of(input === undefined ? output! : this.x(input))!.dtype;
  }

  isFloat(input: number): boolean {
    return this.has(input) && isFloat(this.dtype(input));
  }

  /** Returns an input's integers, which must be known at compile time; undefined if the input is absent. */
  integersOf(input: number): number[] | undefined {
    if (!this.has(input)) return undefined;
    return this.#values.integers(this.x(input)) ?? this.refuse(`input ${input} is not known at compile time`);
  }

  /** The integers of a value, if they are known at compile time. */
  known(name: string): number[] | undefined {
    return this.#values.integers(name);
  }

  axis(value: number, rank: number): number {
    return value < 0 ? value + rank : value;
  }

  // Nodes

  op(operator: string, ...inputs: readonly string[]): string {
    return this.#n.node(operator, inputs);
  }

  opWith(operator: string, attributes: Readonly<Record<string, AttributeValue>>, ...inputs: readonly string[]): string {
    return this.#n.node(operator, inputs, attributes);
  }

  /** A node of the compiler's own operators. */
  own(operator: string, attributes: Readonly<Record<string, AttributeValue>>, ...inputs: readonly string[]): string {
    return this.#n.own(operator, inputs, attributes);
  }

  add = (a: string, b: string): string => this.op("Add", a, b);
  sub = (a: string, b: string): string => this.op("Sub", a, b);
  mul = (a: string, b: string): string => this.op("Mul", a, b);
  div = (a: string, b: string): string => this.op("Div", a, b);
  neg = (a: string): string => this.op("Neg", a);
  where = (condition: string, a: string, b: string): string => this.op("Where", condition, a, b);

  /** Writes a number as a scalar in the first output's type. */
  f(value: number, dtype = this.dtype()): string {
    return this.#n.scalar(dtype, value);
  }

  /** Writes a constant tensor in the first output's type. */
  tensor(values: readonly number[], shape: readonly number[], dtype = this.dtype()): string {
    return this.#n.constant(numberTensor(dtype, values, shape));
  }

  /** A constant int64, a scalar. */
  whole(value: number | bigint): string {
    return this.#n.constant(int64Tensor([value], []));
  }

  /** A constant bool, a scalar. */
  truth(value: boolean): string {
    return this.f(Number(value), DType.bool);
  }

  /**
   * Writes the nodes of a body once.
   * @returns the output names; the values of constant outputs are known
   */
  inlined(body: Body, inputs: readonly string[]): string[] {
    const drawing = this.#values.drawingNode(body);
    if (drawing !== undefined)
      return this.refuse(`its body draws numbers (${drawing.operator}): draw them before, and give them to it`);
    const outputs = inlineBody(this.#n, body, inputs);
    this.#values.add(this.#n.nodes.slice(this.#first), this.#n.initializers);
    return outputs;
  }

  integers(...values: readonly number[]): string {
    return this.#n.integers(...values);
  }

  transpose(x: string, perm: readonly number[]): string {
    return perm.every((axis, d) => axis === d) ? x : this.opWith("Transpose", { perm }, x);
  }

  reshape(x: string, from: readonly number[], to: readonly number[]): string {
    return from.join() === to.join() ? x : this.#n.reshape(x, to);
  }

  /** The same elements in another shape, whatever it was. */
  shaped(x: string, to: readonly number[]): string {
    return this.#n.reshape(x, to);
  }

  expand(x: string, shape: readonly number[]): string {
    return this.op("Expand", x, this.integers(...shape));
  }

  sum(x: string, axes: readonly number[], keepdims: 0 | 1): string {
    return this.opWith("ReduceSum", { keepdims }, x, this.integers(...axes));
  }

  mean(x: string, axes: readonly number[]): string {
    return this.opWith("ReduceMean", { keepdims: 1 }, x, this.integers(...axes));
  }

  /**
   * A product along one axis of a tensor with a constant matrix [size, axis], whose elements are given by row and
   * column.
   */
  along(
    x: string,
    shape: readonly number[],
    axis: number,
    size: number,
    element: (row: number, column: number) => number,
  ): string {
    const length = shape[axis]!;
    const values = Array.from({ length: size * length }, (_, i) => element(Math.floor(i / length), i % length));
    const flat = [elementCount(shape.slice(0, axis)), length, elementCount(shape.slice(axis + 1))];
    const product = this.op("MatMul", this.tensor(values, [size, length]), this.reshape(x, shape, flat));
    return this.reshape(
      product,
      [flat[0]!, size, flat[2]!],
      shape.map((dim, d) => (d === axis ? size : dim)),
    );
  }

  zeros(shape: readonly number[]): string {
    return this.expand(this.f(0), shape);
  }

  /** The gradient of an input that was broadcast: the sum over what was repeated. */
  toInput(input: number, gradient: string, from: readonly number[] = this.outputShape): string {
    const to = this.shape(input);
    const lead = from.length - to.length;
    const axes = from.flatMap((dim, d) => (d < lead || (to[d - lead] === 1 && dim !== 1) ? [d] : []));
    if (axes.length === 0) return this.reshape(gradient, from, to);
    return this.reshape(
      this.sum(gradient, axes, 0),
      from.filter((_, d) => !axes.includes(d)),
      to,
    );
  }

  /** Writes the whole numbers from 0 on in a shape. */
  places(shape: readonly number[]): string {
    return this.#n.reshape(this.integers(...Array.from({ length: elementCount(shape) }, (_, i) => i)), shape);
  }
}
