import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
import { Level, Side } from "../../../src/chain/structs.ts";

/**
 * The rules of the dispute game, reduced to the deciding facts. A node counts as `same` if equal to the honest node.
 * Any other hash may hide anything: the worker claiming the hash chooses the children when revealing them.
 */
export type ModelState = {
  level: number;
  turn: number;
  /** The number of leaves in the list. The next two fields give the game's position in the list. */
  width: number;
  depth: number;
  index: number;
  same: boolean;
  /**
   * True if a step proof from this position reads only honest nodes: nothing further left differs, in this list or in
   * the lists above.
   */
  clean: boolean;
  /**
   * A bound leaf below this position: bound to the node from which the game came. A flag says whether the leaf is
   * honest.
   */
  bound?: Bound | undefined;
  /** Only in a run, above the last item: whether the item's trace must hold the honest output. */
  output?: boolean | undefined;
  /** The children that were revealed: whether each is the honest one's. Empty if none are. */
  children: readonly boolean[];
};

type Bound = { index: number; same: boolean };

/** A rule missing from the model, to show that the game needs the rule. */
type Flaw =
  | "none"
  | "padding unchecked"
  | "always 2^k children"
  | "range not closed under reads"
  | "last leaf unbound"
  | "item before unproven"
  | "output unbound"
  | "run not expanded";

/** The part of the model fixed by a program and a deployment. */
export type Shape = { arityBits: number; flaw: Flaw };

type WorkerMove =
  | { kind: "reveal"; children: readonly boolean[] }
  | { kind: "chunk" }
  | { kind: "expand"; list: ModelState; children: readonly boolean[] };

/** A pick of a node `levels` below, with the path's facts about the node and about all nodes further left. */
export type ModelPick = { levels: number; index: number; same: boolean; clean: boolean };

/** The maximum width of the lists in the model. */
export const MAX_WIDTH = 8;

const isLeaf = ({ depth }: ModelState): boolean => depth === 0;

/** A game on a run of `width` items or, by default, on a trace of `width` checkpoints, before the first pick. */
export function opening(width: number, same: boolean, level: Level = Level.trace): ModelState {
  const depth = depthOf(width);
  return { level, turn: Side.worker, width, depth, index: 0, same, clean: true, children: [] };
}

/** Returns a game on output `index` of an answer with `width` outputs, before the game continues from the output. */
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

/** Returns every way in which a worker can show a node's children. */
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
      // An honest root requires an honest leaf at the bound position.
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
 * Returns the lists into which a worker may expand a leaf. An answer's output expands into the run. An item's output
 * expands into the item's trace, at any checkpoint. A trace's leaf expands into the leaf's range.
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
  // The last item's trace holds the output. A wrong output makes the trace wrong; with an honest output, the trace may
  // be anything.
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

/**
 * Returns the challenger's legal picks: a revealed node, or any node below a revealed node, with any hidden content.
 */
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
        // Below a node that differs from the honest node, everything left of the picked node may be anything.
        const isHidden = s.level !== Level.items && levels > hop && !s.children[child]!;
        const cleans = left && isHidden ? [true, false] : [left];
        for (const clean of cleans) found.push({ levels, index, same, clean });
      }
    }
  }
  return found;
}

/**
 * Returns the states to which a pick may lead. At a leaf in a run, a trace or an interior list, the game enters the
 * next list, with any width that a program may give.
 * @param maxWidth Checkpoints in the longest trace, chunks in the largest tensor.
 */
export function afterPick(
  s: ModelState,
  { levels, index, same, clean }: ModelPick,
  shape: Shape,
  maxWidth = MAX_WIDTH,
): ModelState[] {
  const depth = s.depth - levels;
  const at: ModelState = { ...s, turn: Side.worker, depth, index, same, clean, children: [] };
  // The state forgets facts about leaves outside the picked node.
  const bound = holdsBound(s, index, depth) ? s.bound : undefined;
  const output = index === Math.floor((s.width - 1) / 2 ** depth) ? s.output : undefined;
  return crossings({ ...at, bound, output }, shape, maxWidth);
}

/** Returns the picked node, or the lists into which the picked node leads. */
export function crossings(at: ModelState, shape: Shape, maxWidth = MAX_WIDTH): ModelState[] {
  if (!isLeaf(at) || at.level === Level.tensor) return [at];
  if (at.level === Level.answer) return fromOutput(at, shape, maxWidth);
  if (at.level === Level.items) return fromItem(at, shape, maxWidth);
  if (at.level === Level.run) return fromRun(at, shape, maxWidth);
  const clean = at.clean && (shape.flaw !== "range not closed under reads" || at.level === Level.trace);
  const tensors = leaves(maxWidth).map((k): ModelState => ({ ...opening(k + 1, at.same, Level.tensor), clean }));
  // A trace leaf with a one-step range leads to the step's tensor. Any other trace leaf leads to its range.
  return at.level === Level.trace ? [{ ...at, bound: undefined }, ...tensors] : tensors;
}

/**
 * Returns the lists after an output. A carried output continues by expansion alone. Any other output leads into the
 * list of items with the output, or into the last item.
 */
function fromOutput(at: ModelState, shape: Shape, maxWidth: number): ModelState[] {
  const items = leaves(maxWidth).map((k) => opening(k + 1, at.same, Level.items));
  // With this flaw, the worker decides the values that the last item takes from the item before.
  const carried = shape.flaw === "run not expanded" ? { ...opening(1, at.same, Level.items), clean: false } : at;
  return [carried, ...items].flatMap((list) => (list === at ? [at] : crossings(list, shape, maxWidth)));
}

/**
 * Returns the lists after an item's output. The output continues by expansion; a single checkpoint already forms the
 * item's trace.
 */
const fromItem = (at: ModelState, shape: Shape, maxWidth: number): ModelState[] => [
  at,
  ...crossings({ ...opening(1, at.same), clean: at.clean }, shape, maxWidth),
];

/**
 * Returns the traces entered from a leaf of the run. The item's trace holds the output from which the worker expanded
 * the run.
 */
function fromRun({ same, index, output, ...at }: ModelState, shape: Shape, maxWidth: number): ModelState[] {
  // The values that an item takes from the item before are surely honest only if the earlier item's trace is bound to
  // the run.
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

/** Returns the result of a step proof for the current chunk: surely right, surely wrong, or as the worker arranged. */
export function proof(s: ModelState): "holds" | "fails" | "either" {
  if (!s.clean) return "either";
  return s.same ? "fails" : "holds";
}

/** Returns true where a challenger can give a proof: at the chunk, once the worker has shown the chunk. */
export const isProvable = (s: ModelState): boolean =>
  s.level === Level.tensor && s.depth === 0 && s.turn === Side.challenger;
