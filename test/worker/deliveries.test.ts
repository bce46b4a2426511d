import { expect } from "chai";
import { Deliveries } from "../../src/worker/deliveries.ts";

const CLAIM = `0x${"11".repeat(32)}` as const;
const OTHER = `0x${"22".repeat(32)}` as const;
const WEEK = 7n * 86_400n;

describe("Deliveries", function () {
  it("outputThatFailed_isDueAfterGrowingPauses_ofSixHoursAtMost_andOthersAtOnce", function () {
    const deliveries = new Deliveries();
    let now = 1_000n;
    for (const pause of [60n, 120n, 240n]) {
      expect(deliveries.failed(CLAIM, 0, now, false)).to.equal("later");
      expect(deliveries.isDue(CLAIM, 0, now + pause - 1n)).to.equal(false);
      expect(deliveries.isDue(CLAIM, 0, now + pause)).to.equal(true);
      now += pause;
    }
    for (let k = 0; k < 10; k++) deliveries.failed(CLAIM, 0, now, false);
    expect(deliveries.isDue(CLAIM, 0, now + 21_599n)).to.equal(false);
    expect(deliveries.isDue(CLAIM, 0, now + 21_600n)).to.equal(true);
    expect(deliveries.isDue(CLAIM, 1, now)).to.equal(true);
    expect(deliveries.isDue(OTHER, 0, now)).to.equal(true);
  });

  it("outputThatStillFailsAWeekLater_isGivenUp_onceAndForGood", function () {
    const deliveries = new Deliveries();
    expect(deliveries.failed(CLAIM, 3, 0n, false)).to.equal("later");
    expect(deliveries.failed(CLAIM, 3, WEEK - 1n, false)).to.equal("later");
    expect(deliveries.hasGivenUp(CLAIM)).to.equal(false);
    expect(deliveries.failed(CLAIM, 3, WEEK, false)).to.equal("givenUp");
    expect(deliveries.isDue(CLAIM, 3, 100n * WEEK)).to.equal(false);
    expect([CLAIM, OTHER].map((id) => deliveries.hasGivenUp(id))).to.deep.equal([true, false]);
  });

  it("failureThatMayPass_isTriedAgainAtOnce_threeTimes_andThenAfterPauses", function () {
    const deliveries = new Deliveries();
    for (let k = 0; k < 3; k++) {
      expect(deliveries.failed(CLAIM, 0, 10n, true)).to.equal("again");
      expect(deliveries.isDue(CLAIM, 0, 10n)).to.equal(true);
    }
    expect(deliveries.failed(CLAIM, 0, 10n, true)).to.equal("later");
    expect([69n, 70n].map((now) => deliveries.isDue(CLAIM, 0, now))).to.deep.equal([false, true]);
  });

  it("claimsThatTheHistoryLacks_areForgotten", function () {
    const deliveries = new Deliveries();
    for (const id of [CLAIM, OTHER]) deliveries.failed(id, 0, 0n, false);
    deliveries.forget(new Map([[OTHER, {}]]));
    expect([CLAIM, OTHER].map((id) => deliveries.isDue(id, 0, 0n))).to.deep.equal([true, false]);
  });
});
