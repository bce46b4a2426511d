import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { ByteEngine, MatrixShape } from "./matMulEngine.ts";
import { nativeSession, onnxruntime, type NativeSession } from "./binding.ts";
import { byteProductModel } from "./productModels.ts";

/** True if this process has an exact kernel for uint8 x int8. */
let signedIsExact: boolean | undefined;

/**
 * Creates an engine for byte products by onnxruntime. uint8 x int8 runs twice as fast as uint8 x uint8 where the
 * processor adds four products to a sum at once (VNNI, AMX, and Arm's dot product instructions). Older x86 processors
 * add pairs of products in 16 bits with saturation. onnxruntime chooses a kernel's instructions once, at load time; the
 * largest sums of pairs reveal the choice.
 */
export function byteEngine(options: InferenceSession.SessionOptions): { engine: ByteEngine; dispose(): void } {
  const signed = nativeSession(byteProductModel(true), options);
  const engine = engineOn(signed, true);
  signedIsExact ??= isExact(engine);
  if (signedIsExact) return { engine, dispose: () => signed.dispose() };
  signed.dispose();
  const unsigned = nativeSession(byteProductModel(false), options);
  return { engine: engineOn(unsigned, false), dispose: () => unsigned.dispose() };
}

/** Products by a session of `byteProductModel`. */
export function engineOn(session: NativeSession, isRightSigned: boolean): ByteEngine {
  const rightTensor = (bytes: Uint8Array, shape: readonly number[]): Tensor =>
    isRightSigned
      ? new (onnxruntime().Tensor)("int8", new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), shape)
      : new (onnxruntime().Tensor)("uint8", bytes, shape);
  return {
    minRight: isRightSigned ? -128 : 0,
    product(left, right, zeros, out, { rows, columns, inner }) {
      const feeds = {
        left: new (onnxruntime().Tensor)("uint8", left, [rows, inner]),
        right: rightTensor(right, [inner, columns]),
        leftZero: new (onnxruntime().Tensor)("uint8", zeros.left, []),
        rightZero: rightTensor(zeros.right, []),
      };
      const fetches = { product: new (onnxruntime().Tensor)("int32", out, [rows, columns]) };
      return () => void session.run(feeds, fetches, {});
    },
  };
}

/** Kernels differ by the number of rows, and treat the last columns and terms separately. */
const SHAPES: readonly MatrixShape[] = [1, 2, 3, 4, 5, 6, 7, 12, 25].flatMap((rows) =>
  [1, 7, 16, 49, 100].flatMap((columns) => [2, 5, 64, 131].map((inner) => ({ rows, columns, inner }))),
);
const MAX_BYTE = 255;

/** Whether products with the greatest and least sums of pairs are right, in all shapes. */
export function isExact(engine: ByteEngine): boolean {
  const zeros = { left: Uint8Array.of(0), right: Uint8Array.of(0) };
  return SHAPES.every((shape) => {
    const left = new Uint8Array(shape.rows * shape.inner).fill(MAX_BYTE);
    const out = new Int32Array(shape.rows * shape.columns);
    return [engine.minRight, engine.minRight + MAX_BYTE].every((byte) => {
      const right = new Uint8Array(shape.inner * shape.columns).fill(byte);
      void engine.product(left, right, zeros, out, shape)();
      return out.every((sum) => sum === MAX_BYTE * byte * shape.inner);
    });
  });
}
