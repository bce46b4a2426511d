import { createRequire } from "node:module";
import type * as Onnxruntime from "onnxruntime-node";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import { withPackagesSync } from "../../base/optionalPackage.ts";
import { nativeCall } from "./nativeCalls.ts";

/**
 * The native session under onnxruntime-node's own class, whose `run` is a synchronous call that the class wraps in a
 * timer.
 */
export type NativeSession = {
  run(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: Readonly<Record<string, Tensor | null>>,
    options: InferenceSession.RunOptions,
  ): Record<string, Tensor>;
  dispose(): void;
};

let loaded: typeof Onnxruntime | undefined;

/** Returns the package onnxruntime-node, needed only for executing models. @throws MissingPackageError */
export const onnxruntime = (): typeof Onnxruntime =>
  (loaded ??= withPackagesSync(["onnxruntime-node"], "executing models", () =>
    nativeCall(() => createRequire(import.meta.url)("onnxruntime-node") as typeof Onnxruntime),
  ));

type Loadable = NativeSession & {
  loadModel(buffer: ArrayBufferLike, offset: number, length: number, options: InferenceSession.SessionOptions): void;
};
type Binding = { binding: { InferenceSession: new () => Loadable }; initOrt: () => void };

/**
 * A session that runs synchronously, in the calling thread: about 10 us for each call. The package's own call waits for
 * the event loop: at least 17 us, and whatever else is queued.
 */
export function nativeSession(model: Uint8Array, options: InferenceSession.SessionOptions): NativeSession {
  onnxruntime();
  return nativeCall(() => {
    const { binding, initOrt } = createRequire(import.meta.url)("onnxruntime-node/dist/binding.js") as Binding;
    initOrt();
    const session = new binding.InferenceSession();
    session.loadModel(model.buffer, model.byteOffset, model.byteLength, options);
    return {
      run: (feeds, fetches, runOptions) => nativeCall(() => session.run(feeds, fetches, runOptions)),
      dispose: () => nativeCall(() => session.dispose()),
    };
  });
}
