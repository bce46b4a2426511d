import { cpus } from "node:os";
import type * as ort from "onnxruntime-node";
import type { DecidingTensor } from "../model/decision/margin.ts";
import { withOutputs } from "../model/decision/withOutputs.ts";
import { bytesOf, viewOf, type TensorArray } from "../executor/arrays.ts";
import { onnxruntime } from "../executor/engine/binding.ts";
import { DType, dtypeName } from "../numerics/dtype.ts";
import { elementCount, type Model } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { canonical } from "./canonical.ts";
import { decidingTensor } from "./decidingTensor.ts";
import { NativeModelError, NativeRuntimeError } from "./errors.ts";
import type { NativeResult, NativeRuntime, NativeSignature } from "./nativeRuntime.ts";
import { preparedFile, type FilePreparation } from "./preparedFile.ts";

/** The model to open, and the number of threads. */
type OnnxruntimeOptions = FilePreparation & {
  /** The model's file, and how it was read. */
  file: Uint8Array;
  model: Model;
  signature: NativeSignature;
  /** Threads of a node. Another number may sum in another order. */
  threads: number;
};

/** Returns a name for the runtime and its machine: kernels differ by version, machine and threads. */
export function onnxruntimeName(threads: number): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const version = onnxruntime().env.versions.node;
  return `onnxruntime ${version}, ${process.platform} ${process.arch}, ${processor}, ${threads} threads`;
}

/**
 * The model's own file in plain onnxruntime with all its optimisations; the tensors that decide are outputs too.
 * @throws NativeModelError if onnxruntime does not take the file; MissingPackageError
 */
export async function openOnnxruntime({ file, model, signature, threads, ...rest }: OnnxruntimeOptions) {
  const { bytes, inputNames } = preparedFile(file, model, rest);
  const names = signature.deciding.map(({ name }) => name);
  let session: ort.InferenceSession;
  try {
    session = await onnxruntime().InferenceSession.create(withOutputs(bytes, names), {
      graphOptimizationLevel: "all",
      intraOpNumThreads: threads,
      logSeverityLevel: 3,
    });
  } catch (cause) {
    throw new NativeModelError(`${model.source}: onnxruntime does not open it: ${(cause as Error).message}`, { cause });
  }
  return new OnnxruntimeNative(session, signature, inputNames, onnxruntimeName(threads));
}

class OnnxruntimeNative implements NativeRuntime {
  readonly name: string;
  readonly #session: ort.InferenceSession;
  readonly #signature: NativeSignature;
  readonly #inputNames: ReadonlyMap<string, string>;
  readonly #fetches: string[];

  constructor(
    session: ort.InferenceSession,
    signature: NativeSignature,
    inputNames: ReadonlyMap<string, string>,
    name: string,
  ) {
    [this.#session, this.#signature, this.#inputNames, this.name] = [session, signature, inputNames, name];
    const { outputs, deciding } = signature;
    this.#fetches = [...new Set([...outputs, ...deciding].map((tensor) => tensor.name))];
  }

  async run(inputs: readonly Uint8Array[]): Promise<NativeResult> {
    const feeds = Object.fromEntries(
      this.#signature.inputs.map((input, i) => [
        this.#inputNames.get(input.name) ?? input.name,
        ortTensor(input, inputs[i]!),
      ]),
    );
    let results: Readonly<Record<string, ort.OnnxValue | undefined>>;
    try {
      results = await this.#session.run(feeds, this.#fetches);
    } catch (cause) {
      throw new NativeRuntimeError(`onnxruntime: ${(cause as Error).message}`, { cause });
    }
    const bytes = (tensor: TensorInfo): Uint8Array => bytesOfOrt(results[tensor.name], tensor);
    return {
      outputs: this.#signature.outputs.map((output) => canonical(bytes(output), output.dtype)),
      deciding: new Map(
        this.#signature.deciding.map((tensor): [string, DecidingTensor] => [
          tensor.name,
          decidingTensor(bytes(tensor), tensor.dtype, tensor.shape),
        ]),
      ),
    };
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}

/** A tensor over the job's own bytes. */
function ortTensor({ name, dtype, shape }: TensorInfo, bytes: Uint8Array): ort.Tensor {
  if (dtype === DType.bfloat16) throw new NativeRuntimeError(`the input ${name} is bfloat16, which is not taken here`);
  const array = viewOf(bytes, dtype);
  const type = dtypeName(dtype);
  // The Tensor class makes its own Float16Array if the language has this class, but the engine cannot read it.
  const given = type === "float16" ? "uint16" : type;
  const tensor = new (onnxruntime().Tensor)(given as ort.Tensor.Type, array as never, [...shape]);
  if (type === "float16") Object.defineProperty(tensor, "type", { value: type });
  return tensor;
}

/**
 * Returns a result's bytes, after checking the result's type and shape against the program. @throws NativeRuntimeError
 */
function bytesOfOrt(value: ort.OnnxValue | undefined, { name, dtype, shape }: TensorInfo): Uint8Array {
  const tensor = value;
  if (tensor?.type !== dtypeName(dtype) || tensor.dims.join() !== shape.join())
    throw new NativeRuntimeError(
      `onnxruntime gives ${name} as ${tensor?.type ?? "nothing"} [${tensor?.dims.join(", ") ?? ""}], ` +
        `not ${dtypeName(dtype)} [${shape.join(", ")}]`,
    );
  const data = tensor.data as unknown as TensorArray;
  const bytes = bytesOf(data);
  if (elementCount(shape) * data.BYTES_PER_ELEMENT !== bytes.length)
    throw new NativeRuntimeError(`onnxruntime gives ${name} with ${bytes.length} bytes`);
  return bytes;
}
