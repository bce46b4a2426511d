import { expect } from "chai";
import { getAddress, numberToHex, type Address } from "viem";
import { emptyHistory, type ClaimRecord, type GameRecord } from "../../src/chain/market/history.ts";
import { Outcome, Side } from "../../src/chain/structs.ts";
import { clocksOf, playFigures } from "../../src/runs/figures.ts";

const addressOf = (number: number): Address => getAddress(numberToHex(number, { size: 20 }));
const [ME, WORKER, OTHER] = [1, 2, 3].map(addressOf) as [Address, Address, Address];
const NOW = 1_000_000n;

/** A game in which one side's time ends so many seconds after now. */
function gameOf(challenger: Address, turn: Side, left: number, isClosed = false): GameRecord {
  const since = Number(NOW) - 100;
  const state = { challenger, turn, since, workerSeconds: left + 100, challengerSeconds: left + 100 };
  const closed = { outcome: Outcome.workerWon, paid: 0n, transactionHash: "0x", blockNumber: 1n };
  return { challenger, moves: [{ state }], ...(isClosed && { closed }) } as never;
}

function historyOf(...claims: readonly [worker: Address, refuted: boolean, games: readonly GameRecord[]][]) {
  const history = emptyHistory();
  for (const [k, [worker, refuted, games]] of claims.entries())
    history.claims.set(numberToHex(k), {
      claim: { worker },
      refuted,
      finalised: false,
      games,
    } as unknown as ClaimRecord);
  return history;
}

describe("the clocks of an account", function () {
  it("areThoseOfItsOwnMoves_inGamesThatAreOpen_ofClaimsThatAreNotRefuted", function () {
    const history = historyOf(
      [
        WORKER,
        false,
        [gameOf(ME, Side.challenger, 70), gameOf(ME, Side.worker, 10), gameOf(OTHER, Side.challenger, 5)],
      ],
      [WORKER, true, [gameOf(ME, Side.challenger, -5_000)]],
      [ME, false, [gameOf(OTHER, Side.worker, 40), gameOf(OTHER, Side.worker, 3, true), gameOf(ME, Side.worker, -20)]],
      [ME, true, [gameOf(OTHER, Side.worker, -9_000)]],
    );
    expect(clocksOf(history, ME, NOW).sort((a, b) => a - b)).to.deep.equal([-20, 40, 70]);
    expect(playFigures(history, ME, NOW)).to.deep.equal({ openClaims: 1, openGames: 6, minClock: -20 });
  });

  it("openClaims_areThoseThatNothingEnded", function () {
    const history = historyOf(...[0, 1, 2, 3].map(() => [ME, false, []] as [Address, boolean, GameRecord[]]));
    const ends = [{}, { finalised: true }, { accepted: true }, { proven: { keyHash: "0x", outputs: [] } }] as const;
    [...history.claims.values()].forEach((claim, k) => Object.assign(claim, ends[k]));
    expect(playFigures(history, ME, NOW).openClaims).to.equal(1);
  });

  it("ofAGameThatARefutedClaimLeavesOpen_isNone", function () {
    const history = historyOf([WORKER, true, [gameOf(ME, Side.challenger, -5_000)]]);
    expect(playFigures(history, ME, NOW).minClock).to.equal(Infinity);
  });
});
