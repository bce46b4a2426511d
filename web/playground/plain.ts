import { DType, type DType as DTypeCode } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";

/** A plain execution, or why there is none. */
type Plain = { outputs: ReadonlyMap<string, Uint8Array>; milliseconds: number } | { why: string };

type Elements = Float32Array | Float64Array | BigInt64Array | Int32Array | Uint8Array;
type OrtTensor = { data: ArrayBufferView };
type Runtime = {
  env: { wasm: { numThreads: number; wasmPaths: string }; logLevel: string };
  Tensor: new (type: string, data: Elements, shape: readonly number[]) => OrtTensor;
  InferenceSession: {
    create: (
      bytes: Uint8Array,
      options: object,
    ) => Promise<{
      run: (feeds: Record<string, OrtTensor>) => Promise<Record<string, OrtTensor>>;
      release: () => Promise<void>;
    }>;
  };
};

/** Types as onnxruntime calls them, with what holds their elements. */
const TYPES: Partial<Record<DTypeCode, readonly [string, (bytes: ArrayBuffer) => Elements]>> = {
  [DType.float32]: ["float32", (bytes) => new Float32Array(bytes)],
  [DType.float64]: ["float64", (bytes) => new Float64Array(bytes)],
  [DType.int64]: ["int64", (bytes) => new BigInt64Array(bytes)],
  [DType.int32]: ["int32", (bytes) => new Int32Array(bytes)],
  [DType.uint8]: ["uint8", (bytes) => new Uint8Array(bytes)],
  [DType.bool]: ["bool", (bytes) => new Uint8Array(bytes)],
};

/**
 * Executes a model in plain onnxruntime, if its files are there.
 * @param engine The address of its module, below the page's own; undefined if it is not wanted.
 */
export async function runPlainly(
  engine: string | undefined,
  model: Uint8Array,
  { inputs }: CompiledModel,
  bytes: readonly Uint8Array[],
): Promise<Plain> {
  if (engine === undefined) return { why: "plain onnxruntime was not asked for" };
  try {
    const ort = (await import(/* @vite-ignore */ engine)) as Runtime;
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = new URL("./", engine).href;
    ort.env.logLevel = "error";
    const feeds: Record<string, OrtTensor> = {};
    inputs.forEach(({ name, dtype, shape }, k) => {
      const type = TYPES[dtype];
      if (type === undefined) throw new Error(`its input "${name}" has a type that this page does not hand over`);
      feeds[name] = new ort.Tensor(type[0], type[1](bytes[k]!.slice().buffer), shape);
    });
    const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
    const start = performance.now();
    const results = await session.run(feeds);
    const milliseconds = performance.now() - start;
    const outputs = new Map(
      Object.entries(results).map(([name, { data }]): [string, Uint8Array] => [
        name,
        new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice(),
      ]),
    );
    await session.release();
    return { outputs, milliseconds };
  } catch (error) {
    return { why: `plain onnxruntime does not run it here: ${error instanceof Error ? error.message : String(error)}` };
  }
}
