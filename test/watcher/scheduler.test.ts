import { expect } from "chai";
import type { ClaimRecord, GameRecord, History, JobRecord } from "../../src/chain/history.ts";
import { Outcome } from "../../src/chain/types.ts";
import { schedule } from "../../watcher/scheduler.ts";

const ME = `0x${"11".repeat(20)}` as const;
const OTHER = `0x${"22".repeat(20)}` as const;
const id = (n: number) => `0x${n.toString(16).padStart(64, "0")}` as const;

function historyWith(claims: readonly Partial<ClaimRecord>[]): History {
  const history: History = { jobs: new Map(), claims: new Map(), games: new Map(), parts: new Map() };
  claims.forEach((claim, k) => {
    const defaults = { windowEnd: 100n, games: [], finalised: false, refuted: false };
    history.jobs.set(id(k), { id: id(k) } as unknown as JobRecord);
    history.claims.set(id(k), { id: id(k), jobId: id(k), ...defaults, ...claim } as unknown as ClaimRecord);
  });
  return history;
}

const game = (challenger: `0x${string}`, closed = false, outcome: number = Outcome.settled): GameRecord => ({
  id: id(99),
  claimId: id(0),
  key: { jobId: id(0), worker: OTHER, traceRoot: id(0) },
  challenger,
  moves: [],
  ...(closed ? { closed: { outcome, paid: 0n, transactionHash: id(0), blockNumber: 1n } } : {}),
});

const tasks = (claims: readonly Partial<ClaimRecord>[], now = 50n) =>
  schedule(historyWith(claims), ME, now).map(({ kind, claim }) => [kind, Number(claim.id)]);

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
