import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeFrame, encodeFrame, type FramedTensor } from "../../src/native/frame.ts";
import type { NativeRuntime, NativeSignature } from "../../src/native/nativeRuntime.ts";
import { bytesOf } from "../../src/executor/arrays.ts";

/** Answers a request in place of the runtime. */
type Fault = (response: ServerResponse) => void;

/** A process that speaks the documented protocol for native runtimes, with faults on request. */
export class NativeServer {
  /** Replaces the runtime's answer; undefined for the true answer. */
  fault: Fault | undefined;
  requests = 0;
  readonly #runtime: NativeRuntime;
  readonly #signature: NativeSignature;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(runtime: NativeRuntime, signature: NativeSignature) {
    [this.#runtime, this.#signature] = [runtime, signature];
  }

  /** @returns its URL */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    if (this.fault !== undefined) return this.fault(response);
    if (request.method !== "POST" || request.url !== `/${this.#signature.programRoot}`)
      return void response.writeHead(404).end();
    response.end(await this.answerTo(Buffer.concat(pieces)));
  }

  /** The message that answers a message. @param change May change what is answered. */
  async answerTo(message: Uint8Array, change = (tensors: FramedTensor[]) => tensors): Promise<Uint8Array> {
    const { tensors, head } = decodeFrame(message);
    const given = new Map(tensors.map((tensor) => [tensor.name, tensor.bytes]));
    const { inputs, outputs, deciding } = this.#signature;
    const result = await this.#runtime.run(inputs.map(({ name }) => given.get(name)!));
    const all = new Map<string, FramedTensor>([
      ...outputs.map((info, k) => [info.name, { ...info, bytes: result.outputs[k]! }] as const),
      ...deciding.map(
        (info) => [info.name, { ...info, bytes: bytesOf(result.deciding.get(info.name)!.data) }] as const,
      ),
    ]);
    const wanted = (head.wanted as string[]).map((name) => all.get(name)!);
    return encodeFrame(change(wanted), { runtime: this.#runtime.name });
  }
}
