import { Level, Side } from "../../../src/chain/structs.ts";
import {
  afterPick,
  afterWorker,
  crossings,
  isProvable,
  MAX_WIDTH,
  opening,
  outputOpening,
  picks,
  proof,
  workerMoves,
  type ModelPick,
  type ModelState,
  type Shape,
} from "./rules.ts";

/** The result of an exploration. */
type Explored = {
  /** States that some play reaches. */
  states: number;
  /**
   * The reachable states in which the side to move has no legal move. A worker that would have to show the children of
   * an invented hash does not count.
   */
  stuck: number;
  /**
   * The number of openings on wrong claims that the first-difference strategy can lose. The next field counts the
   * openings that every strategy can lose.
   */
  lostByTheWatcher: number;
  lostByAll: number;
  /**
   * The number of openings on right claims that a challenger can force, plus an honest worker's states in which a proof
   * may hold.
   */
  lostByTheHonestWorker: number;
  /** The maximum number of moves of a game. */
  longest: number;
};

const key = ({ level, turn, width, depth, index, same, clean, bound, output, children }: ModelState): string => {
  const place = `${level} ${turn} ${width} ${depth} ${index}`;
  return `${place} ${+same}${+clean} ${bound?.index}${bound?.same} ${output} ${children.join("")}`;
};

/**
 * Explores and solves every state of every game over lists with up to `maxWidth` items, checkpoints, steps and chunks.
 */
export function explore(shape: Shape, maxWidth = MAX_WIDTH): Explored {
  const solver = new Solver(shape, maxWidth);
  const totals: Explored = {
    states: 0,
    stuck: 0,
    lostByTheWatcher: 0,
    lostByAll: 0,
    lostByTheHonestWorker: 0,
    longest: 0,
  };
  for (const start of openings(maxWidth).flatMap((root) => crossings(root, shape, maxWidth))) {
    solver.reach(start);
    if (start.same) {
      if (solver.wins(start, false)) totals.lostByTheHonestWorker++;
      continue;
    }
    if (!solver.wins(start, true)) totals.lostByTheWatcher++;
    if (!solver.wins(start, false)) totals.lostByAll++;
  }
  totals.states = solver.seen.size;
  for (const s of solver.seen.values()) {
    if (solver.isStuck(s) && (s.turn === Side.challenger || s.same)) totals.stuck++;
    if (isProvable(s) && s.same && s.clean && proof(s) !== "fails") totals.lostByTheHonestWorker++;
    totals.longest = Math.max(totals.longest, solver.length(s));
  }
  return totals;
}

/**
 * Returns one-item claims with the trace's root as the claim's root, claims over many items, and answers' outputs, all
 * honest and wrong.
 */
const openings = (maxWidth: number): ModelState[] =>
  [true, false].flatMap((same) => [
    outputOpening(1, 0, same),
    ...Array.from({ length: maxWidth }, (_, k) => k + 1).flatMap((width) => [
      opening(width, same),
      ...(width === 1 ? [] : [opening(width, same, Level.run)]),
    ]),
  ]);

class Solver {
  readonly seen = new Map<string, ModelState>();
  readonly #won = [new Map<string, boolean>(), new Map<string, boolean>()] as const;
  readonly #lengths = new Map<string, number>();
  readonly #shape: Shape;
  readonly #maxWidth: number;

  constructor(shape: Shape, maxWidth: number) {
    this.#shape = shape;
    this.#maxWidth = maxWidth;
  }

  /** Takes in a state and all that can follow. */
  reach(start: ModelState): void {
    const open = [start];
    for (let s = open.pop(); s !== undefined; s = open.pop()) {
      const id = key(s);
      if (this.seen.has(id)) continue;
      this.seen.set(id, s);
      open.push(...this.#next(s));
    }
  }

  /** Whether the side to move can only concede. */
  isStuck(s: ModelState): boolean {
    if (s.turn === Side.worker) return workerMoves(s, this.#shape, this.#maxWidth).length === 0;
    return !isProvable(s) && picks(s, this.#shape).length === 0;
  }

  /**
   * Whether the challenger surely wins, whatever the worker does and the program is.
   * @param plain The challenger picks the first revealed node that differs, as the watcher does; else anything.
   */
  wins(s: ModelState, plain: boolean): boolean {
    const won = this.#won[plain ? 0 : 1];
    const id = key(s);
    const known = won.get(id);
    if (known !== undefined) return known;
    const result = this.#solve(s, plain);
    won.set(id, result);
    return result;
  }

  /** The maximum number of moves until the end. */
  length(s: ModelState): number {
    const id = key(s);
    const known = this.#lengths.get(id);
    if (known !== undefined) return known;
    const longest = 1 + Math.max(0, ...this.#next(s).map((next) => this.length(next)));
    this.#lengths.set(id, longest);
    return longest;
  }

  #solve(s: ModelState, plain: boolean): boolean {
    if (s.turn === Side.worker) {
      // Without a move its clock runs out.
      return workerMoves(s, this.#shape, this.#maxWidth).every((move) => this.wins(afterWorker(s, move), plain));
    }
    if (isProvable(s)) return proof(s) === "holds";
    const all = picks(s, this.#shape);
    // A pick below the revealed nodes may find any node. It wins if it wins with every one.
    const tried = plain ? [firstDifference(s, all)] : distinct(all);
    return tried.some((chosen) => {
      if (chosen === undefined) return false;
      const shown = all.filter(({ levels, index }) => levels === chosen.levels && index === chosen.index);
      return shown.every((pick) =>
        afterPick(s, pick, this.#shape, this.#maxWidth).every((next) => this.wins(next, plain)),
      );
    });
  }

  #next(s: ModelState): ModelState[] {
    if (s.turn === Side.worker) return workerMoves(s, this.#shape, this.#maxWidth).map((move) => afterWorker(s, move));
    if (isProvable(s)) return [];
    return picks(s, this.#shape).flatMap((pick) => afterPick(s, pick, this.#shape, this.#maxWidth));
  }
}

/** Returns the watcher's pick: the first revealed node that differs from the watcher's own node. */
function firstDifference(s: ModelState, all: readonly ModelPick[]): ModelPick | undefined {
  const hop = Math.log2(s.children.length);
  const k = s.children.findIndex((same) => !same);
  if (k === -1) return undefined;
  return all.find(({ levels, index }) => levels === hop && index === s.index * 2 ** hop + k);
}

const distinct = (all: readonly ModelPick[]): ModelPick[] =>
  all.filter((pick, k) => all.findIndex(({ levels, index }) => levels === pick.levels && index === pick.index) === k);
