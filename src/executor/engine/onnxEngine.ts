import type { InferenceSession } from "onnxruntime-node";
import type { MatMulEngine } from "./matMulEngine.ts";
import { nativeSession, onnxruntime } from "./binding.ts";
import { byteEngine } from "./byteEngine.ts";
import { gemmModel } from "./productModels.ts";

/** onnxruntime on this machine's CPU, in the calling thread. Graph optimisation is off: its rewrites change bits. */
export function onnxEngine(): Promise<MatMulEngine> {
  const options: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "disabled",
    executionMode: "sequential",
    // Each thread that computes has its own engine.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  };
  const floats = nativeSession(gemmModel(), options);
  const bytes = byteEngine(options);
  return Promise.resolve({
    product(left, right, out, { rows, columns, inner }) {
      const feeds = {
        left: new (onnxruntime().Tensor)("float64", left, [rows, inner]),
        right: new (onnxruntime().Tensor)("float64", right, [columns, inner]),
      };
      const fetches = { product: new (onnxruntime().Tensor)("float64", out, [rows, columns]) };
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
