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
  const byColumns = nativeSession(gemmModel(false), options);
  const byTerms = nativeSession(gemmModel(true), options);
  const bytes = byteEngine(options);
  return Promise.resolve({
    product(left, right, out, { rows, columns, inner, isByTerms = false }) {
      const feeds = {
        left: new (onnxruntime().Tensor)("float64", left, [rows, inner]),
        right: new (onnxruntime().Tensor)("float64", right, isByTerms ? [inner, columns] : [columns, inner]),
      };
      const floats = isByTerms ? byTerms : byColumns;
      const fetches = { product: new (onnxruntime().Tensor)("float64", out, [rows, columns]) };
      return () => void floats.run(feeds, fetches, {});
    },
    bytes: bytes.engine,
    close: () => {
      byColumns.dispose();
      byTerms.dispose();
      bytes.dispose();
      return Promise.resolve();
    },
  });
}
