import type { MatMulEngine, MatrixShape } from "../../src/executor/engine/matMulEngine.ts";

/** What an engine's product is altered to, after it was computed: of floats, and of bytes. */
export type Faults = {
  floats?: (out: Float64Array, shape: MatrixShape, left: Float64Array, right: Float64Array) => void;
  bytes?: (out: Int32Array, shape: MatrixShape) => void;
};

/** An engine that gives what another one gives, but for its faults. Closing it closes nothing. */
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
