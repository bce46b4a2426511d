import type { ClaimForm } from "./claimForm.ts";

/**
 * Returns how many levels a submission crosses below a claim's root. In trace form a submission crosses the same levels
 * as a reveal, in answer form all levels.
 */
export const submittedHop = (depth: number, form: ClaimForm, arityBits: number): number =>
  form === "answer" ? depth : hopOf(depth, arityBits);

/**
 * Levels that one reveal crosses at a node `depth` levels above the leaves, with up to 2^arityBits children: hops are
 * balanced.
 */
export function hopOf(depth: number, arityBits: number): number {
  return depth === 0 ? 0 : Math.ceil(depth / Math.ceil(depth / arityBits));
}
