import { ZERO_HASH } from "../../src/chain/structs.ts";
import type { GameRecord, MoveRecord } from "../../src/chain/market/history.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { descentOf, type DescentRow } from "../explorer/descent.ts";
import type { LastSum } from "../explorer/lastSum.ts";
import { movesOf, type MoveView } from "../explorer/moves.ts";

/** What a move's state says of the place in dispute. */
const PLACE = ["level", "index", "depth", "width", "first", "last", "step", "item"] as const;
type Place = Pick<GameState, (typeof PLACE)[number]>;

/** A dispute that a chain had, as far as a picture of it needs. */
export type Recorded = {
  /** The model, and the operator of the step in which a number was changed. */
  model: string;
  operator: string;
  steps: number;
  moves: ({ move: MoveRecord["move"]; nodes: number } & Place)[];
  /** Of each transaction, the proof last. */
  gas: number[];
  step: number;
  element: number;
  sum: Omit<LastSum, "words">;
  /** What the worker lost. */
  slashed: string;
};

/** A stage of a recorded dispute: what is known after a transaction. */
type Frame = { rows: readonly DescentRow[]; view: MoveView; gas: number };

/** What a record keeps of a dispute's moves. */
export const movesKept = ({ moves }: Pick<GameRecord, "moves">): Recorded["moves"] =>
  moves.map(({ move, state, data }) => ({
    move,
    nodes: (data.length - 2) / 64,
    ...(Object.fromEntries(PLACE.map((name) => [name, state[name]])) as Place),
  }));

/** The stages of a recorded dispute, a transaction each. */
export function framesOf({ moves, gas, step, element, sum }: Recorded): Frame[] {
  const records = moves.map(({ move, nodes, ...place }): MoveRecord => {
    const state = { ...place, move, challenger: ZERO_HASH.slice(0, 42) } as unknown as GameState;
    return { move, state, data: `0x${"00".repeat(32 * nodes)}`, transactionHash: ZERO_HASH };
  });
  const proved = { step, element: BigInt(element), claimed: 0n, exact: 0n };
  const closed = { outcome: 1, paid: 0n, transactionHash: ZERO_HASH, blockNumber: 0n } as const;
  const whole = gameOf(records, { proved, closed });
  return movesOf(whole).map((view, k) => {
    const game = k < records.length ? gameOf(records.slice(0, k + 1)) : whole;
    return { rows: descentOf(game, sum.elementBytes), view, gas: gas[k]! };
  });
}

function gameOf(moves: MoveRecord[], more: Partial<GameRecord> = {}): GameRecord {
  const { challenger } = moves[0]!.state;
  const key = { jobId: ZERO_HASH, worker: challenger, root: ZERO_HASH, collateral: 0n };
  return { id: ZERO_HASH, claimId: ZERO_HASH, key, challenger, moves, ...more };
}
