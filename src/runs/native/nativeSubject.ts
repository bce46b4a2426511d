import { decoderSubject } from "../../native/decoder/decoderSubject.ts";
import { NativeModelError } from "../../native/errors.ts";
import { itemSubject, type NativeSubject } from "../../native/nativeSubject.ts";
import type { Model } from "../../model/onnx/model.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { LoadedModel, ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/**
 * Describes how a model is executed natively: a wrapped decoder by the run, other models item by item.
 * @param own The model from its file.
 * @param loaded The same model, prepared according to the specification.
 * @throws NativeModelError if native execution is impossible
 */
export function nativeSubject(
  spec: ModelSpec,
  own: Model,
  { model, unwrapped, bound, decoder }: LoadedModel,
  compiled: CompiledModel,
): NativeSubject {
  const { path, uint8, decide = {} } = spec;
  if (spec.seedInput === true)
    throw new NativeModelError(`${path}: a model that draws from a seed of the job is not executed natively`);
  if (compiled.outputs.some(({ bounded }) => bounded !== undefined))
    throw new NativeModelError(`${path}: an output whose size depends on data is not executed natively`);
  if (decoder === undefined) return itemSubject({ path, own, bound, uint8, decide }, model, compiled, { ...spec });
  const endTokens = spec.decoder?.endTokens ?? [];
  return decoderSubject({ from: path, model: unwrapped, decoder, bound, endTokens }, compiled);
}
