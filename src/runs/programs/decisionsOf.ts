import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { findDecisions, type FoundDecisions } from "../../compiler/decisions/findDecisions.ts";
import { tokenDecisions } from "../../compiler/decisions/tokenDecisions.ts";
import type { LoadedModel } from "../../compiler/wraps/modelSpec.ts";

/**
 * Finds the decisions behind a loaded model's outputs. Deciding tensors have the names used in the model's file, or the
 * names added by `decidedFile`.
 */
export function decisionsOf({ model, unwrapped, run, decoder }: LoadedModel): FoundDecisions {
  if (decoder === undefined) return findDecisions(model, run?.carried);
  const drawn = model.graph.inputs.some(({ name }) => name === DECODER.temperature);
  const caches = Object.fromEntries(decoder.caches.map(({ past, present }) => [past, present]));
  const named = { tokens: DECODER.tokens, logits: decoder.logits, mask: decoder.mask.name };
  return { outputs: [tokenDecisions(unwrapped, { ...named, drawn }, caches)] };
}
