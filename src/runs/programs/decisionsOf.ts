import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { findDecisions, type FoundDecisions } from "../../compiler/decisions/findDecisions.ts";
import { tokenDecisions } from "../../compiler/decisions/tokenDecisions.ts";
import type { LoadedModel } from "./modelSpec.ts";

/**
 * What decides the outputs of a loaded model. Deciding tensors have the names that the model's file has, or those that
 * `decidedFile` adds to it.
 */
export function decisionsOf({ model, unwrapped, run, decoder }: LoadedModel): FoundDecisions {
  if (decoder === undefined) return findDecisions(model, run?.carried);
  const drawn = model.graph.inputs.some(({ name }) => name === DECODER.temperature);
  const caches = Object.fromEntries(decoder.caches.map(({ past, present }) => [past, present]));
  return { outputs: [tokenDecisions(unwrapped, { tokens: DECODER.tokens, logits: decoder.logits, drawn }, caches)] };
}
