import { hopOf } from "../../../src/market/hop.ts";
import { depthOf } from "../../../src/merkle/sizes.ts";
import { Level, Side } from "../../../src/chain/structs.ts";

/**
 * The rules of the dispute game, reduced to what decides it. A node is `same` if it is the honest one. Any other hash
 * may hide anything: the worker that claims it chooses its children when it reveals them.
 */
export type ModelState = {
  level: number;
  turn: number;
  /** Leaves of the list, and where in it the game stands. */
  width: number;
  depth: number;
  index: number;
  same: boolean;
  /**
   * Everything that a step proof here may read is the honest one's: nothing left of here was different, in this list or
   * those above.
   */
  clean: boolean;
  /** Interior only: whether the list's last leaf, which is the disputed leaf of the trace, is the honest one's. */
  lastSame: boolean;
  /** The children that were revealed: whether each is the honest one's. Empty if none are. */
  children: readonly boolean[];
};

/** A rule that is left out, to show that it is needed. */
export type Flaw =
  | "none"
  | "padding unchecked"
  | "always 2^k children"
  | "range not closed under reads"
  | "last leaf unbound"
  | "item before unproven";

/** The part of the model that a program and a deployment fix. */
export type Shape = { arityBits: number; flaw: Flaw };

export type WorkerMove =
  | { kind: "reveal"; children: readonly boolean[] }
  | { kind: "chunk" }
  | { kind: "expand"; width: number; children: readonly boolean[] };

/** A pick of a node `levels` below; what the path shows of the node and of all that is left of it. */
export type ModelPick = { levels: number; index: number; same: boolean; clean: boolean };

/** The maximum width of the lists in the model. */
export const MAX_WIDTH = 8;

const isLeaf = ({ depth }: ModelState): boolean => depth === 0;

/** A game on a run of `width` items or, by default, on a trace of `width` checkpoints, before the first pick. */
export function opening(width: number, same: boolean, level: Level = Level.trace): ModelState {
  const depth = depthOf(width);
  const base = { level, width, depth, index: 0, same, clean: true, lastSame: true, children: [] };
  return { ...base, turn: Side.worker };
}

/** Whether the node at `index`, `depth` above the leaves, covers a leaf of the list. */
const isReal = (index: number, depth: number, width: number): boolean => index * 2 ** depth < width;

/** Whether it covers the last leaf. */
const holdsLast = (index: number, depth: number, width: number): boolean =>
  index === Math.floor((width - 1) / 2 ** depth);

/** Every way in which a worker can show the children of a node. */
export function patterns(s: ModelState, { arityBits, flaw }: Shape): boolean[][] {
  const hop = hopOf(s.depth, arityBits);
  const depth = s.depth - hop;
  const all = Array.from({ length: 2 ** hop }, (_, k) => s.index * 2 ** hop + k);
  // Children of the honest node are the honest ones; of another, at least one is another.
  if (s.same) return [all.map(() => true)];
  const found: boolean[][] = [];
  for (let bits = 0; bits < 2 ** all.length - 1; bits++) {
    const children = all.map((_, k) => ((bits >> k) & 1) === 1);
    const fits = all.every((index, k) => {
      const padding = !isReal(index, depth, s.width);
      if (padding) return children[k] || flaw === "padding unchecked";
      const bound = s.level === Level.interior && holdsLast(index, depth, s.width) && flaw !== "last leaf unbound";
      if (!bound) return true;
      return s.lastSame ? depth > 0 || children[k]! : !children[k]!;
    });
    if (fits) found.push(children);
  }
  return found;
}

/** The worker's legal moves. @param maxWidth Longest range that a program may have. */
export function workerMoves(s: ModelState, shape: Shape, maxWidth = MAX_WIDTH): WorkerMove[] {
  if (!isLeaf(s)) {
    const moves = patterns(s, shape).map((children) => ({ kind: "reveal", children }) as const);
    // A worker that must show 2^k children has none to show where fewer levels are left.
    if (shape.flaw === "always 2^k children" && s.depth < shape.arityBits) return [];
    return moves;
  }
  if (s.level === Level.tensor) return [{ kind: "chunk" }];
  const moves: WorkerMove[] = [];
  for (let width = 2; width <= maxWidth; width++) {
    for (const same of [true, false]) {
      // Its root is the honest one's only if its last leaf is.
      if (same && !s.same && shape.flaw !== "last leaf unbound") continue;
      const list = { ...interior(s, width), same };
      for (const children of patterns(list, shape)) moves.push({ kind: "expand", width, children });
    }
  }
  return moves;
}

const interior = (s: ModelState, width: number): ModelState => ({
  ...s,
  level: Level.interior,
  width,
  depth: depthOf(width),
  index: 0,
  lastSame: s.same,
  children: [],
});

/** The state after a worker's move. */
export function afterWorker(s: ModelState, move: WorkerMove): ModelState {
  const turn = Side.challenger;
  if (move.kind === "chunk") return { ...s, turn };
  if (move.kind === "reveal") return { ...s, turn, children: move.children };
  return { ...interior(s, move.width), same: move.children.every((same) => same), turn, children: move.children };
}

/** The challenger's legal picks: of a revealed node, or of any node below one, whatever that hides. */
export function picks(s: ModelState, { arityBits, flaw }: Shape): ModelPick[] {
  const hop = hopOf(s.depth, arityBits);
  const found: ModelPick[] = [];
  for (let levels = Math.max(hop, 1); levels <= s.depth; levels++) {
    const depth = s.depth - levels;
    for (let index = s.index * 2 ** levels; index < (s.index + 1) * 2 ** levels; index++) {
      if (!isReal(index, depth, s.width)) continue;
      const child = (index >> (levels - hop)) - s.index * 2 ** hop;
      const left = s.clean && s.children.slice(0, child).every((same) => same);
      for (const same of levels === hop || s.children[child]! ? [s.children[child]!] : [true, false]) {
        const bound = flaw !== "last leaf unbound" && s.level === Level.interior && holdsLast(index, depth, s.width);
        if (bound && (s.lastSame ? depth === 0 && !same : same)) continue;
        // Below a node that is not the honest one's, what lies left of the picked one may be anything.
        const cleans = left && levels > hop && !s.children[child]! ? [true, false] : [left];
        for (const clean of cleans) found.push({ levels, index, same, clean });
      }
    }
  }
  return found;
}

/**
 * The states that a pick may lead to: at a leaf of the run, of a trace or of an interior list the game enters the next
 * list, as wide as the program has it.
 * @param maxWidth Checkpoints of the longest trace, chunks of the largest tensor.
 */
export function afterPick(
  s: ModelState,
  { levels, index, same, clean }: ModelPick,
  shape: Shape,
  maxWidth = MAX_WIDTH,
): ModelState[] {
  const at: ModelState = { ...s, turn: Side.worker, depth: s.depth - levels, index, same, clean, children: [] };
  return crossings(at, shape, maxWidth);
}

/** A picked node, or the lists that it leads into. */
export function crossings(at: ModelState, shape: Shape, maxWidth = MAX_WIDTH): ModelState[] {
  const { flaw } = shape;
  if (!isLeaf(at) || at.level === Level.tensor) return [at];
  if (at.level === Level.run) {
    // What an item takes from the one before is the honest one's only if that item's trace is bound to the run.
    const clean = at.clean && (flaw !== "item before unproven" || at.index === 0);
    return Array.from({ length: maxWidth }, (_, k) => k + 1).flatMap((width) =>
      crossings({ ...at, level: Level.trace, width, depth: depthOf(width), index: 0, clean }, shape, maxWidth),
    );
  }
  const clean = at.clean && (flaw !== "range not closed under reads" || at.level === Level.trace);
  const tensors = Array.from({ length: maxWidth }, (_, k): ModelState => {
    const width = k + 1;
    return { ...at, level: Level.tensor, width, depth: depthOf(width), index: 0, clean, lastSame: true };
  });
  // A trace leaf whose range is one step leads to its tensor, another one to its range.
  return at.level === Level.trace ? [at, ...tensors] : tensors;
}

/** What a step proof of the chunk here comes to: surely right, surely wrong, or as the worker has laid it out. */
export function proof(s: ModelState): "holds" | "fails" | "either" {
  if (!s.clean) return "either";
  return s.same ? "fails" : "holds";
}

/** Where a proof can be given: at the chunk, once it is there to be seen. */
export const isProvable = (s: ModelState): boolean =>
  s.level === Level.tensor && s.depth === 0 && s.turn === Side.challenger;
