/** Products of com.microsoft: quantised ones with float results, and those with weights of few bits. */
import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../onnx/model.ts";
import { floatTensor } from "../../../onnx/tensorData.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";
import { floatValue } from "../../../numerics/numbers.ts";
import { gatherAlong } from "../gather.ts";
import { matrixProduct } from "../matmul.ts";
import { selfAttention } from "./attention.ts";
import { dynamicallyQuantised, quantisedType, toQuantised } from "../quantise.ts";
import { integerProduct, type Quantised } from "../quantisedProducts.ts";
import { addTensors, broadcast } from "../../lowering/broadcast.ts";
import { partAlong } from "../../lowering/slices.ts";

/** The scale of a product's factor at input `index`: one of the whole tensor, or one of each column. */
const wholeOrColumns = (context: NodeContext, index: number): LazyTensor => {
  const scale = context.floatInput(index);
  if (elementCount(scale.shape) === 1) return context.builder.reshape(scale, []);
  return scale.shape.length === 1 ? scale : context.refuse(`input ${index}`, `has the shape [${scale.shape.join()}]`);
};

/** `RN(RN(sum) * RN(left * right))`, sum the exact integer product. */
function scaledProduct(
  context: NodeContext,
  [a, b]: readonly [Quantised, Quantised],
  [left, right]: readonly [LazyTensor, LazyTensor],
): LazyTensor {
  const e = context.expressions;
  const scale = broadcast(context, [left, right], e.mul);
  if (!context.builder.isConstant(scale) || elementCount(scale.shape) > 1) context.builder.realise(scale);
  return broadcast(context, [integerProduct(context, a, b), scale], (v, s) => e.mul(e.cast(v, DType.float32), s), true);
}

const plusInput = (context: NodeContext, x: LazyTensor, index: number): LazyTensor =>
  context.optional(index) === undefined ? x : addTensors(context, x, context.floatInput(index));

/** MatMulIntegerToFloat: the integer product, scaled, with a bias. */
export const matMulIntegerToFloat: Lower = (context) => {
  const scaled = scaledProduct(
    context,
    [
      [context.input(0), context.optional(4)],
      [context.input(1), context.optional(5)],
    ],
    [wholeOrColumns(context, 2), wholeOrColumns(context, 3)],
  );
  return [plusInput(context, scaled, 6)];
};

/** DynamicQuantizeMatMul: the left factor quantised by its own extremes, then as MatMulIntegerToFloat. */
export const dynamicQuantizeMatMul: Lower = (context) => {
  const [a, scale, zero] = dynamicallyQuantised(context, context.floatInput());
  context.builder.realise(a);
  const b: Quantised = [context.input(1), context.optional(3)];
  return [plusInput(context, scaledProduct(context, [[a, zero], b], [scale, wholeOrColumns(context, 2)]), 4)];
};

/** QAttention: Attention whose projection is a scaled integer product. */
export const qAttention: Lower = (context) => {
  const width = context.input(1).shape.at(-1)! / 3;
  if (context.input(0).shape.length !== 3 || !Number.isInteger(width))
    return context.fail(`data [${context.input(0).shape.join()}], weights [${context.input(1).shape.join()}]`);
  const projected = scaledProduct(
    context,
    [
      [context.input(0), context.optional(6)],
      [context.input(1), context.optional(7)],
    ],
    [wholeOrColumns(context, 3), wholeOrColumns(context, 4)],
  );
  const sum = addTensors(context, projected, context.floatInput(2));
  context.builder.realise(sum);
  const part = (index: number): LazyTensor => partAlong(context, sum, 2, [width, width, width], index);
  return selfAttention(context, [part(0), part(1), part(2)], { mask: 5, past: 8, bias: 9 });
};

/** QGemm: the integer product and C, scaled by RN(alpha * RN(left * right)); quantised if there is a scale for it. */
export const qGemm: Lower = (context) => {
  const e = context.expressions;
  const turned = (index: number, flag: string): LazyTensor => {
    const tensor = context.input(index);
    if (tensor.shape.length !== 2) return context.fail(`input ${index} of shape [${tensor.shape.join()}]`);
    return context.int(flag, 0) === 0 ? tensor : transposed(e, tensor, [1, 0]);
  };
  let sum = integerProduct(
    context,
    [turned(0, "transA"), context.optional(2)],
    [turned(3, "transB"), context.optional(5)],
  );
  const c = context.optional(6);
  if (c !== undefined) sum = addTensors(context, sum, c);
  const alpha = context.float("alpha", 1);
  const output = context.optional(7) && wholeOrColumns(context, 7);
  const scale = broadcast(
    context,
    [wholeOrColumns(context, 1), wholeOrColumns(context, 4), ...(output ? [output] : [])],
    (a, b, s?: Expr) => {
      const whole = e.mul(e.float(alpha), e.mul(a, b));
      return s === undefined ? whole : e.div(whole, s);
    },
  );
  if (!context.builder.isConstant(scale) || elementCount(scale.shape) > 1) context.builder.realise(scale);
  const scaled = (v: Expr, s: Expr): Expr => e.mul(e.cast(v, DType.float32), s);
  if (output === undefined) return [broadcast(context, [sum, scale], scaled, true)];
  const zero = context.optional(8) ?? context.scalar(context.input(0).dtype, 0n);
  quantisedType(context, zero.dtype, "input 8");
  if (elementCount(zero.shape) !== 1) return context.refuse("input 8", "is not for the whole tensor");
  const flat = context.builder.reshape(zero, []);
  return [broadcast(context, [sum, scale, flat], (v, s, z) => toQuantised(e, scaled(v, s), z), true)];
};

/** Number `at` of those of `bits` bits packed in bytes from `start` on, the lowest bits first. */
const unpacked = (bytes: Uint8Array, start: number, bits: number, at: number): number =>
  (bytes[start + Math.floor((at * bits) / 8)]! >> ((at * bits) % 8)) & (2 ** bits - 1);

/** The bytes of a constant uint8 tensor. */
function constantBytes(context: NodeContext, index: number, what: string): Uint8Array {
  const tensor = context.input(index);
  if (tensor.dtype !== DType.uint8) return context.refuse(what, "is not uint8");
  return Uint8Array.from(context.constantWords(tensor, what), Number);
}

/**
 * The zero point of each block of each row: packed numbers whose rows begin at a byte, or floats; 2^(bits - 1) if there
 * is none.
 */
function zeroPoints(
  context: NodeContext,
  index: number,
  bits: number,
  blocks: number,
): (row: number, b: number) => number {
  const given = context.optional(index);
  if (given === undefined) return () => 2 ** (bits - 1);
  if (given.dtype === DType.float32) {
    const values = context.constantWords(given, `input ${index}`).map(floatValue);
    return (row, b) => values[row * blocks + b]!;
  }
  const bytes = constantBytes(context, index, `input ${index}`);
  const rowBytes = Math.ceil((blocks * bits) / 8);
  return (row, b) => unpacked(bytes, row * rowBytes, bits, b);
}

/**
 * MatMulNBits: weights [N, blocks, bytes] of few bits, known at compile time; `RN((q - zero) * scale)` for each block
 * of a row.
 */
export const matMulNBits: Lower = (context) => {
  const [k, n] = [context.int("K", 0), context.int("N", 0)];
  const [bits, block] = [context.int("bits", 4), context.int("block_size", 0)];
  // The minimum accuracy of the product: it is exact here.
  context.ignore("accuracy_level", "weight_prepacked");
  if (![2, 4, 8].includes(bits) || block < 16) return context.refuse("bits", `is ${bits} in blocks of ${block}`);
  const blocks = Math.ceil(k / block);
  const packed = constantBytes(context, 1, "B");
  const scales = context.constantNumbers(context.floatInput(2), "scales");
  const blob = (block * bits) / 8;
  if (packed.length !== n * blocks * blob || scales.length !== n * blocks)
    return context.fail(`${packed.length} bytes and ${scales.length} scales for ${n} rows of ${blocks} blocks`);
  const groups = context.constantInts(4, "g_idx");
  const zero = zeroPoints(context, 3, bits, blocks);
  context.builder.budget.computeElements(n * k);
  const values = new Array<number>(n * k);
  for (let row = 0; row < n; row++) {
    const start = row * blocks * blob;
    for (let at = 0; at < k; at++) {
      const group = groups?.[at] ?? Math.floor(at / block);
      const difference = Math.fround(unpacked(packed, start, bits, at) - zero(row, group));
      values[row * k + at] = Math.fround(difference * scales[row * blocks + group]!);
    }
  }
  const weights = transposed(context.expressions, context.builder.constant(floatTensor(values, [n, k])), [1, 0]);
  const a = context.floatInput();
  const row = a.shape.length === 1;
  const left = row ? context.builder.reshape(a, [1, ...a.shape]) : a;
  const result = plusInput(context, matrixProduct(context, left, weights), 5);
  return [row ? context.builder.reshape(result, [n]) : result];
};

/** GatherBlockQuantized of uint8 data: rows of a table of few bits, `RN((q - zero) * scale)`, known at compile time. */
export const gatherBlockQuantized: Lower = (context) => {
  const data = context.input(0);
  const [bits, block] = [context.int("bits", 4), context.int("block_size", 128)];
  const rank = data.shape.length;
  const along = context.axis(context.int("quantize_axis", 1), rank);
  const axis = context.axis(context.int("gather_axis", 0), rank);
  if (![4, 8].includes(bits)) return context.refuse("bits", `is ${bits}`);
  if (along !== rank - 1) return context.refuse("quantize_axis", "is not the last");
  const width = (data.shape[along]! * 8) / bits;
  const blocks = Math.ceil(width / block);
  const rows = elementCount(data.shape.slice(0, -1));
  const packed = constantBytes(context, 0, "data");
  const scales = context.constantNumbers(context.floatInput(2), "scales");
  if (scales.length !== rows * blocks)
    return context.fail(`${scales.length} scales for ${rows} rows of ${blocks} blocks`);
  const zero = zeroPoints(context, 3, bits, blocks);
  context.builder.budget.computeElements(rows * width);
  const values = new Array<number>(rows * width);
  for (let row = 0; row < rows; row++) {
    const start = row * data.shape[along]!;
    for (let at = 0; at < width; at++) {
      const b = Math.floor(at / block);
      const difference = unpacked(packed, start, bits, at) - zero(row, b);
      values[row * width + at] = Math.fround(difference * scales[row * blocks + b]!);
    }
  }
  const table = context.builder.constant(floatTensor(values, [...data.shape.slice(0, -1), width]));
  return [gatherAlong(context, table, context.input(1), axis)];
};
