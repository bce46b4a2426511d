import { concatenated } from "../merkle/concatenated.ts";
import { fromHash, sha256, toHash, type Hash } from "../merkle/hash.ts";
import { depthOf, HASH_BYTES } from "../merkle/sizes.ts";
import { tensorRoot } from "../merkle/tensor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { HeaderOutput } from "../header.ts";

/** An output of an item, with the path from its tensor root to the claim's root. */
export type OpenedOutput = { bytes: Uint8Array; siblings: readonly Hash[] };

/** Where a tensor lies in a claim: its bytes, and its place in each list up to the claim's root, lowest first. */
export type OutputPlace = {
  root: Hash;
  lists: readonly { width: number; index: number }[];
  bytes: number;
};

/** The job facts that decide where the items' outputs lie in a claim. */
type ClaimedJob = { items: number; checkpoints: number; answers: number };

/**
 * Returns the place of an item's output. In trace form: at the output's checkpoint in the item's trace, within the run.
 * In answer form: in the output's list of items if each item has the output, and among the outputs.
 * @param root The claim's root.
 */
export function outputPlace(
  { items, checkpoints, answers }: ClaimedJob,
  root: Hash,
  item: number,
  output: number,
  { checkpoint, each, count, dtype }: HeaderOutput,
): OutputPlace {
  const bytes = count * dtypeBytes(dtype);
  if (answers === 0) {
    const [inTrace, inRun] = [
      { width: checkpoints, index: checkpoint },
      { width: items, index: item },
    ];
    return { root, lists: [inTrace, inRun], bytes };
  }
  const inItems = each ? [{ width: items, index: item }] : [];
  return { root, lists: [...inItems, { width: answers, index: output }], bytes };
}

/** How it travels: the path, lowest first, then the tensor's bytes. */
export const encodeOutput = ({ bytes, siblings }: OpenedOutput): Uint8Array =>
  concatenated([...siblings.map(fromHash), bytes]);

/** Bytes of an encoded output. */
export const encodedBytes = ({ lists, bytes }: OutputPlace): number =>
  lists.reduce((sum, { width }) => sum + depthOf(width) * HASH_BYTES, bytes);

/**
 * Reads an encoded output, and checks that the claim holds the output at its place.
 * @returns undefined for anything else
 */
export function decodeOutput(place: OutputPlace, encoded: Uint8Array): OpenedOutput | undefined {
  if (encoded.length !== encodedBytes(place)) return undefined;
  const bytes = encoded.subarray(encoded.length - place.bytes);
  const siblings: Hash[] = [];
  for (let at = 0; at < encoded.length - place.bytes; at += HASH_BYTES)
    siblings.push(toHash(encoded.subarray(at, at + HASH_BYTES)));
  let node: Uint8Array = fromHash(tensorRoot(bytes));
  let climbed = 0;
  for (const { width, index } of place.lists)
    node = climb(node, index, siblings.slice(climbed, (climbed += depthOf(width))));
  return toHash(node) === place.root ? { bytes, siblings } : undefined;
}

/** Returns the root above a node with number `index` among the nodes of its height. */
function climb(node: Uint8Array, index: number, siblings: readonly Hash[]): Uint8Array {
  siblings.forEach((sibling, height) => {
    const other = fromHash(sibling);
    const isRight = Math.floor(index / 2 ** height) % 2 === 1;
    node = isRight ? sha256(other, node) : sha256(node, other);
  });
  return node;
}
