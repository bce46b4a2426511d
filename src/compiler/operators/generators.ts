import { arithmeticOf } from "../../numerics/arithmetic.ts";
import { DType, dtypeBytes, isDType, isFloat, writeWord } from "../../numerics/dtype.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, plainDigits } from "../expressions/tensor.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";

/** Positions are exact in float32 below this. */
const MAX_WINDOW = 2 ** 24;
/** Maximum number of elements in a table made constant. */
const MAX_RANGE = 2 ** 24;

/** EyeLike: 1 on one diagonal of a matrix, 0 elsewhere. */
export const eyeLike: Lower = (context) => {
  const { builder } = context;
  const x = context.input(0);
  if (x.shape.length !== 2) return context.fail(`data of rank ${x.shape.length}`);
  const dtype = context.int("dtype", x.dtype);
  const k = context.bound("k", 0);
  if (!isDType(dtype)) return context.refuse("dtype", `is element type ${dtype}, which is not executed here`);
  const [rows, columns] = x.shape as [number, number];
  context.builder.budget.computeElements(rows * columns);
  const bytes = new Uint8Array(rows * columns * dtypeBytes(dtype));
  for (let row = Math.max(0, -k); row < rows && row + k < columns; row++)
    writeWord(bytes, row * columns + row + k, dtype, numberWord(1, dtype));
  return [builder.constant({ dtype, shape: x.shape, bytes })];
};

/**
 * A window a0 - a1 * cos(t) + a2 * cos(2 t), t = i * (2 pi / n), n the size or, if not periodic, one less: ONNX's body,
 * each operation rounded. Constants are rounded to float32 first.
 */
export const cosineWindow =
  (a0: number, a1: number, a2: number): Lower =>
  (context) => {
    const { expressions: e } = context;
    const size = context.constantInts(0, "size")?.[0] ?? context.fail("size is missing");
    if (size < 1 || size > MAX_WINDOW) return context.fail(`a window of ${size} elements`);
    const periodic = context.int("periodic", 1) !== 0;
    const dtype = context.int("output_datatype", DType.float32);
    if (!isDType(dtype))
      return context.refuse("output_datatype", `is element type ${dtype}, which is not executed here`);
    const shape = [size];
    const digits = plainDigits(shape);
    const step = e.div(e.float(2 * Math.PI), e.float(periodic ? size : size - 1));
    const angle = e.mul(e.cast(e.affine(dimensionIndices(digits)[0]!), DType.float32), step);
    const first = e.sub(e.float(a0), e.mul(e.float(a1), e.cos(angle)));
    const second = e.mul(e.float(a2), e.cos(e.mul(angle, e.float(2))));
    const expr = e.cast(e.add(first, second), dtype);
    return [{ dtype, shape, digits, expr, order: [0] }];
  };

/** The values of a range: `start`, then `delta` added again and again, in the type of the inputs. */
function rangeWords(context: NodeContext, dtype: DType): bigint[] {
  const word = (index: number): bigint => {
    const tensor = context.input(index);
    if (tensor.dtype !== dtype) return context.fail("the inputs differ in type");
    return context.constantWord(tensor, `input ${index}`);
  };
  const [start, limit, delta] = [word(0), word(1), word(2)];
  const counted = (count: number): number => {
    if (!(count >= 0 && count <= MAX_RANGE)) context.fail(`a range of ${count} elements`);
    return count;
  };
  if (isFloat(dtype)) {
    const [from, to, by] = [start, limit, delta].map((word) => wordNumber(word, dtype)) as [number, number, number];
    // The element count is computed in float64, like in onnxruntime; the elements have the given type.
    const count = counted(Math.max(0, Math.ceil((to - from) / by)));
    let next = start;
    return Array.from({ length: count }, () => {
      const own = next;
      next = arithmeticOf(dtype).add(next, delta);
      return own;
    });
  }
  if (delta === 0n) context.fail("delta is 0");
  const span = limit - start;
  const away = span === 0n || span > 0n !== delta > 0n;
  const count = away ? 0n : (span + delta + (delta > 0n ? -1n : 1n)) / delta;
  return Array.from({ length: counted(Number(count)) }, (_, i) => start + BigInt(i) * delta);
}

/** Range of int16, int32, int64 or floats, known at compile time. */
export const range: Lower = (context) => {
  const { dtype } = context.input(0);
  if (!isFloat(dtype) && ![DType.int16, DType.int32, DType.int64].some((known) => known === dtype))
    return context.refuse("input 0", "is a range of another type than int16, int32, int64 or floats");
  const words = rangeWords(context, dtype);
  const bytes = new Uint8Array(words.length * dtypeBytes(dtype));
  words.forEach((value, i) => writeWord(bytes, i, dtype, value));
  return [context.builder.constant({ dtype, shape: [words.length], bytes })];
};
