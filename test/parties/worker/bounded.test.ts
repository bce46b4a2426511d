import { expect } from "chai";
import type { Hex } from "viem";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { Deliveries } from "../../../src/parties/worker/deliveries.ts";
import { FailedAudits, MAX_TRIES } from "../../../src/parties/worker/failedAudits.ts";

const idOf = (k: number): Hex => `0x${k.toString(16).padStart(64, "0")}`;
const jobOf = (k: number): JobRecord => ({ id: idOf(k), job: { programRoot: idOf(0) } }) as JobRecord;

describe("what a worker remembers of thousands of jobs", () => {
  it("isForgottenWithThem_butNotThatAProgramIsDistrusted", () => {
    const [audits, deliveries] = [new FailedAudits(), new Deliveries()];
    const known = new Map<Hex, unknown>();
    for (let k = 0; k < 10_000; k++) {
      known.set(idOf(k), {});
      known.delete(idOf(k - 10));
      for (let t = 0; t < MAX_TRIES; t++) audits.add(jobOf(k), idOf(t), { item: 0, step: 0, element: t });
      deliveries.failed(idOf(k), 0n, false);
      deliveries.giveUp(idOf(k));
      audits.forget(known);
      deliveries.forget(known);
    }
    const all = Array.from({ length: 10_000 }, (_, k) => k);
    expect(all.filter((k) => audits.isWithheld(jobOf(k)))).to.have.length(10);
    expect(all.filter((k) => audits.samplesOf(jobOf(k)).length > 0)).to.have.length(10);
    expect(all.filter((k) => deliveries.hasFailed(idOf(k)))).to.have.length(10);
    expect(all.filter((k) => deliveries.hasGivenUp(idOf(k)))).to.have.length(10);
    expect(audits.isDistrusted(idOf(0))).to.equal(true);
  });
});
