import { Tensor, type InferenceSession } from "onnxruntime-node";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import { nativeSession } from "./binding.ts";
import { byteEngine } from "./byteEngine.ts";
import { gemmModel } from "./productModels.ts";

/**
 * onnxruntime on this machine's CPU. Graph optimisation is off: its rewrites change bits.
 * @param threads Threads of one product; 0 leaves the number to onnxruntime.
 */
export function onnxEngine(threads: number): Promise<MatMulEngine> {
  const options: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "disabled",
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Between products the loops run on this thread: waiting threads must not spin beside them.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  const floats = nativeSession(gemmModel(), options);
  const bytes = byteEngine(options);
  return Promise.resolve({
    product(left, right, out, { rows, columns, inner }) {
      const feeds = {
        left: new Tensor("float64", left, [rows, inner]),
        right: new Tensor("float64", right, [columns, inner]),
      };
      const fetches = { product: new Tensor("float64", out, [rows, columns]) };
      return () => void floats.run(feeds, fetches, {});
    },
    bytes: bytes.engine,
    close: () => {
      floats.dispose();
      bytes.dispose();
      return Promise.resolve();
    },
  });
}
