/** Running small models in onnxruntime-node on plain tensors. */
import * as ort from "onnxruntime-node";
import { DType, dtypeName } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/onnx/model.ts";

type Numbers =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

type ModelType = Exclude<DType, typeof DType.limb>;

const ARRAYS: Record<ModelType, new (buffer: ArrayBuffer) => Numbers> = {
  [DType.float32]: Float32Array,
  [DType.uint8]: Uint8Array,
  [DType.int8]: Int8Array,
  [DType.uint16]: Uint16Array,
  [DType.int16]: Int16Array,
  [DType.int32]: Int32Array,
  [DType.int64]: BigInt64Array,
  [DType.bool]: Uint8Array,
  [DType.float16]: Uint16Array,
  [DType.float64]: Float64Array,
  [DType.uint32]: Uint32Array,
  [DType.uint64]: BigUint64Array,
  [DType.bfloat16]: Uint16Array,
};

function toOrt({ dtype, shape, bytes }: TensorData): ort.Tensor {
  const array = new ARRAYS[dtype as ModelType](Uint8Array.from(bytes).buffer);
  const name = dtypeName(dtype);
  // As in src/examine/compare/ortTensor.ts.
  const tensor = new ort.Tensor((name === "float16" ? "uint16" : name) as ort.Tensor.Type, array as never, [...shape]);
  if (name === "float16") Object.defineProperty(tensor, "type", { value: name });
  return tensor;
}

const BY_NAME = new Map(Object.entries(DType));

function fromOrt(tensor: ort.Tensor): TensorData {
  const data = tensor.data as Numbers;
  const bytes = Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { dtype: BY_NAME.get(tensor.type)!, shape: tensor.dims, bytes };
}

/** The outputs of a model, by name. Graph optimisation is off, so that what is compared is the model's own operators. */
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
