import { Tensor } from "onnxruntime-node";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import { nativeSession } from "./binding.ts";
import { gemmModel } from "./gemmModel.ts";

/**
 * onnxruntime on this machine's CPU. Graph optimisation is off: its rewrites change bits.
 * @param threads Threads of one product; 0 leaves the number to onnxruntime.
 */
export function onnxEngine(threads: number): Promise<MatMulEngine> {
  const session = nativeSession(gemmModel(), {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "disabled",
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Between products the loops run on this thread: waiting threads must not spin beside them.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  });
  return Promise.resolve({
    product(left, right, out, { rows, columns, inner }) {
      const feeds = {
        left: new Tensor("float64", left, [rows, inner]),
        right: new Tensor("float64", right, [columns, inner]),
      };
      const fetches = { product: new Tensor("float64", out, [rows, columns]) };
      return () => void session.run(feeds, fetches, {});
    },
    close: () => {
      session.dispose();
      return Promise.resolve();
    },
  });
}
