/**
 * Levels that one reveal crosses at a node `depth` levels above the leaves, with up to 2^arityBits children: hops are
 * balanced.
 */
export function hopOf(depth: number, arityBits: number): number {
  return depth === 0 ? 0 : Math.ceil(depth / Math.ceil(depth / arityBits));
}
