/** Running small models in onnxruntime-node on plain tensors. */
import * as ort from "onnxruntime-node";
import { CONSTRUCTORS, type TensorArray } from "../../src/executor/arrays.ts";
import { DType, dtypeName } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";

function toOrt({ dtype, shape, bytes }: TensorData): ort.Tensor {
  const array = new CONSTRUCTORS[dtype](Uint8Array.from(bytes).buffer);
  const name = dtypeName(dtype);
  // As in src/native/plain/ortTensor.ts.
  const tensor = new ort.Tensor((name === "float16" ? "uint16" : name) as ort.Tensor.Type, array as never, [...shape]);
  if (name === "float16") Object.defineProperty(tensor, "type", { value: name });
  return tensor;
}

const BY_NAME = new Map(Object.entries(DType));

function fromOrt(tensor: ort.Tensor): TensorData {
  const data = tensor.data as TensorArray;
  const bytes = Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { dtype: BY_NAME.get(tensor.type)!, shape: tensor.dims, bytes };
}

/** Returns a model's outputs, by name. Graph optimisation is off: the comparison concerns the model's own operators. */
export async function runOnnxruntime(
  model: Uint8Array,
  inputs: ReadonlyMap<string, TensorData>,
): Promise<Map<string, TensorData>> {
  const session = await ort.InferenceSession.create(model, {
    graphOptimizationLevel: "disabled",
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries([...inputs].map(([name, tensor]) => [name, toOrt(tensor)]));
  const results = await session.run(feeds);
  await session.release();
  return new Map(Object.entries(results).map(([name, tensor]) => [name, fromOrt(tensor)]));
}
