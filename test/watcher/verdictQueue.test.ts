import { expect } from "chai";
import { pino } from "pino";
import type { Hex } from "viem";
import { ExecutionInputError } from "../../src/executor/errors.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { Health } from "../../src/base/health.ts";
import { rejection } from "../../testkit/rejection.ts";
import { Judging } from "../../watcher/verdictQueue.ts";

const [A, B] = [`0x${"a".repeat(64)}`, `0x${"b".repeat(64)}`] as [Hex, Hex];

describe("whether a watcher judges", () => {
  let health: Health;
  let failed: number;
  let judging: Judging;
  beforeEach(() => {
    health = new Health(pino({ level: "silent" }));
    failed = 0;
    judging = new Judging(health, { ...NO_METER, auditFailed: () => void failed++ });
  });
  const fails = (claim: Hex, error: Error) => rejection(judging.take(claim, () => Promise.reject(error)));
  const ends = (claim: Hex) => judging.take(claim, () => Promise.resolve("agrees"));
  const reasons = () => health.reasons.map(({ reason }) => reason);

  it("anotherClaimThatIsJudged_doesNotHideOneThatCannotBe", async () => {
    await fails(A, new Error("out of memory"));
    await ends(B);
    expect(reasons()).to.deep.equal([`the audit of claim ${A} failed: out of memory`]);
    await ends(A);
    expect(reasons()).to.deep.equal([]);
    expect(failed).to.equal(1);
  });

  it("claimThatIsGone_leavesTheLastAudit", async () => {
    await fails(A, new Error("out of memory"));
    judging.keep(new Set(), []);
    // Nothing has been judged since.
    expect(reasons()).to.have.length(1);
    await ends(B);
    expect(reasons()).to.deep.equal([]);
  });

  it("inputsThatDoNotFit_areTheJobsFault", async () => {
    await fails(A, new ExecutionInputError("one input too many"));
    expect([reasons(), failed]).to.deep.equal([[], 0]);
  });
});
