import { CHUNK_BYTES, depthOf } from "./merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { product, sum } from "./sums.ts";
import type { Axis, Step, View } from "./types.ts";

/** Upper bounds of what opening one input takes: its chunks, their multiproof's siblings, the nodes hashed for it. */
export type Opened = { chunks: number; siblings: number; nodes: number };

/** Chunks of one tensor that a proof opens: `blocks` runs of `length` neighbouring chunks. */
type Touched = { blocks: number; length: number };

/**
 * What opening one input takes: all chunks that any of its views can touch, for the worst element.
 *
 * Both numbers hold together. A run of chunks is a run of nodes at every height, and a multiproof takes at most one
 * sibling at each of its ends, of a run of one chunk only one. It takes one of each pair of nodes at most. An element
 * that touches fewer chunks than these, because others are out of bounds, takes a sibling more for each that it leaves
 * out at most, and a sibling is shorter than a chunk.
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
 * The chunks that a view can touch for one element. Digits from `first` on vary. Each varying digit moves the offset by
 * a step; taken in increasing order, steps within reach of what is covered so far widen the span, larger ones repeat
 * it.
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
  // Axis by axis, each over the range of its coordinate: a superset.
  return view.axes.map((axis) => {
    const varying = varyingDigits(axis, first);
    const reach = sum(varying.map((digit) => Math.abs(coefficient(axis, digit)) * (radices[digit]! - 1)));
    if (axis.indirect === undefined) {
      return { by: axis.stride, times: Math.min(axis.extent, Math.floor(reach / axis.div) + 1) };
    }
    const index = reads[axis.indirect]!;
    const digits = new Set([...varying, ...index.axes.flatMap((a) => varyingDigits(a, first))]);
    const values = product([...digits].map((digit) => radices[digit]!));
    // The index read may give any coordinate: each of its values counts as a scattered one, or, if that is less, all of
    // the axis.
    return values < axis.extent ? { by: Infinity, times: values } : { by: axis.stride, times: axis.extent };
  });
}

/** By how much a digit moves an axis. */
export const coefficient = (axis: Axis, digit: number): number =>
  axis.coeffs.find((c) => c.digit === digit)?.coeff ?? 0;

const varyingDigits = (axis: Axis, first: number): number[] =>
  axis.coeffs.filter((c) => c.digit >= first && c.coeff !== 0).map((c) => c.digit);
