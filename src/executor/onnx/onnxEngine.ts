import { InferenceSession, Tensor } from "onnxruntime-node";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import { matMulModel } from "./matMulModel.ts";

/**
 * onnxruntime on this machine's CPU. Graph optimisation is off: its rewrites change bits.
 * @param threads Threads of one product; 0 leaves the number to onnxruntime.
 */
export async function onnxEngine(threads: number): Promise<MatMulEngine> {
  const session = await InferenceSession.create(matMulModel(), {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "disabled",
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Between products the loops run on this thread: waiting threads must not spin beside them.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  });
  return {
    async multiply(left, right, { groups, rows, inner, columns }) {
      const { product } = await session.run({
        left: new Tensor("float64", left, [groups, rows, inner]),
        right: new Tensor("float64", right, [groups, inner, columns]),
      });
      return product!.data as Float64Array;
    },
    close: () => session.release(),
  };
}
