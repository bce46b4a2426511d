import type { Model } from "../model/onnx/model.ts";
import { readRegularFile } from "../base/regularFile.ts";
import { HttpNative } from "./httpNative.ts";
import type { NativeRuntime, NativeSignature } from "./nativeRuntime.ts";
import { openOnnxruntime } from "./onnxruntimeNative.ts";
import type { FilePreparation } from "./preparedFile.ts";

/** The place for native execution: a process reached over HTTP, or this process with a number of threads. */
export type NativePlace = { url: string; name?: string } | { threads: number };

/** A model's file, and everything between the file and its program. */
export type NativeFile = FilePreparation & {
  path: string;
  /** As the file was read. */
  own: Model;
};

/** Opens a native runtime. @throws NativeModelError, MissingPackageError, FileError */
export async function openNative(
  { path, own, ...preparation }: NativeFile,
  signature: NativeSignature,
  place: NativePlace,
): Promise<NativeRuntime> {
  if ("url" in place) return new HttpNative({ ...place, signature });
  const file = readRegularFile(path);
  return openOnnxruntime({ file, model: own, signature, ...preparation, threads: place.threads });
}
