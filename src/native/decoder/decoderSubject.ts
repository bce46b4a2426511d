import { decoderLimits } from "../../compiler/wraps/decoderInputs.ts";
import type { DecoderInterface } from "../../compiler/wraps/decoderInterface.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { isDecided } from "../../model/decision/decision.ts";
import { tokenDecisions } from "../../compiler/decisions/tokenDecisions.ts";
import type { Model, TensorData } from "../../model/onnx/model.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { NativeModelError } from "../errors.ts";
import type { NativeSubject } from "../nativeSubject.ts";
import { openExactDecoder, sameBeginning } from "./exactDecoder.ts";
import { openNativeDecoder } from "./nativeDecoder.ts";
import { longestTexts, textInfos, textRange } from "./text.ts";

/** A wrapped decoder. */
type DecoderFile = {
  /** The path of the model's own file, or the file's bytes. */
  from: string | Uint8Array;
  /** The model as read, with bound inputs, before wrapping. */
  model: Model;
  decoder: DecoderInterface;
  bound: ReadonlyMap<string, TensorData>;
  endTokens: readonly number[];
};

/**
 * Returns a wrapped decoder's run for native execution; the run always chooses the most probable token. Runs that draw
 * tokens are not accepted (`nativeExecutions` in `src/runs/native`).
 * @throws NativeModelError if the run decides anything but the choice of tokens
 */
export function decoderSubject(
  { from, model, decoder, bound, endTokens }: DecoderFile,
  compiled: CompiledModel,
): NativeSubject {
  const refuse = (what: string): never => {
    throw new NativeModelError(`${model.source} is not executed natively: ${what}`);
  };
  const { caches, logits, mask } = decoder;
  const carried = Object.fromEntries(caches.map(({ past, present }) => [past, present]));
  const named = { tokens: DECODER.tokens, logits, mask: mask.name };
  const tokens = tokenDecisions(model, { ...named, drawn: false }, carried);
  if (!isDecided(tokens)) return refuse(`the output ${tokens.name} is no decision: ${tokens.reason}`);
  const other = tokens.decisions.find(({ kind }) => kind !== "token");
  if (other !== undefined) refuse(`${other.node} (${other.operator}) decides on the way to its tokens`);
  const limits = decoderLimits(compiled);
  const inputs = textInfos(compiled);
  const { programRoot } = compiled;
  return {
    compiled,
    inputs,
    outputs: [tokens],
    deciding: [logits],
    max: (info) => textRange(limits, info),
    measured: longestTexts,
    aligned: sameBeginning,
    openExact: () => openExactDecoder(compiled, logits, endTokens),
    openNative: (deciding, place) => {
      if ("url" in place) return refuse("decoders are by onnxruntime here alone, without --native-url");
      const outputs = compiled.outputs.filter(({ name }) => name === DECODER.tokens);
      const signature = { programRoot, inputs, outputs, deciding };
      return openNativeDecoder({ from, decoder, bound, endTokens, signature, threads: place.threads });
    },
  };
}
