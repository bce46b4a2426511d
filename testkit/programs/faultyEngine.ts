import type { MatMulEngine, MatrixShape } from "../../src/executor/engine/matMulEngine.ts";

/** Alterations to an engine's product after the computation, for floats and for bytes. */
export type Faults = {
  floats?: (out: Float64Array, shape: MatrixShape, left: Float64Array, right: Float64Array) => void;
  bytes?: (out: Int32Array, shape: MatrixShape) => void;
};

/** An engine that returns another engine's products with faults. Closing the engine closes nothing. */
export const faultyEngine = (engine: MatMulEngine, { floats, bytes }: Faults): MatMulEngine => ({
  product(left, right, out, shape) {
    const multiply = engine.product(left, right, out, shape);
    return async () => {
      await multiply();
      floats?.(out, shape, left, right);
    };
  },
  bytes: engine.bytes && {
    minRight: engine.bytes.minRight,
    product(left, right, zeros, out, shape) {
      const multiply = engine.bytes!.product(left, right, zeros, out, shape);
      return async () => {
        await multiply();
        bytes?.(out, shape);
      };
    },
  },
  close: () => Promise.resolve(),
});
