import { expect } from "chai";
import { nativeRefusal } from "../../../src/parties/worker/nativePolicy.ts";

const LISTED = "0xAbCdEf0000000000000000000000000000000001";
const TERMS = { rate: 100n, baseClock: 3_600, collateral: 10n };
const POLICY = { requesters: [LISTED], exposure: 30n } as const;
/** A job that takes so many seconds at worst. */
const job = (seconds: number, requester: `0x${string}` = LISTED) => ({
  job: { requester, work: BigInt(seconds) * 100n },
});

describe("which jobs a worker answers natively", () => {
  it("refusal_listedWithinExposureAndTime_isNone", () => {
    expect(nativeRefusal(job(10), [], POLICY, TERMS)).to.equal(undefined);
    expect(nativeRefusal(job(10, LISTED.toLowerCase() as never), [], POLICY, TERMS)).to.equal(undefined);
  });

  it("refusal_anotherRequester_namesIt", () => {
    const other = "0x0000000000000000000000000000000000000002";
    expect(nativeRefusal(job(10, other), [], POLICY, TERMS)).to.include(other);
  });

  it("refusal_collateralBeyondTheExposure_isRefused", () => {
    expect(nativeRefusal(job(1), [job(1), job(1)], POLICY, TERMS)).to.equal(undefined);
    expect(nativeRefusal(job(1), [job(1), job(1), job(1)], POLICY, TERMS)).to.include("exposure");
    expect(nativeRefusal(job(1), [], { ...POLICY, exposure: 9n }, TERMS)).to.include("exposure");
  });

  it("refusal_worstExecutionsBeyondHalfAClock_isRefused", () => {
    // The clock of the shortest one: 3,600 + 2 * 10 s.
    expect(nativeRefusal(job(10), [job(1_800)], POLICY, TERMS)).to.equal(undefined);
    expect(nativeRefusal(job(10), [job(1_801)], POLICY, TERMS)).to.include("half a clock");
    // One alone always fits: twice its time is added to its clock.
    expect(nativeRefusal(job(1_000_000), [], POLICY, TERMS)).to.equal(undefined);
  });
});
