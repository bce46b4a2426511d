import { CHUNK_BYTES, depthOf } from "./merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { product, sum } from "./sums.ts";
import type { Axis, Step, View } from "./types.ts";

/** Upper bounds for opening one input: its chunks, their multiproof's siblings, the nodes hashed for the input. */
export type Opened = { chunks: number; siblings: number; nodes: number };

/** Chunks of one tensor that a proof opens: `blocks` runs of `length` neighbouring chunks. */
type Touched = { blocks: number; length: number };

/**
 * Returns bounds for opening one input: all chunks that any view of the input can touch, for the worst element.
 *
 * The bounds on chunks and siblings hold together. A run of chunks forms a node run at every height. A multiproof takes
 * at most one sibling at each run end, and only one for a run with a single chunk. From each node pair, the multiproof
 * takes at most one. An element may touch fewer chunks because others are out of bounds. Each omitted chunk adds at
 * most one sibling, and a sibling is shorter than a chunk.
 */
export function openedChunks(step: Step, input: number): Opened {
  const { dtype, count } = step.inputs[input]!;
  const bytes = dtypeBytes(dtype);
  const width = Math.ceil((count * bytes) / CHUNK_BYTES);
  const touched: Touched[] = [];
  const collect = (reads: readonly View[], first: number): void =>
    reads.forEach((view) => {
      if (view.input === input) touched.push(touchedChunks(step, reads, view, first, bytes));
    });
  collect(step.termReads, step.outDigits.length);
  collect(step.epilogueReads, step.outDigits.length + step.redDigits.length);
  if (touched.length === 0) return { chunks: 0, siblings: 0, nodes: 0 };

  const depth = depthOf(width);
  let siblings = 0;
  let nodes = 0;
  for (let height = 0; height < depth; height++) {
    const level = 2 ** (depth - height);
    const ends = sum(touched.map(({ blocks, length }) => (length === 1 ? blocks : 2 * blocks)));
    siblings += Math.min(ends, level / 2);
    const above = sum(touched.map(({ blocks, length }) => blocks * (Math.ceil((length - 1) / 2 ** (height + 1)) + 1)));
    nodes += Math.min(above, level / 2);
  }
  const chunks = Math.min(width, sum(touched.map(({ blocks, length }) => blocks * length)));
  return { chunks, siblings, nodes };
}

/**
 * Returns the chunks a view can touch for one element. Digits from `first` on vary. Each varying digit moves the offset
 * by a step. The function takes steps in increasing order: a step within reach of the covered span widens the span, a
 * larger step repeats the span.
 */
function touchedChunks(step: Step, reads: readonly View[], view: View, first: number, bytes: number): Touched {
  const radices = [...step.outDigits, ...step.redDigits];
  let moves = movesOf(reads, view, radices, first).filter(({ times }) => times > 1);
  moves = moves.map(({ by, times }) => ({ by: by * bytes, times })).sort((a, b) => a.by - b.by);
  let span = bytes;
  let blocks = 1;
  for (const { by, times } of moves) {
    if (by < span + CHUNK_BYTES) span += by * (times - 1);
    else blocks *= times;
  }
  const length = span === bytes ? 1 : Math.ceil((span - bytes) / CHUNK_BYTES) + 1;
  return { blocks, length };
}

type Move = { by: number; times: number };

function movesOf(reads: readonly View[], view: View, radices: readonly number[], first: number): Move[] {
  const affine = view.axes.every((axis) => axis.div === 1 && axis.indirect === undefined);
  if (affine) {
    return radices.map((radix, digit) => {
      if (digit < first) return { by: 0, times: 1 };
      const by = sum(view.axes.map((axis) => axis.stride * coefficient(axis, digit)));
      return { by: Math.abs(by), times: by === 0 ? 1 : radix };
    });
  }
  // Axis by axis, each over the coordinate's whole range: a superset.
  return view.axes.map((axis) => {
    const varying = varyingDigits(axis, first);
    const reach = sum(varying.map((digit) => Math.abs(coefficient(axis, digit)) * (radices[digit]! - 1)));
    if (axis.indirect === undefined) {
      return { by: axis.stride, times: Math.min(axis.extent, Math.floor(reach / axis.div) + 1) };
    }
    const index = reads[axis.indirect]!;
    const digits = new Set([...varying, ...index.axes.flatMap((a) => varyingDigits(a, first))]);
    const values = product([...digits].map((digit) => radices[digit]!));
    // The index read may give any coordinate: the function counts each value of the index read as a scattered
    // coordinate, or the whole axis if smaller.
    return values < axis.extent ? { by: Infinity, times: values } : { by: axis.stride, times: axis.extent };
  });
}

/** By how much a digit moves an axis. */
export const coefficient = (axis: Axis, digit: number): number =>
  axis.coeffs.find((c) => c.digit === digit)?.coeff ?? 0;

const varyingDigits = (axis: Axis, first: number): number[] =>
  axis.coeffs.filter((c) => c.digit >= first && c.coeff !== 0).map((c) => c.digit);
