import { expect } from "chai";
import { isOpen, type JobRecord } from "../../../src/chain/market/history.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { ONE_ITEM } from "../../../src/program/run.ts";
import {
  hasRoom,
  MAX_CALLBACK_GAS,
  MAX_OPEN_CLAIMS,
  refusalOf,
  type JobRefusal,
} from "../../../src/parties/worker/jobPolicy.ts";

/** A header of a program without inputs. */
const HEADER = `0x0002${"00".repeat(28)}`;
const policy = { minFee: 5n, marginSeconds: 60 };

/** What the gas of the job costs. */
const COST = 7n;

/** Why a job is not taken that a worker takes, but for the changes; without input it needs none. */
function refusal(
  changes: Partial<JobRecord["job"]>,
  open = true,
  policyChanges: { maxCallbackGas?: number } = {},
): JobRefusal | undefined {
  const job = {
    fee: 12n,
    claimSeconds: 160,
    deadline: 1_161n,
    work: 100n,
    callbackGas: 0,
    inputsRoot: ZERO_HASH,
    ...ONE_ITEM,
    ...changes,
  };
  const record = { job, open, program: { header: HEADER }, inputRoots: [], parts: new Map() } as unknown as JobRecord;
  return refusalOf(record, COST, { ...policy, ...policyChanges }, 1n, 1_000n);
}

describe("refusalOf", () => {
  it("job_onTheTerms_isTaken_andOneBelowAnyOfThem_isNot", () => {
    expect(refusal({})).to.equal(undefined);
    expect(refusal({}, false)).to.equal("terms");
    expect(refusal({ claimSeconds: 159 })).to.equal("terms");
    expect(refusal({ deadline: 1_160n })).to.equal("terms");
    expect(refusal({ inputsRoot: `0x${"01".repeat(32)}` })).to.equal("input");
  });

  it("fee_belowTheCostAndTheLeastProfitTogether_isRefused", () => {
    expect(refusal({ fee: 11n })).to.equal("fee");
    expect(refusal({ fee: 0n })).to.equal("fee");
  });

  it("callback_thatBurnsTheWorkersGas_isNotServed", () => {
    expect(refusal({ callbackGas: MAX_CALLBACK_GAS })).to.equal(undefined);
    expect(refusal({ callbackGas: MAX_CALLBACK_GAS + 1 })).to.equal("terms");
    expect(refusal({ callbackGas: 2_000_000 }, true, { maxCallbackGas: 2_000_000 })).to.equal(undefined);
  });
});

describe("hasRoom", () => {
  it("oneMoreClaim_isOpened_belowThePolicysNumber_only", () => {
    expect(hasRoom(policy, MAX_OPEN_CLAIMS - 1)).to.equal(true);
    expect(hasRoom(policy, MAX_OPEN_CLAIMS)).to.equal(false);
    expect(hasRoom({ ...policy, maxOpenClaims: 2 }, 1)).to.equal(true);
    expect(hasRoom({ ...policy, maxOpenClaims: 2 }, 2)).to.equal(false);
  });

  it("claimThatIsFinalRefutedOrAccepted_isNotOpen", () => {
    expect(isOpen({ finalised: false, refuted: false, accepted: false })).to.equal(true);
    expect(isOpen({ finalised: true, refuted: false, accepted: false })).to.equal(false);
    expect(isOpen({ finalised: false, refuted: true, accepted: false })).to.equal(false);
    expect(isOpen({ finalised: false, refuted: false, accepted: true })).to.equal(false);
    const proven = { keyHash: ZERO_HASH, outputs: [] };
    expect(isOpen({ finalised: false, refuted: false, accepted: false, proven })).to.equal(false);
  });
});
