import { expect } from "chai";
import { PanelOutcome } from "../../../src/chain/structs.ts";
import { JobTermsError } from "../../../src/parties/requester/errors.ts";
import { panelTimes } from "../../../src/parties/requester/panel.ts";
import { isTooLateToAdd, nextMove } from "../../../src/parties/requester/panelMoves.ts";
import type { KnownPanel } from "../../../src/parties/requester/panelState.ts";

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
