import type { ClaimForm } from "./claimForm.ts";

/** Levels below a claim's root that a submission crosses: as a reveal there, but of an answer all. */
export const submittedHop = (depth: number, form: ClaimForm, arityBits: number): number =>
  form === "answer" ? depth : hopOf(depth, arityBits);

/**
 * Levels that one reveal crosses at a node `depth` levels above the leaves, with up to 2^arityBits children: hops are
 * balanced.
 */
export function hopOf(depth: number, arityBits: number): number {
  return depth === 0 ? 0 : Math.ceil(depth / Math.ceil(depth / arityBits));
}
