import { canonicalWord, dtypeBytes, DType, readWord, writeWord, type Word } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../model/onnx/model.ts";
import { unpacked } from "../../model/onnx/narrow.ts";
import type { NarrowType } from "../../numerics/narrow.ts";
import { tensorRoot } from "../../program/merkle/tensor.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import { constantBytes } from "../../program/constants.ts";
import { evaluateElement } from "../../program/evaluate.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import type { Step, TensorRef } from "../../program/types.ts";
import { canonicalBytes } from "./canonicalBytes.ts";
import { copyElements } from "./copyElements.ts";
import { foldDistinct } from "./foldDistinct.ts";
import type { Budget } from "../budget.ts";
import { emitStep } from "./emit.ts";
import { unpackedLast } from "./packedBits.ts";
import { Expressions, type Expr } from "../expressions/expression.ts";
import { checkShape, identityOrder, plainDigits, type LazyTensor, type Trail } from "../expressions/tensor.ts";
import {
  digitStarts,
  lazyOf,
  plainStrides,
  refine,
  reshaped,
  rowMajorStrides,
  strides,
  type PlainTensor,
} from "./views.ts";

/** The minimum number of elements for weights to stay packed: 64 KiB of float32. */
const MIN_PACKED = 2 ** 14;

/** Tensors alike except along `axis`, one after the other along `axis`. */
type Parts = { tensors: readonly LazyTensor[]; axis: number };

/** A seed from the job: int64[1], and where items have numbers, the item's number, int64[1]. */
export type JobSeed = { key: LazyTensor; item: LazyTensor | undefined };

/** Collects steps and constants, and decides which tensors are given memory. */
export class ProgramBuilder {
  readonly budget: Budget;
  readonly expressions: Expressions;
  readonly steps: Step[] = [];
  /** For each step, the last node computed and the operators in the step. */
  readonly origins: Trail[] = [];
  readonly constants = new Map<Hash, Uint8Array>();
  /** The constants whose numbers stay packed: see {@link keepPacked}. */
  readonly #packed = new Set<Hash>();
  /**
   * The seed for random operators, known at compile time or a job input, and (`randomNodes`) the number of random
   * operators until now.
   */
  seed: bigint | JobSeed | undefined;
  randomNodes = 0;
  /** For a tensor joined from others, the parts in order, by the tensor's expression. */
  readonly #parts = new WeakMap<Expr, Parts>();
  /** The node that is being lowered. */
  current: Trail = { node: "", operators: new Map() };

  /** @param budget What compiling may take. */
  constructor(budget: Budget, seed?: bigint) {
    this.budget = budget;
    this.expressions = new Expressions(budget);
    this.seed = seed;
  }

  /** Job input `index`, in ONNX's row-major order. */
  input(index: number, dtype: DType, shape: readonly number[]): LazyTensor {
    const source: TensorRef = { kind: "input", index, dtype, count: elementCount(shape) };
    return lazyOf(
      this.expressions,
      { source, base: 0, strides: rowMajorStrides(shape), shape },
      identityOrder(shape.length),
    );
  }

  /**
   * Adds a tensor known at compile time. A one-element tensor becomes a constant in the expressions that use the
   * tensor.
   */
  constant(data: TensorData): LazyTensor {
    const { narrow } = data;
    if (narrow === undefined) return this.#plainConstant(data);
    const bytes = data.fourBits ? this.#fourBits({ ...data, narrow }) : this.#plainConstant(data);
    return { ...bytes, narrow };
  }

  #plainConstant(data: TensorData): LazyTensor {
    const { dtype, shape, bytes } = data;
    const count = elementCount(shape);
    // An empty list of axes or sizes: the tensor has a shape but no readable value.
    if (count === 0) return this.filled(dtype, shape, 0n);
    if (count === 1) {
      const value = readWord(bytes, 0, dtype);
      if (value < 1n << 63n || dtype === DType.float64) return this.filled(dtype, shape, value);
    }
    const source = this.#commit(dtype, count, bytes);
    return lazyOf(
      this.expressions,
      { source, base: 0, strides: rowMajorStrides(shape), shape },
      identityOrder(shape.length),
    );
  }

  /** Four-bit integers stay packed, unless a row ends within a byte. */
  #fourBits(data: TensorData & { narrow: NarrowType }): LazyTensor {
    const { dtype, shape, bytes } = data;
    const last = shape.at(-1) ?? 1;
    if (last % 2 !== 0 || bytes.length < 2) return this.#plainConstant(unpacked(data));
    const packed = this.#plainConstant({ dtype: DType.uint8, shape: [...shape.slice(0, -1), last / 2], bytes });
    return unpackedLast(this.expressions, packed, 4, dtype === DType.int8);
  }

  /** A tensor whose every element is `value`. */
  filled(dtype: DType, shape: readonly number[], value: Word): LazyTensor {
    const expr = this.expressions.constant(dtype, canonicalWord(value, dtype));
    return { dtype, shape, digits: plainDigits(shape), expr, order: identityOrder(shape.length) };
  }

  /**
   * Marks weights computed from a constant as not kept: each execution computes them from the constant, and memory and
   * proofs hold the constant as in the model.
   */
  keepPacked({ expr }: LazyTensor): void {
    for (const source of constantSources(expr) ?? []) this.#packed.add(source.root);
  }

  /** Returns true if a float32 tensor is computed from a packed constant and has at least MIN_PACKED elements. */
  isPacked({ expr, shape, dtype }: LazyTensor): boolean {
    if (expr.kind === "read" || dtype !== DType.float32 || elementCount(shape) < MIN_PACKED) return false;
    return constantSources(expr)?.some(({ root }) => this.#packed.has(root)) ?? false;
  }

  #commit(dtype: DType, count: number, bytes: Uint8Array): TensorRef {
    this.budget.hold(bytes.length);
    const canonical = canonicalBytes(bytes, dtype);
    const root = tensorRoot(canonical);
    this.constants.set(root, canonical);
    return { kind: "constant", root, dtype, count };
  }

  /** Whether every element is known at compile time. */
  isConstant(tensor: LazyTensor): boolean {
    return constantSources(tensor.expr) !== undefined;
  }

  /** The elements in row-major order if they are known at compile time, else undefined. */
  words(tensor: LazyTensor): Word[] | undefined {
    if (!this.isConstant(tensor)) return undefined;
    const count = elementCount(tensor.shape);
    this.budget.computeElements(count);
    if (tensor.expr.kind === "constant") return new Array<Word>(count).fill(tensor.expr.value);
    const bytes = this.#fold(tensor, identityOrder(tensor.shape.length));
    return Array.from({ length: count }, (_, i) => readWord(bytes, i, tensor.dtype));
  }

  #step(tensor: LazyTensor, order: readonly number[]): Step {
    const starts = digitStarts(tensor.digits);
    const digits = order.flatMap((dim) => tensor.digits[dim]!.map((radix, k) => ({ digit: starts[dim]! + k, radix })));
    return emitStep(tensor.expr, digits);
  }

  /**
   * Records the parts of a tensor with plain digits. If the tensor is a constant, the parts are copied instead of
   * computing each element's place.
   */
  rememberParts(tensor: LazyTensor, tensors: readonly LazyTensor[], axis: number): void {
    this.#parts.set(tensor.expr, { tensors: tensors.map((part) => ({ ...part })), axis });
  }

  /** Returns a constant tensor's bytes, with dimensions in `order`. */
  #fold(tensor: LazyTensor, order: readonly number[]): Uint8Array {
    const parts = this.#partsOf(tensor);
    if (parts !== undefined) return this.#foldParts(parts, order, tensor);
    const step = this.#step(tensor, order);
    const sources = step.inputs.map((ref) => constantBytes(this.constants, ref as ConstantRef));
    const size = step.count * dtypeBytes(step.dtype);
    this.budget.moveElements(step.count);
    this.budget.hold(size);
    const bytes = new Uint8Array(size);
    if (!copyElements(step, sources, bytes) && !foldDistinct(step, sources, bytes))
      this.#evaluate(step, sources, bytes);
    // Bytes kept from the result count again where they are kept.
    this.budget.hold(-size);
    return bytes;
  }

  /** Returns a constant tensor's parts, unless the digits of the tensor's expression have changed since. */
  #partsOf({ expr, shape, digits }: LazyTensor): Parts | undefined {
    const parts = this.#parts.get(expr);
    if (parts === undefined || digits.some((radices) => radices.length > 1)) return undefined;
    const { tensors, axis } = parts;
    const sameShape = ({ shape: own }: LazyTensor): boolean =>
      own.length === shape.length && own.every((dim, d) => d === axis || dim === shape[d]);
    const length = tensors.reduce((sum, part) => sum + part.shape[axis]!, 0);
    return tensors.every(sameShape) && length === shape[axis] ? parts : undefined;
  }

  #foldParts({ tensors, axis }: Parts, order: readonly number[], { dtype, shape }: LazyTensor): Uint8Array {
    const size = elementCount(shape) * dtypeBytes(dtype);
    this.budget.moveElements(elementCount(shape));
    this.budget.hold(size);
    const bytes = new Uint8Array(size);
    // In memory, all elements at an index of the slower dimensions form a single piece.
    const at = order.indexOf(axis);
    const outer = elementCount(order.slice(0, at).map((dim) => shape[dim]!));
    let start = 0;
    for (const part of tensors) {
      const own = this.#fold(part, order);
      const piece = own.length / outer;
      for (let k = 0; k < outer; k++) bytes.set(own.subarray(k * piece, (k + 1) * piece), (k * size) / outer + start);
      start += piece;
    }
    this.budget.hold(-size);
    return bytes;
  }

  /** Computes a constant element by element, by the definition. */
  #evaluate(step: Step, sources: readonly Uint8Array[], into: Uint8Array): void {
    const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
    this.budget.computeElements(step.count * terms);
    const read = (input: number, offset: number): Word => {
      this.budget.tick();
      return readWord(sources[input]!, offset, step.inputs[input]!.dtype);
    };
    for (let i = 0; i < step.count; i++) {
      this.budget.tick();
      writeWord(into, i, step.dtype, evaluateElement(step, i, read));
    }
  }

  /**
   * Gives a tensor memory: a step, or a constant if known. `tensor` and everything later made from `tensor` then read
   * the memory. A tensor that only reads memory stays unchanged.
   */
  realise(tensor: LazyTensor): void {
    if (tensor.expr.kind !== "read" && tensor.expr.kind !== "constant") this.store(tensor, tensor.order);
  }

  /**
   * Returns weights with memory in `order`: constants as constants, but a step for weights computed from packed
   * constants. The step serves this reader only: no other step needs the step's tensor.
   */
  weights(tensor: LazyTensor, order: readonly number[]): LazyTensor {
    if (!this.isConstant(tensor)) return tensor;
    if (!this.isPacked(tensor)) {
      this.store(tensor, order);
      return tensor;
    }
    const own = { ...tensor, expr: this.#readInOrder(tensor, order) };
    this.#storeStep(own, order);
    return own;
  }

  /** Returns the expression of packed weights, reading a constant with a number per weight, in the weights' order. */
  #readInOrder(weights: LazyTensor, order: readonly number[]): Expr {
    const { shape, digits, expr } = weights;
    const starts = digitStarts(digits);
    return this.expressions.withReads(expr, (read) => {
      const { source } = read;
      const isOwn = source.kind === "constant" && this.#packed.has(source.root);
      if (!isOwn || source.count !== elementCount(shape)) return read;
      const numbers = { ...weights, dtype: source.dtype, expr: read };
      this.store(numbers, order);
      const finer = digits.map((radices, dim) => ({ radices, start: starts[dim]! }));
      return refine(this.expressions, numbers, finer);
    });
  }

  /** Gives a tensor separate memory, dimensions in `order`, slowest first. */
  store(tensor: LazyTensor, order: readonly number[]): void {
    const { dtype, shape } = tensor;
    const count = elementCount(shape);
    // Nothing reads it, and no list has no leaf.
    if (count === 0) return void Object.assign(tensor, this.filled(dtype, shape, 0n));
    if (!this.isConstant(tensor)) return this.#storeStep(tensor, order);
    if (liesIn(tensor, order)) return;
    this.#read(tensor, this.#commit(dtype, count, this.#fold(tensor, order)), order);
  }

  #storeStep(tensor: LazyTensor, order: readonly number[]): void {
    const [index, count] = [this.#push(tensor, order), elementCount(tensor.shape)];
    this.#read(tensor, { kind: "step", index, dtype: tensor.dtype, count }, order);
  }

  /** Lets a tensor read memory that holds the tensor in `order`. */
  #read(tensor: LazyTensor, source: TensorRef, order: readonly number[]): void {
    const { shape } = tensor;
    delete tensor.trail;
    Object.assign(tensor, lazyOf(this.expressions, { source, base: 0, strides: strides(shape, order), shape }, order));
  }

  /** Returns the step that holds exactly the tensor, in row-major order; a copy if no such step exists yet. */
  outputStep(tensor: LazyTensor): number {
    const { expr, shape } = tensor;
    const rowMajor = identityOrder(shape.length);
    const source = expr.kind === "read" ? expr.source : undefined;
    if (source?.kind === "step" && liesIn(tensor, rowMajor)) return source.index;
    return this.#push(tensor, rowMajor);
  }

  #push(tensor: LazyTensor, order: readonly number[]): number {
    this.origins.push(tensor.trail ?? this.current);
    return this.steps.push(this.#step(tensor, order)) - 1;
  }

  /** Returns the gas for proving one element, if the tensor were a step. */
  proofGas(tensor: LazyTensor): number {
    return this.isConstant(tensor) ? 0 : estimateStepProofGas(this.#step(tensor, tensor.order));
  }

  /** The constants that the given steps read. */
  constantsOf(steps: readonly Step[]): Map<Hash, Uint8Array> {
    const roots = steps.flatMap((step) => step.inputs.flatMap((ref) => (ref.kind === "constant" ? [ref.root] : [])));
    return new Map(roots.map((root) => [root, this.constants.get(root)!] as const));
  }

  /** Returns the tensor as plain memory; gives the tensor memory if needed, or copies a tensor without a plain read. */
  plain(tensor: LazyTensor): PlainTensor {
    if (elementCount(tensor.shape) === 0) this.store(tensor, tensor.order);
    if (tensor.expr.kind === "constant") {
      const one = new Uint8Array(dtypeBytes(tensor.dtype));
      writeWord(one, 0, tensor.dtype, tensor.expr.value);
      const source = this.#commit(tensor.dtype, 1, one);
      return { source, base: 0, strides: tensor.shape.map(() => 0), shape: tensor.shape };
    }
    const known = tensor.expr.kind === "read" ? plainStrides(tensor.expr, tensor.digits) : undefined;
    if (known === undefined) this.store(tensor, tensor.order);
    const { expr, digits, shape } = tensor as LazyTensor & { expr: Extract<Expr, { kind: "read" }> };
    return { source: expr.source, ...(known ?? plainStrides(expr, digits)!), shape };
  }

  /** The tensor under another shape; copied only if it must be. @throws RangeError if that has other elements */
  reshape(tensor: LazyTensor, shape: readonly number[]): LazyTensor {
    checkShape(shape);
    if (elementCount(tensor.shape) !== elementCount(shape))
      throw new RangeError(`[${tensor.shape.join()}] is no tensor of shape [${shape.join()}]`);
    const view = reshaped(this.expressions, tensor, shape);
    if (view !== undefined) return view;
    const rowMajor = identityOrder(tensor.shape.length);
    const contiguous = rowMajorStrides(tensor.shape);
    let plain = this.plain(tensor);
    if (!contiguous.every((stride, dim) => tensor.shape[dim] === 1 || stride === plain.strides[dim])) {
      this.store(tensor, rowMajor);
      plain = this.plain(tensor);
    }
    const flat = { source: plain.source, base: plain.base, strides: rowMajorStrides(shape), shape };
    return lazyOf(this.expressions, flat, identityOrder(shape.length));
  }

  /** Returns a tensor with at most one digit per dimension, for free indexing. */
  singleDigits(tensor: LazyTensor): LazyTensor {
    if (tensor.digits.every((radices) => radices.length <= 1)) return tensor;
    const plain = this.plain(tensor);
    return lazyOf(this.expressions, plain, tensor.order);
  }
}

/** Returns true if a tensor reads memory that holds nothing else, with dimensions in `order`. */
function liesIn({ expr, digits, shape }: LazyTensor, order: readonly number[]): boolean {
  if (expr.kind !== "read" || expr.source.count !== elementCount(shape)) return false;
  const plain = plainStrides(expr, digits);
  const wanted = strides(shape, order);
  return plain?.base === 0 && plain.strides.every((stride, dim) => shape[dim] === 1 || stride === wanted[dim]);
}

type ConstantRef = TensorRef & { kind: "constant" };

/** Returns the constants that an expression reads; undefined if the expression is unknown at compile time. */
function constantSources(expr: Expr): ConstantRef[] | undefined {
  const [seen, sources] = [new Set<Expr>(), new Set<ConstantRef>()];
  const isKnown = (e: Expr): boolean => {
    if (seen.has(e)) return true;
    seen.add(e);
    switch (e.kind) {
      case "constant":
      case "digit":
        return true;
      case "read":
        if (e.source.kind !== "constant") return false;
        sources.add(e.source);
        return e.axes.every(({ indirect }) => indirect === undefined || isKnown(indirect));
      case "operation":
        return e.args.every(isKnown);
      case "found":
        return isKnown(e.of);
      case "accumulator":
        return isKnown(e.a) && (e.b === undefined || isKnown(e.b));
    }
  };
  return isKnown(expr) ? [...sources] : undefined;
}
