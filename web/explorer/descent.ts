import { Level, Move } from "../../src/chain/structs.ts";
import type { GameRecord } from "../../src/chain/market/history.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { grouped } from "../format.ts";

/** Leaves of a list: from one to before another. */
type Range = { from: number; to: number };

/** One stage of a dispute: a stretch of a list, and what of it is in dispute. */
export type DescentRow = {
  level: Level;
  /** What the leaves are: "items", "steps", ... */
  leaves: string;
  /** What the list belongs to: "of item 3". */
  within: string;
  range: Range;
  /** All leaves of the list. */
  width: number;
  /** Leaves of each node that the worker showed here; undefined before it did. */
  span: number | undefined;
  /** What the challenger disputes of it. */
  picked: Range | undefined;
  /** The number of the move that began the row. */
  move: number;
};

export const LEAVES: Record<Level, string> = {
  [Level.answer]: "outputs",
  [Level.items]: "items of the output",
  [Level.run]: "items",
  [Level.trace]: "checkpoints",
  [Level.interior]: "steps",
  [Level.tensor]: "chunks",
};

/** The leaves that a game's node covers. */
export const rangeOf = ({ index, depth, width }: Pick<GameState, "index" | "depth" | "width">): Range => ({
  from: Math.min(index * 2 ** depth, width),
  to: Math.min((index + 1) * 2 ** depth, width),
});

/**
 * A dispute from top to bottom: each row is the part of the row above that is in dispute, seen closer.
 * @param game It has a move at least.
 * @param elementBytes Of one number of the tensor that was proved wrong.
 */
export function descentOf(game: GameRecord, elementBytes = 4): DescentRow[] {
  const rows: DescentRow[] = [];
  game.moves.forEach(({ state, move, data }, k) => {
    const range = rangeOf(state);
    const row = rows.at(-1);
    if (row === undefined || row.level !== state.level || row.width !== state.width) {
      if (row !== undefined) enter(rows, state, k);
      rows.push(rowOf(state, { from: 0, to: state.width }, k));
    }
    narrow(rows, state, range, k);
    if (move !== Move.reveal || state.depth === 0) return;
    const nodes = Math.max(1, (data.length - 2) / 64);
    const revealed = rows.at(-1)!;
    const isWhole = revealed.picked !== undefined;
    const target = isWhole ? rowOf(state, revealed.picked!, k) : revealed;
    if (isWhole) rows.push(target);
    target.span = 2 ** state.depth / nodes;
  });
  const { proved } = game;
  const last = game.moves.at(-1)!.state;
  if (proved !== undefined && last.level === Level.tensor) rows.push(elementRow(game, rows.at(-1)!, elementBytes));
  return rows;
}

function rowOf(state: GameState, range: Range, move: number): DescentRow {
  const { level, width } = state;
  return {
    level,
    leaves: LEAVES[level],
    within: ownerOf(state),
    range,
    width,
    span: undefined,
    picked: undefined,
    move,
  };
}

/** Marks what is picked in the last row, or begins a closer one if something was picked there before. */
function narrow(rows: DescentRow[], state: GameState, picked: Range, move: number): void {
  const row = rows.at(-1)!;
  if (isSame(row.range, picked) && row.width > 1) return;
  if (row.picked === undefined) row.picked = picked;
  else if (!isSame(row.picked, picked)) rows.push({ ...rowOf(state, row.picked, move), picked });
}

/** Marks the leaf that a list belongs to in the row before, where one move picked it and entered its list. */
function enter(rows: DescentRow[], state: GameState, move: number): void {
  const row = rows.at(-1)!;
  const leaf = leafEntered(row.level, state);
  if (leaf === undefined) return;
  const picked = { from: leaf, to: leaf + 1 };
  if (row.picked === undefined) row.picked = picked;
  else if (!isSame(row.picked, picked)) rows.push({ ...row, range: row.picked, span: undefined, picked, move });
}

function leafEntered(level: Level, { item, step, first }: GameState): number | undefined {
  if (level === Level.run || level === Level.items) return item;
  return level === Level.interior ? step - first : undefined;
}

const isSame = (a: Range, b: Range): boolean => a.from === b.from && a.to === b.to;

function ownerOf({ level, item, first, last, step }: GameState): string {
  if (level === Level.trace) return item > 0 ? `of item ${grouped(item)}` : "";
  if (level === Level.interior) return first === last ? grouped(first) : `${grouped(first)} to ${grouped(last)}`;
  return level === Level.tensor ? `of step ${grouped(step)}` : "";
}

/** The numbers of the disputed chunk, of which the chain recomputed one. */
function elementRow({ proved, moves }: GameRecord, above: DescentRow, elementBytes: number): DescentRow {
  const each = CHUNK_BYTES / elementBytes;
  const element = Number(proved!.element);
  const chunk = Math.floor(element / each);
  const range = { from: chunk * each, to: (chunk + 1) * each };
  const within = `of chunk ${grouped(chunk)}`;
  const picked = { from: element, to: element + 1 };
  return { ...above, leaves: "numbers", within, range, width: range.to, span: 1, picked, move: moves.length };
}

/** A rectangle of a row, in parts of its width. `count` leaves are drawn as one where they are too many. */
type Cell = { from: number; to: number; count: number; isPicked: boolean };

/**
 * What of a row is drawn: its leaves or, where there are too many, groups of them. What is picked stands for itself.
 * @param max The number of cells beside the picked one, at most.
 */
export function cellsOf({ range, span, picked }: DescentRow, max = 64): Cell[] {
  const size = range.to - range.from;
  if (size <= 0) return [];
  const natural = span ?? 1;
  const each = Math.max(natural, Math.ceil(size / max / natural) * natural);
  const cells: Cell[] = [];
  const push = (from: number, to: number, isPicked: boolean): void => {
    if (to > from)
      cells.push({ from: (from - range.from) / size, to: (to - range.from) / size, count: to - from, isPicked });
  };
  for (let from = range.from; from < range.to; from += each) {
    const to = Math.min(from + each, range.to);
    const cutFrom = Math.min(to, Math.max(from, picked?.from ?? to));
    const cutTo = Math.max(cutFrom, Math.min(to, picked?.to ?? cutFrom));
    push(from, cutFrom, false);
    push(cutFrom, cutTo, true);
    push(cutTo, to, false);
  }
  return joined(cells);
}

/** Picked cells that were cut at the borders of groups are one. */
function joined(cells: readonly Cell[]): Cell[] {
  const whole: Cell[] = [];
  for (const cell of cells) {
    const last = whole.at(-1);
    if (last?.isPicked === true && cell.isPicked)
      whole[whole.length - 1] = { ...last, to: cell.to, count: last.count + cell.count };
    else whole.push(cell);
  }
  return whole;
}

/** A range in words. */
export const rangeText = ({ from, to }: Range): string =>
  to - from === 1 ? `number ${grouped(from)}` : `numbers ${grouped(from)} to ${grouped(to - 1)}`;
