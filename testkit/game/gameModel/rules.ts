import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
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
  /** A leaf below here that is bound to what the game came from, and whether that is the honest one's. */
  bound?: Bound | undefined;
  /** Of the run, above its last item: whether the output that this item's trace must hold is the honest one's. */
  output?: boolean | undefined;
  /** The children that were revealed: whether each is the honest one's. Empty if none are. */
  children: readonly boolean[];
};

type Bound = { index: number; same: boolean };

/** A rule that is left out, to show that it is needed. */
type Flaw =
  | "none"
  | "padding unchecked"
  | "always 2^k children"
  | "range not closed under reads"
  | "last leaf unbound"
  | "item before unproven"
  | "output unbound"
  | "run not expanded";

/** The part of the model that a program and a deployment fix. */
export type Shape = { arityBits: number; flaw: Flaw };

type WorkerMove =
  | { kind: "reveal"; children: readonly boolean[] }
  | { kind: "chunk" }
  | { kind: "expand"; list: ModelState; children: readonly boolean[] };

/** A pick of a node `levels` below; what the path shows of the node and of all that is left of it. */
export type ModelPick = { levels: number; index: number; same: boolean; clean: boolean };

/** The maximum width of the lists in the model. */
export const MAX_WIDTH = 8;

const isLeaf = ({ depth }: ModelState): boolean => depth === 0;

/** A game on a run of `width` items or, by default, on a trace of `width` checkpoints, before the first pick. */
export function opening(width: number, same: boolean, level: Level = Level.trace): ModelState {
  const depth = depthOf(width);
  return { level, turn: Side.worker, width, depth, index: 0, same, clean: true, children: [] };
}

/** A game on output `index` of an answer of `width` outputs, before it goes on from there. */
export const outputOpening = (width: number, index: number, same: boolean): ModelState => ({
  ...opening(width, same, Level.answer),
  depth: 0,
  index,
});

/** Whether the node at `index`, `depth` above the leaves, covers a leaf of the list. */
const isReal = (index: number, depth: number, width: number): boolean => index * 2 ** depth < width;

/** Whether it covers the leaf that is bound. */
const holdsBound = ({ bound }: ModelState, index: number, depth: number): boolean =>
  bound !== undefined && index === Math.floor(bound.index / 2 ** depth);

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
      if (!holdsBound(s, index, depth)) return true;
      return s.bound!.same ? depth > 0 || children[k]! : !children[k]!;
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
  return expansions(s, shape, maxWidth).flatMap((list) =>
    [true, false].flatMap((same): WorkerMove[] => {
      // Its root is the honest one's only if the leaf that it must hold is.
      if (same && list.bound?.same === false) return [];
      return patterns({ ...list, same }, shape).map((children) => ({
        kind: "expand",
        list: { ...list, same },
        children,
      }));
    }),
  );
}

/**
 * The lists that a worker may expand a leaf into: an output of an answer into the run, an output of an item into its
 * trace, where it is any of the checkpoints, a leaf of a trace into its range.
 */
function expansions({ level, same, clean }: ModelState, { flaw }: Shape, maxWidth: number): ModelState[] {
  const from2 = Array.from({ length: maxWidth - 1 }, (_, k) => k + 2);
  const isBound = flaw !== (level === Level.trace ? "last leaf unbound" : "output unbound");
  const held = (index: number): Bound | undefined => (isBound ? { index, same } : undefined);
  if (level === Level.trace) {
    return from2.map((width) => ({ ...opening(width, same, Level.interior), clean, bound: held(width - 1) }));
  }
  if (level === Level.items) {
    return from2.flatMap((width) => leaves(width).map((k) => ({ ...opening(width, same), clean, bound: held(k) })));
  }
  // The last item's trace holds the output: it is another one if the output is, else it may be any.
  return from2.map((width) => ({
    ...opening(width, same, Level.run),
    clean,
    bound: same ? undefined : held(width - 1),
    output: isBound ? same : undefined,
  }));
}

const leaves = (width: number): number[] => Array.from({ length: width }, (_, k) => k);

/** The state after a worker's move. */
export function afterWorker(s: ModelState, move: WorkerMove): ModelState {
  const turn = Side.challenger;
  if (move.kind === "chunk") return { ...s, turn };
  if (move.kind === "reveal") return { ...s, turn, children: move.children };
  return { ...move.list, turn, children: move.children };
}

/** The challenger's legal picks: of a revealed node, or of any node below one, whatever that hides. */
export function picks(s: ModelState, { arityBits }: Shape): ModelPick[] {
  const hop = hopOf(s.depth, arityBits);
  const found: ModelPick[] = [];
  for (let levels = Math.max(hop, 1); levels <= s.depth; levels++) {
    const depth = s.depth - levels;
    for (let index = s.index * 2 ** levels; index < (s.index + 1) * 2 ** levels; index++) {
      if (!isReal(index, depth, s.width)) continue;
      const child = (index >> (levels - hop)) - s.index * 2 ** hop;
      // No proof reads the outputs of other items.
      const left = s.clean && (s.level === Level.items || s.children.slice(0, child).every((same) => same));
      for (const same of levels === hop || s.children[child]! ? [s.children[child]!] : [true, false]) {
        if (holdsBound(s, index, depth) && (s.bound!.same ? depth === 0 && !same : same)) continue;
        // Below a node that is not the honest one's, what lies left of the picked one may be anything.
        const isHidden = s.level !== Level.items && levels > hop && !s.children[child]!;
        const cleans = left && isHidden ? [true, false] : [left];
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
  const depth = s.depth - levels;
  const at: ModelState = { ...s, turn: Side.worker, depth, index, same, clean, children: [] };
  // What the picked node does not cover is forgotten.
  const bound = holdsBound(s, index, depth) ? s.bound : undefined;
  const output = index === Math.floor((s.width - 1) / 2 ** depth) ? s.output : undefined;
  return crossings({ ...at, bound, output }, shape, maxWidth);
}

/** A picked node, or the lists that it leads into. */
export function crossings(at: ModelState, shape: Shape, maxWidth = MAX_WIDTH): ModelState[] {
  if (!isLeaf(at) || at.level === Level.tensor) return [at];
  if (at.level === Level.answer) return fromOutput(at, shape, maxWidth);
  if (at.level === Level.items) return fromItem(at, shape, maxWidth);
  if (at.level === Level.run) return fromRun(at, shape, maxWidth);
  const clean = at.clean && (shape.flaw !== "range not closed under reads" || at.level === Level.trace);
  const tensors = leaves(maxWidth).map((k): ModelState => ({ ...opening(k + 1, at.same, Level.tensor), clean }));
  // A trace leaf whose range is one step leads to its tensor, another one to its range.
  return at.level === Level.trace ? [{ ...at, bound: undefined }, ...tensors] : tensors;
}

/** An output of items that carry leads on by expansion alone; another one into the items that have it, or the last. */
function fromOutput(at: ModelState, shape: Shape, maxWidth: number): ModelState[] {
  const items = leaves(maxWidth).map((k) => opening(k + 1, at.same, Level.items));
  // What the last item takes from the one before is then as the worker has it.
  const carried = shape.flaw === "run not expanded" ? { ...opening(1, at.same, Level.items), clean: false } : at;
  return [carried, ...items].flatMap((list) => (list === at ? [at] : crossings(list, shape, maxWidth)));
}

/** An item's output leads on by expansion; as the only checkpoint, it is the item's trace. */
const fromItem = (at: ModelState, shape: Shape, maxWidth: number): ModelState[] => [
  at,
  ...crossings({ ...opening(1, at.same), clean: at.clean }, shape, maxWidth),
];

/** A leaf of the run leads into that item's trace, which holds what the run was expanded from. */
function fromRun({ same, index, output, ...at }: ModelState, shape: Shape, maxWidth: number): ModelState[] {
  // What an item takes from the one before is the honest one's only if that item's trace is bound to the run.
  const clean = at.clean && (shape.flaw !== "item before unproven" || index === 0);
  return leaves(maxWidth).flatMap((k) => {
    const trace = { ...opening(k + 1, same), clean };
    const held =
      output === undefined ? [trace] : leaves(k + 1).map((j) => ({ ...trace, bound: { index: j, same: output } }));
    // The only checkpoint is the whole trace.
    const possible = held.filter((list) => k > 0 || output === undefined || output === list.same);
    return possible.flatMap((list) => crossings(list, shape, maxWidth));
  });
}

/** What a step proof of the chunk here comes to: surely right, surely wrong, or as the worker has laid it out. */
export function proof(s: ModelState): "holds" | "fails" | "either" {
  if (!s.clean) return "either";
  return s.same ? "fails" : "holds";
}

/** Where a proof can be given: at the chunk, once it is there to be seen. */
export const isProvable = (s: ModelState): boolean =>
  s.level === Level.tensor && s.depth === 0 && s.turn === Side.challenger;
