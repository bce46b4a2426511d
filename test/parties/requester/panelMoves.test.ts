import { expect } from "chai";
import type { Hex } from "viem";
import { PanelOutcome } from "../../../src/chain/structs.ts";
import { JobTermsError } from "../../../src/parties/requester/errors.ts";
import { panelTimes } from "../../../src/parties/requester/panel.ts";
import { claimsAtOdds, isTooLateToAdd, nextMove } from "../../../src/parties/requester/panelMoves.ts";
import { stateOfPanel, type KnownPanel } from "../../../src/parties/requester/panelState.ts";

const ME = `0x${"11".repeat(20)}` as const;

describe("a seat that a poster may add", function () {
  const times = panelTimes(1_000n, 300, { hasAudit: true, sealSeconds: 420 });

  /** A panel of one seat, sealed or not. */
  const panel = (isSealed: boolean, added = false): KnownPanel => {
    const { deadline, openFrom, auditUntil } = times;
    const sealed = isSealed ? { worker: `0x${"22".repeat(20)}` } : undefined;
    const holder = isSealed ? undefined : { until: deadline + 300n };
    const seat = { job: { deadline, claimSeconds: 300 }, terms: { openFrom }, claims: [], sealed, holder };
    const record = { poster: ME, outcome: PanelOutcome.open, auditUntil, added, seats: 1 };
    return { record, seats: [seat] } as unknown as KnownPanel;
  };
  const move = (of: KnownPanel, now: bigint) => nextMove(of, now, { me: ME, addsSeat: true, baseClock: 3_600 })?.kind;

  it("isAddedBetweenTheDeadlineAndTheLastClaim_whichIs120SecondsLaterAtLeast", () => {
    expect(times).to.deep.equal({ deadline: 1_420n, auditUntil: 1_840, openFrom: 1_841 });
    expect([1_420n, 1_421n, 1_539n, 1_540n].map((now) => move(panel(true), now))).to.deep.equal([
      ...[undefined, "addSeat", "addSeat", undefined],
    ]);
    expect([1_539n, 1_540n].map((now) => isTooLateToAdd(panel(true), now))).to.deep.equal([false, true]);
    expect(isTooLateToAdd(panel(true, true), 1_540n)).to.equal(false);
    expect(() => panelTimes(1_000n, 300, { sealSeconds: 419 })).to.throw(JobTermsError, /sealSeconds 419.*least 420/);
    expect(panelTimes(1_000n, 60).deadline).to.equal(1_180n);
  });

  it("isNotAdded_ifNoOtherIsSealed", () => {
    expect(move(panel(false), 1_421n)).to.equal(undefined);
  });
});

describe("a panel whose seats are at odds", function () {
  const [lie, right] = [`0x${"aa".repeat(32)}`, `0x${"bb".repeat(32)}`] as const;
  const WINDOW_END = 5_000n;
  const AFTER = WINDOW_END + 121n;

  const claim = (root: Hex, more: object = {}) => ({
    claim: { root, worker: ME, collateral: 1n },
    windowEnd: WINDOW_END,
    games: [],
    refuted: false,
    finalised: false,
    ...more,
  });
  const panel = (...claims: ReturnType<typeof claim>[]): KnownPanel => {
    const job = { deadline: 1_000n, claimSeconds: 300 };
    const seats = claims.map((one) => ({ job, terms: { openFrom: 2_000 }, claims: [one], closed: one.refuted }));
    const record = { poster: ME, outcome: PanelOutcome.open, auditUntil: 1_900, added: true, seats: seats.length };
    return { record, seats } as unknown as KnownPanel;
  };
  const move = (of: KnownPanel, now: bigint, known?: Hex) =>
    nextMove(of, now, { me: ME, addsSeat: true, baseClock: 3_600, right: known });

  it("noneOfThemIsFinalised_withoutAnExecutionHere", () => {
    const seats = panel(claim(lie), claim(right));
    for (const now of [3_000n, WINDOW_END, AFTER, 10n * AFTER]) expect(move(seats, now)).to.equal(undefined);
    const resolved = panel(claim(lie, { finalised: true }), claim(right, { finalised: true }));
    expect(move(resolved, AFTER)).to.deep.equal({ kind: "resolve" });
  });

  it("onlyTheRightOneIsFinalised_afterAnExecutionHere", () => {
    expect(move(panel(claim(lie), claim(right)), AFTER, right)).to.deep.equal({ kind: "finalise", seat: 1 });
    expect(move(panel(claim(lie), claim(right, { finalised: true })), AFTER, right)).to.equal(undefined);
  });

  it("aSeatLikeOneThatWasRefuted_isNotFinalised", () => {
    const seats = panel(claim(lie, { refuted: true }), claim(lie));
    expect(move(seats, AFTER)).to.equal(undefined);
    expect(move(seats, AFTER, right)).to.equal(undefined);
    expect(claimsAtOdds(seats.seats)).to.have.length(2);
  });

  it("anAgreement_endsWhenASeatIsRefuted_alsoIfItIsStillOnRecord", () => {
    const agreed = (...claims: ReturnType<typeof claim>[]) => {
      const one = panel(...claims);
      Object.assign(one.record, { outcome: PanelOutcome.agreed, root: lie });
      return stateOfPanel(one);
    };
    expect(agreed(claim(lie), claim(lie))).to.include({ outcome: "agreed", root: lie });
    const ended = agreed(claim(lie), claim(lie, { refuted: true }));
    expect(ended.outcome).to.equal("open");
    expect(ended).not.to.have.property("root");
  });

  it("seatsThatAreAlike_areFinalised", () => {
    expect(claimsAtOdds(panel(claim(right), claim(right)).seats)).to.deep.equal([]);
    const one = panel(claim(right), claim(right, { finalised: true }));
    Object.assign(one.record, { outcome: PanelOutcome.agreed });
    expect(move(one, AFTER)).to.deep.equal({ kind: "finalise", seat: 0 });
  });
});
