import { expect } from "chai";
import { Deliveries, isTooLate } from "../../../src/parties/worker/deliveries.ts";

const CLAIM = `0x${"11".repeat(32)}` as const;
const OTHER = `0x${"22".repeat(32)}` as const;

describe("Deliveries", function () {
  it("claimWithAFailure_isDueAfterGrowingPauses_ofSixHoursAtMost_andOthersAtOnce", function () {
    const deliveries = new Deliveries();
    let now = 1_000n;
    for (const pause of [60n, 120n, 240n]) {
      expect(deliveries.failed(CLAIM, now, false)).to.equal("later");
      expect(deliveries.isDue(CLAIM, now + pause - 1n)).to.equal(false);
      expect(deliveries.isDue(CLAIM, now + pause)).to.equal(true);
      now += pause;
    }
    for (let k = 0; k < 10; k++) deliveries.failed(CLAIM, now, false);
    expect(deliveries.isDue(CLAIM, now + 21_599n)).to.equal(false);
    expect(deliveries.isDue(CLAIM, now + 21_600n)).to.equal(true);
    expect(deliveries.isDue(OTHER, now)).to.equal(true);
    expect([CLAIM, OTHER].map((id) => deliveries.hasFailed(id))).to.deep.equal([true, false]);
  });

  it("claimThatIsGivenUp_isNeverDue", function () {
    const deliveries = new Deliveries();
    deliveries.giveUp(CLAIM);
    expect([CLAIM, OTHER].map((id) => deliveries.isDue(id, 10n ** 9n))).to.deep.equal([false, true]);
    expect([CLAIM, OTHER].map((id) => deliveries.hasGivenUp(id))).to.deep.equal([true, false]);
  });

  it("failureThatMayPass_isTriedAgainAtOnce_threeTimes_andThenAfterPauses", function () {
    const deliveries = new Deliveries();
    for (let k = 0; k < 3; k++) {
      expect(deliveries.failed(CLAIM, 10n, true)).to.equal("again");
      expect(deliveries.isDue(CLAIM, 10n)).to.equal(true);
      expect(deliveries.hasFailed(CLAIM)).to.equal(true);
    }
    expect(deliveries.failed(CLAIM, 10n, true)).to.equal("later");
    expect([69n, 70n].map((now) => deliveries.isDue(CLAIM, now))).to.deep.equal([false, true]);
  });

  it("claimsThatTheHistoryLacks_areForgotten", function () {
    const deliveries = new Deliveries();
    for (const id of [CLAIM, OTHER]) {
      deliveries.failed(id, 0n, false);
      deliveries.giveUp(id);
    }
    deliveries.forget(new Map([[OTHER, {}]]));
    expect([CLAIM, OTHER].map((id) => deliveries.isDue(id, 60n))).to.deep.equal([true, false]);
    expect([CLAIM, OTHER].map((id) => deliveries.hasFailed(id))).to.deep.equal([false, true]);
  });
});

describe("isTooLate", function () {
  it("deliveryLessThanAnHourBeforeTheFeeCanBeReclaimed_isTooLate", function () {
    const last = 1_000n + 7n * 86_400n - 3_600n;
    expect([last - 1n, last].map((now) => isTooLate(1_000n, now))).to.deep.equal([false, true]);
  });
});
