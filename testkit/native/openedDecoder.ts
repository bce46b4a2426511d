import { compile } from "../../src/compiler/compile.ts";
import { wrapDecoder, type DecoderOptions } from "../../src/compiler/wraps/wrapDecoder.ts";
import { decoderSubject } from "../../src/native/decoder/decoderSubject.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { OpenedModel } from "./openedModel.ts";
import type { NativeSubject } from "../../src/native/nativeSubject.ts";

/** A wrapped decoder, opened natively and exactly. */
export type OpenedDecoder = OpenedModel & { subject: NativeSubject };

/** @param file The decoder's own bytes. */
export async function openDecoder(file: Uint8Array, options: DecoderOptions): Promise<OpenedDecoder> {
  const own = readModel(file);
  const { model, run, decoder } = wrapDecoder(own, options);
  const compiled = compile(model, { shapes: {}, run });
  const endTokens = options.endTokens ?? [];
  const subject = decoderSubject({ from: file, model: own, decoder, bound: new Map(), endTokens }, compiled);
  const { inputs, outputs, deciding, aligned } = subject;
  const exact = await subject.openExact();
  const native = await subject.openNative(exact.deciding, { threads: 1 });
  const { programRoot } = compiled;
  const signature = { programRoot, inputs, outputs: compiled.outputs, deciding: exact.deciding };
  const close = async (): Promise<void> => {
    await native.close();
    await exact.close();
  };
  return {
    subject,
    aligned,
    box: inputs.map(subject.max!),
    compiled,
    outputs,
    deciding,
    signature,
    native,
    exact,
    close,
  };
}
