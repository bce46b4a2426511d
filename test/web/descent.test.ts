import { expect } from "chai";
import { Level, Move, Side } from "../../src/chain/structs.ts";
import type { GameRecord, MoveRecord } from "../../src/chain/market/history.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { cellsOf, descentOf, rangeOf, type DescentRow } from "../../web/explorer/descent.ts";
import { clocksOf, movesOf } from "../../web/explorer/moves.ts";

const HASH = `0x${"00".repeat(32)}` as const;
const BASE: GameState = {
  ...{ claimId: HASH, programRoot: HASH, node: HASH, runRoot: HASH, traceRoot: HASH, interiorRoot: HASH },
  ...{ index: 0, width: 1, depth: 0, level: Level.run, turn: Side.worker, first: 0, last: 0, step: 0, tailBytes: 0 },
  ...{ number: 0, item: 0, checkpoints: 1, move: Move.open, challenger: `0x${"11".repeat(20)}`, bond: 10n, spent: 0n },
  ...{ workerSeconds: 100, challengerSeconds: 200, since: 1_000 },
};

const move = (kind: Move, changes: Partial<GameState>, nodes = 0): MoveRecord => ({
  move: kind,
  state: { ...BASE, ...changes, move: kind },
  data: `0x${"00".repeat(32 * nodes)}`,
  transactionHash: HASH,
});

const game = (moves: MoveRecord[], more: Partial<GameRecord> = {}): GameRecord => ({
  ...{ id: HASH, claimId: HASH, challenger: BASE.challenger, moves },
  key: { jobId: HASH, worker: BASE.challenger, root: HASH, collateral: 1n },
  ...more,
});

/** A dispute about a run of 10,000 items: to item 5,000, its only checkpoint, step 3 of 6, the second of 3 chunks. */
const MOVES = [
  move(Move.open, { level: Level.run, width: 10_000, depth: 10, index: 4 }),
  move(Move.reveal, { level: Level.run, width: 10_000, depth: 10, index: 4 }, 16),
  move(Move.pick, { level: Level.run, width: 10_000, depth: 3, index: 625 }),
  move(Move.reveal, { level: Level.run, width: 10_000, depth: 3, index: 625 }, 8),
  move(Move.pick, { level: Level.trace, width: 1, item: 5_000 }),
  move(Move.expand, { level: Level.interior, width: 6, depth: 3, last: 5, item: 5_000 }, 8),
  move(Move.pick, { level: Level.tensor, width: 3, depth: 2, step: 3, last: 5, item: 5_000 }),
  move(Move.reveal, { level: Level.tensor, width: 3, depth: 2, step: 3, item: 5_000 }, 4),
  move(Move.pick, { level: Level.tensor, width: 3, index: 1, step: 3, item: 5_000 }),
  move(Move.reveal, { level: Level.tensor, width: 3, index: 1, step: 3, item: 5_000 }, 16),
];
const PROVED = { step: 3, element: 200n, claimed: 1n, exact: 2n };

describe("web: the descent of a dispute", () => {
  it("everyRow_isWhatIsDisputedOfTheRowAbove", () => {
    const rows = descentOf(game(MOVES, { proved: PROVED }));
    const picked = rows.map(({ leaves, picked }) => [leaves, picked?.from, picked?.to]);
    expect(picked).to.deep.equal([
      ["items", 4_096, 5_120],
      ["items", 5_000, 5_008],
      ["items", 5_000, 5_001],
      ["checkpoints", 0, 1],
      ["steps", 3, 4],
      ["chunks", 1, 2],
      ["numbers", 200, 201],
    ]);
    rows.slice(1).forEach((row, k) => {
      if (row.leaves === rows[k]!.leaves) expect(row.range).to.deep.equal(rows[k]!.picked);
    });
  });

  it("everyPrefixOfADispute_canBeDrawn", () => {
    for (let length = 1; length <= MOVES.length; length++) {
      const rows = descentOf(game(MOVES.slice(0, length)));
      expect(rows.length).to.be.greaterThan(0);
      for (const row of rows) expect(cellsOf(row).length).to.be.greaterThan(0);
    }
  });

  it("numbers_areAsManyAsTheirTypeHasInAChunk", () => {
    expect(descentOf(game(MOVES, { proved: PROVED }), 8).at(-1)!.range).to.deep.equal({ from: 192, to: 256 });
  });

  it("cells_coverARow_andAreFewHoweverLongItIs", () => {
    const row: DescentRow = {
      ...{ level: Level.run, leaves: "items", within: "", width: 65_536, span: undefined, move: 0 },
      range: { from: 0, to: 65_536 },
      picked: { from: 40_000, to: 40_001 },
    };
    const cells = cellsOf(row);
    expect(cells.length).to.be.at.most(66);
    expect(cells.reduce((sum, { count }) => sum + count, 0)).to.equal(65_536);
    cells.slice(1).forEach(({ from }, k) => expect(from).to.be.closeTo(cells[k]!.to, 1e-12));
    expect(cells.filter(({ isPicked }) => isPicked).map(({ count }) => count)).to.deep.equal([1]);
  });

  it("whatIsPickedAcrossGroups_isOneCell", () => {
    const row: DescentRow = {
      ...{ level: Level.run, leaves: "items", within: "", width: 100, span: 1, move: 0 },
      range: { from: 0, to: 100 },
      picked: { from: 10, to: 30 },
    };
    expect(cellsOf(row).filter(({ isPicked }) => isPicked)).to.deep.equal([
      { from: 0.1, to: 0.3, count: 20, isPicked: true },
    ]);
  });

  it("lastNodeOfAList_endsWithIt", () => {
    expect(rangeOf({ index: 9, depth: 10, width: 10_000 })).to.deep.equal({ from: 9_216, to: 10_000 });
  });
});

describe("web: moves and clocks", () => {
  it("everyMove_isToldInWords", () => {
    const closed = { outcome: 1 as const, paid: 1n, transactionHash: HASH, blockNumber: 1n };
    const views = movesOf(game(MOVES, { proved: PROVED, closed }));
    expect(views.map(({ text }) => text)).to.deep.equal([
      "disputes items, numbers 4,096 to 5,119 of 10,000",
      "shows 16 nodes of the items",
      "disputes items, numbers 5,000 to 5,007 of 10,000",
      "shows 8 nodes of the items",
      "disputes checkpoints, number 0 of 1",
      "commits to the tensors of steps 0 to 5",
      "disputes the tensor of step 3, 3 chunks",
      "shows 4 nodes of the chunks",
      "disputes chunks, number 1 of 3",
      "shows the chunk itself, 512 bytes",
      "the chain recomputes number 200 of step 3",
    ]);
  });

  it("theClockOfWhoIsToMove_runs", () => {
    expect(clocksOf(game(MOVES), 1_030n)).to.deep.equal({ worker: 70, challenger: 200, turn: Side.worker });
    const closed = { outcome: 0 as const, paid: 1n, transactionHash: HASH, blockNumber: 1n };
    expect(clocksOf(game(MOVES, { closed }), 9_999n)).to.deep.equal({ worker: 100, challenger: 200 });
  });
});
