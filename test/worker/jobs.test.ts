import { expect } from "chai";
import type { JobRecord } from "../../src/market/history.ts";
import { ZERO_HASH } from "../../src/chain/structs.ts";
import { hasRoom, isOpen, isSuitable, MAX_CALLBACK_GAS, MAX_OPEN_CLAIMS } from "../../src/worker/jobs.ts";

const policy = { minFee: 5n, marginSeconds: 60 };

/** A job that a worker takes, but for the changes; without input it needs none. */
function suits(
  changes: Partial<JobRecord["job"]>,
  open = true,
  policyChanges: { maxCallbackGas?: number } = {},
): boolean {
  const job = {
    fee: 5n,
    claimSeconds: 160,
    deadline: 1_161n,
    work: 100n,
    callbackGas: 0,
    inputsRoot: ZERO_HASH,
    ...changes,
  };
  const record = { job, open, inputRoots: [], parts: new Map() } as unknown as JobRecord;
  return isSuitable(record, { knows: () => true }, { ...policy, ...policyChanges }, 1n, 1_000n);
}

describe("isSuitable", () => {
  it("job_onTheTerms_isTaken_andOneBelowAnyOfThem_isNot", () => {
    expect(suits({})).to.equal(true);
    expect(suits({}, false)).to.equal(false);
    expect(suits({ fee: 4n })).to.equal(false);
    expect(suits({ claimSeconds: 159 })).to.equal(false);
    expect(suits({ deadline: 1_160n })).to.equal(false);
    expect(suits({ inputsRoot: `0x${"01".repeat(32)}` })).to.equal(false);
  });

  it("callback_thatBurnsTheWorkersGas_isNotServed", () => {
    expect(suits({ callbackGas: MAX_CALLBACK_GAS })).to.equal(true);
    expect(suits({ callbackGas: MAX_CALLBACK_GAS + 1 })).to.equal(false);
    expect(suits({ callbackGas: 2_000_000 }, true, { maxCallbackGas: 2_000_000 })).to.equal(true);
  });
});

describe("hasRoom", () => {
  it("oneMoreClaim_isOpened_belowThePolicysNumber_only", () => {
    expect(hasRoom(policy, MAX_OPEN_CLAIMS - 1)).to.equal(true);
    expect(hasRoom(policy, MAX_OPEN_CLAIMS)).to.equal(false);
    expect(hasRoom({ ...policy, maxOpenClaims: 2 }, 1)).to.equal(true);
    expect(hasRoom({ ...policy, maxOpenClaims: 2 }, 2)).to.equal(false);
  });

  it("claimThatIsFinalOrRefuted_isNotOpen", () => {
    expect(isOpen({ finalised: false, refuted: false })).to.equal(true);
    expect(isOpen({ finalised: true, refuted: false })).to.equal(false);
    expect(isOpen({ finalised: false, refuted: true })).to.equal(false);
  });
});
