import { concatenated } from "../merkle/concatenated.ts";
import { fromHash, sha256, toHash, type Hash } from "../merkle/hash.ts";
import { depthOf, HASH_BYTES } from "../merkle/sizes.ts";
import { tensorRoot } from "../merkle/tensor.ts";

/** An output of an item, with the path of its tensor root in the item's trace and then in the run. */
export type OpenedOutput = { bytes: Uint8Array; siblings: readonly Hash[] };

/** Where an output lies: in which claim, of which item, at which of the program's checkpoints, and its bytes. */
export type OutputPlace = {
  runRoot: Hash;
  items: number;
  item: number;
  checkpoints: number;
  checkpoint: number;
  bytes: number;
};

/** How it travels: the path, lowest first, then the tensor's bytes. */
export const encodeOutput = ({ bytes, siblings }: OpenedOutput): Uint8Array =>
  concatenated([...siblings.map(fromHash), bytes]);

/** Bytes of an encoded output. */
export const encodedBytes = ({ items, checkpoints, bytes }: OutputPlace): number =>
  (depthOf(items) + depthOf(checkpoints)) * HASH_BYTES + bytes;

/**
 * Reads an encoded output, and checks that the claim holds it at its place.
 * @returns undefined for anything else
 */
export function decodeOutput(place: OutputPlace, encoded: Uint8Array): OpenedOutput | undefined {
  if (encoded.length !== encodedBytes(place)) return undefined;
  const bytes = encoded.subarray(encoded.length - place.bytes);
  const siblings: Hash[] = [];
  for (let at = 0; at < encoded.length - place.bytes; at += HASH_BYTES)
    siblings.push(toHash(encoded.subarray(at, at + HASH_BYTES)));
  const below = depthOf(place.checkpoints);
  const trace = climb(fromHash(tensorRoot(bytes)), place.checkpoint, siblings.slice(0, below));
  const root = climb(trace, place.item, siblings.slice(below));
  return toHash(root) === place.runRoot ? { bytes, siblings } : undefined;
}

/** The root above a node that is number `index` of the nodes of its height. */
function climb(node: Uint8Array, index: number, siblings: readonly Hash[]): Uint8Array {
  siblings.forEach((sibling, height) => {
    const other = fromHash(sibling);
    const isRight = Math.floor(index / 2 ** height) % 2 === 1;
    node = isRight ? sha256(other, node) : sha256(node, other);
  });
  return node;
}
