import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import { elementCount } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { withoutPaths } from "../base/redact.ts";
import { decidingTensor } from "./decidingTensor.ts";
import { canonical } from "./canonical.ts";
import { NativeRuntimeError } from "./errors.ts";
import { decodeFrame, encodeFrame, MAX_HEAD_BYTES, type FramedTensor } from "./frame.ts";
import type { NativeResult, NativeRuntime, NativeSignature } from "./nativeRuntime.ts";

/** How long an answer may take where nothing else is said: after that, exact execution still has to be in time. */
const SECONDS = 20;
const MAX_NAME = 1_000;

/** The URL of a runtime, and the properties that the runtime must have. */
type HttpNativeOptions = {
  /** http or https; the program's root is appended. */
  url: string;
  signature: NativeSignature;
  /** The name that it must give itself; the one of its first answer if absent. */
  name?: string;
  /** Seconds that an answer may take. */
  seconds?: number;
};

/**
 * A native runtime in another process, over HTTP. Inputs go by `POST URL/PROGRAM-ROOT` in a message of `frame.ts`. Its
 * head also has `"wanted"`, the names of outputs and deciding tensors. These come back the same way, and the head then
 * has `"runtime"`, the runtime's name. The reply remains untrusted, and counts only within its checked form.
 */
export class HttpNative implements NativeRuntime {
  readonly #url: string;
  /** For messages: a token may be in the path. */
  readonly #place: string;
  readonly #signature: NativeSignature;
  readonly #seconds: number;
  readonly #wanted: readonly TensorInfo[];
  #name: string | undefined;

  constructor({ url, signature, name, seconds = SECONDS }: HttpNativeOptions) {
    [this.#signature, this.#name, this.#seconds] = [signature, name, seconds];
    this.#place = withoutPaths(url);
    this.#url = `${url.replace(/\/+$/, "")}/${signature.programRoot}`;
    const { outputs, deciding } = signature;
    this.#wanted = [...new Map([...outputs, ...deciding].map((tensor) => [tensor.name, tensor])).values()];
  }

  /** @throws NativeRuntimeError if it has not answered yet, and was given no name */
  get name(): string {
    if (this.#name === undefined) throw new NativeRuntimeError(`${this.#place} has not said yet what computes there`);
    return this.#name;
  }

  async run(inputs: readonly Uint8Array[]): Promise<NativeResult> {
    const given = this.#signature.inputs.map((input, i): FramedTensor => ({ ...input, bytes: inputs[i]! }));
    const wanted = this.#wanted.map(({ name }) => name);
    const { tensors, head } = decodeFrame(await this.#post(encodeFrame(given, { wanted })));
    this.#requireName(head.runtime);
    const found = new Map(tensors.map((tensor) => [tensor.name, tensor]));
    const bytesOf = (info: TensorInfo): Uint8Array => fitting(info, found.get(info.name));
    return {
      outputs: this.#signature.outputs.map((output) => canonical(bytesOf(output), output.dtype)),
      deciding: new Map(
        this.#signature.deciding.map((info) => [info.name, decidingTensor(bytesOf(info), info.dtype, info.shape)]),
      ),
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #requireName(name: unknown): void {
    if (typeof name !== "string" || name === "" || name.length > MAX_NAME)
      throw new NativeRuntimeError(`${this.#place} does not say what computes there: "runtime" in the head`);
    this.#name ??= name;
    if (name !== this.#name)
      throw new NativeRuntimeError(`${this.#place} computes by ${name}, calibrated was ${this.#name}`);
  }

  /** @throws NativeRuntimeError whatever goes wrong */
  async #post(body: Uint8Array): Promise<Uint8Array> {
    const max =
      4 +
      MAX_HEAD_BYTES +
      this.#wanted.reduce((sum, { dtype, shape }) => sum + elementCount(shape) * dtypeBytes(dtype), 0);
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
        redirect: "error",
        signal: AbortSignal.timeout(this.#seconds * 1_000),
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new NativeRuntimeError(`${this.#place} answers ${response.status}`);
      }
      return await readAtMost(response, max);
    } catch (cause) {
      if (cause instanceof NativeRuntimeError) throw cause;
      const { message, cause: reason } = cause as Error;
      const why = reason instanceof Error ? `${message}: ${reason.message}` : message;
      throw new NativeRuntimeError(withoutPaths(`${this.#place} gives no answer: ${why}`), { cause });
    }
  }
}

/** The whole body. @throws NativeRuntimeError if it has more bytes */
async function readAtMost(response: Response, max: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > max) throw new NativeRuntimeError(`the answer has more than ${max} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** @throws NativeRuntimeError if a tensor is missing, or has another type or shape */
function fitting({ name, dtype, shape }: TensorInfo, tensor: FramedTensor | undefined): Uint8Array {
  if (tensor?.dtype === dtype && tensor.shape.join() === shape.join()) return tensor.bytes;
  const found = tensor === undefined ? "nothing" : `${dtypeName(tensor.dtype)} [${tensor.shape.join(", ")}]`;
  throw new NativeRuntimeError(`the runtime gives ${name} as ${found}, not ${dtypeName(dtype)} [${shape.join(", ")}]`);
}
