import { DType, readWord } from "../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../src/onnx/model.ts";
import { floatValue } from "../src/compiler/words.ts";

/**
 * The first element where `got` is not `expected`: within rtol 1e-3 and atol 1e-6 for float32, exactly for other types.
 * @returns a description, or undefined if there is none
 */
export function firstDifference(got: TensorData, expected: TensorData, rtol = 1e-3, atol = 1e-6): string | undefined {
  for (let i = 0; i < elementCount(expected.shape); i++) {
    const [a, b] = [readWord(got.bytes, i, got.dtype), readWord(expected.bytes, i, expected.dtype)];
    if (a === b) continue;
    if (got.dtype !== DType.float32) return `element ${i} is ${a}, expected ${b}`;
    const [x, y] = [floatValue(a), floatValue(b)];
    if (!(Math.abs(x - y) <= atol + rtol * Math.abs(y))) return `element ${i} is ${x}, expected ${y}`;
  }
  return undefined;
}
