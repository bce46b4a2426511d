import { expect } from "chai";
import type { Hex } from "viem";
import { emptyHistory } from "../../../src/chain/market/history.ts";
import { MAX_REPORTED, Reports } from "../../../src/parties/role/reports.ts";

const idOf = (k: number): Hex => `0x${k.toString(16).padStart(64, "0")}`;

describe("reports that a role remembers", () => {
  it("ofThousandsOfJobs_areBounded_andThoseOfTheRoleRemain", () => {
    const reports = new Reports();
    const history = emptyHistory();
    expect(reports.isNew("full", "")).to.equal(true);
    for (let k = 0; k < 5 * MAX_REPORTED; k++) {
      // The history has the latest hundred jobs.
      history.jobs.set(idOf(k), {} as never);
      if (k >= 100) history.jobs.delete(idOf(k - 100));
      reports.isNew("job", idOf(k));
      reports.forget(history);
      expect(reports.size).to.be.at.most(MAX_REPORTED + 1);
    }
    expect(reports.isNew("full", "")).to.equal(false);
    expect(reports.isNew("job", idOf(5 * MAX_REPORTED - 1))).to.equal(false);
    expect(reports.isNew("job", idOf(0))).to.equal(true);
  });

  it("ofMoreJobsThanAreRemembered_theOldestAreForgotten", () => {
    const reports = new Reports();
    const history = emptyHistory();
    for (let k = 0; k < 2 * MAX_REPORTED; k++) {
      history.claims.set(idOf(k), {} as never);
      reports.isNew("claim", idOf(k));
    }
    reports.forget(history);
    expect(reports.size).to.equal(MAX_REPORTED);
    expect(reports.isNew("claim", idOf(0))).to.equal(true);
  });
});
