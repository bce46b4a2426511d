import { env, InferenceSession, Tensor } from "onnxruntime-web";
import { gemmModel } from "../../src/executor/engine/productModels.ts";
import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { buildModel } from "./onnxBuilder.ts";

/** Without an explicit provider this package silently runs the native backend once onnxruntime-node is loaded. */
const OPTIONS = { executionProviders: ["wasm"], graphOptimizationLevel: "disabled" } as const;

/**
 * onnxruntime compiled to WebAssembly: a second engine, of other kernels than onnxruntime-node's.
 * @throws Error if what runs is not WebAssembly: casting NaN to int32 gives 0 there and -2^31 on x86.
 */
export async function webEngine(): Promise<MatMulEngine> {
  env.wasm.numThreads = 1;
  env.logLevel = "error";
  const cast = buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1] }],
    outputs: [{ name: "y", dtype: DType.int32, shape: [1] }],
    nodes: [{ op: "Cast", inputs: ["x"], outputs: ["y"], attributes: { to: DType.int32 } }],
  });
  const probe = await InferenceSession.create(cast, OPTIONS);
  const { y } = await probe.run({ x: new Tensor("float32", Float32Array.of(NaN), [1]) });
  if (y!.data[0] !== 0) throw new Error("onnxruntime-web does not run as WebAssembly");
  await probe.release();

  const byColumns = await InferenceSession.create(gemmModel(false), OPTIONS);
  const byTerms = await InferenceSession.create(gemmModel(true), OPTIONS);
  return {
    product(left, right, out, { rows, columns, inner, isByTerms = false }) {
      return async () => {
        const { product } = await (isByTerms ? byTerms : byColumns).run({
          left: new Tensor("float64", left.slice(), [rows, inner]),
          right: new Tensor("float64", right.slice(), isByTerms ? [inner, columns] : [columns, inner]),
        });
        out.set(product!.data as Float64Array);
      };
    },
    close: async () => {
      await byColumns.release();
      await byTerms.release();
    },
  };
}
