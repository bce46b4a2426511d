import { expect } from "chai";
import {
  emptyHistory,
  type ClaimRecord,
  type GameRecord,
  type History,
  type JobRecord,
} from "../../src/chain/market/history.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { Outcome, Side } from "../../src/chain/structs.ts";
import { schedule } from "../../watcher/scheduler.ts";

const ME = `0x${"11".repeat(20)}` as const;
const OTHER = `0x${"22".repeat(20)}` as const;
const id = (n: number) => `0x${n.toString(16).padStart(64, "0")}` as const;

function historyWith(claims: readonly Partial<ClaimRecord>[]): History {
  const history = emptyHistory();
  claims.forEach((claim, k) => {
    const defaults = { windowEnd: 100n, games: [], finalised: false, refuted: false };
    history.jobs.set(id(k), { id: id(k), job: { fee: BigInt(k) } } as unknown as JobRecord);
    history.claims.set(id(k), { id: id(k), jobId: id(k), ...defaults, ...claim } as unknown as ClaimRecord);
  });
  return history;
}

const game = (challenger: `0x${string}`, closed = false, outcome: Outcome = Outcome.settled): GameRecord => ({
  id: id(99),
  claimId: id(0),
  key: { jobId: id(0), worker: OTHER, root: id(0), collateral: 1n },
  challenger,
  moves: [],
  ...(closed ? { closed: { outcome, paid: 0n, transactionHash: id(0), blockNumber: 1n } } : {}),
});

const tasks = (claims: readonly Partial<ClaimRecord>[], now = 50n, seconds = 0) => {
  const { plays, audits, settles } = schedule(historyWith(claims), ME, now, () => seconds);
  return [...plays, ...audits, ...settles].map(({ kind, claim }) => [kind, Number(claim.id)]);
};

describe("schedule", function () {
  it("ownGamesComeFirst_thenTheWindowThatClosesFirst_thenBondsToTakeBack", function () {
    const claims = [
      { games: [game(ME)], refuted: true },
      { windowEnd: 90n },
      { windowEnd: 60n },
      { games: [game(ME)] },
    ];
    expect(tasks(claims)).to.deep.equal([
      ["play", 3],
      ["audit", 2],
      ["audit", 1],
      ["settle", 0],
    ]);
  });

  it("gameWhoseClockRunsOutFirst_comesFirst_thoseOfTheWorkersTurnLast", function () {
    const at = (turn: number, since: number, challengerSeconds: number): GameRecord => {
      const state = { turn, since, challengerSeconds } as GameState;
      return { ...game(ME), moves: [{ move: 0, state, data: "0x", transactionHash: id(0) }] };
    };
    const games = [at(Side.worker, 0, 1), at(Side.challenger, 100, 50), at(Side.challenger, 0, 120)];
    expect(tasks(games.map((one) => ({ games: [one] })))).to.deep.equal([
      ["play", 2],
      ["play", 1],
      ["play", 0],
    ]);
  });

  it("ofEqualWindows_theHigherFeeComesFirst_andWhatCannotBeExecutedInTimeLast", function () {
    expect(tasks([{}, {}])).to.deep.equal([
      ["audit", 1],
      ["audit", 0],
    ]);
    expect(tasks([{ windowEnd: 55n }, { windowEnd: 70n }, { windowEnd: 60n }], 50n, 10)).to.deep.equal([
      ["audit", 2],
      ["audit", 1],
      ["audit", 0],
    ]);
  });

  it("lostGames_areTold", function () {
    const history = historyWith([{ games: [game(ME, true, Outcome.workerWon), game(ME)] }]);
    expect(schedule(history, ME, 50n, () => 0).lost).to.have.length(1);
  });

  it("claimsThatAreOverOrPastTheirWindow_areNotAudited", function () {
    expect(tasks([{ finalised: true }, { refuted: true }, { windowEnd: 49n }])).to.deep.equal([]);
    expect(tasks([{ windowEnd: 50n }])).to.deep.equal([["audit", 0]]);
  });

  it("anothersGame_keepsNobodyFromAuditing_norDoesALostOne_aSettledOneDoes", function () {
    expect(tasks([{ games: [game(OTHER)] }])).to.deep.equal([["audit", 0]]);
    expect(tasks([{ games: [game(ME, true, Outcome.workerWon)] }])).to.deep.equal([["audit", 0]]);
    expect(tasks([{ games: [game(ME, true, Outcome.workerWon), game(ME)] }])).to.deep.equal([["play", 0]]);
    expect(tasks([{ games: [game(ME, true)] }])).to.deep.equal([]);
  });

  it("ownGame_isPlayedOnAfterTheWindow", function () {
    expect(tasks([{ games: [game(ME)], windowEnd: 10n }])).to.deep.equal([["play", 0]]);
  });
});
