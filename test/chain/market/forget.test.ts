import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import { isOver } from "../../../src/chain/market/forget.ts";
import type { ClaimRecord, GameRecord, JobRecord } from "../../../src/chain/market/history.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { JunkMarket } from "../../../testkit/nodes/junkMarket.ts";

const ME = `0x${"11".repeat(20)}` as const;
const OTHER = `0x${"22".repeat(20)}` as const;
const id = (n: number): Hex => numberToHex(n, { size: 32 });

describe("what is over is forgotten", function () {
  const forget = (job: JobRecord, now: bigint) => (isOver(job, now, ME, 10) ? "all" : "inputs");

  it("thousandsOfJunkJobs_leaveThoseOfTheLast320Blocks_whetherReadAtOnceOrBlockByBlock", async function () {
    const market = new JunkMarket();
    market.height = 5_000;
    const follow = followMarket(market.reader, forget);
    expect((await follow()).history.jobs.size).to.be.within(256, 320);
    for (; market.height < 6_000; market.height += 20) await follow();
    const { jobs, parts } = (await follow()).history;
    expect(jobs.size).to.be.within(256, 340);
    expect(parts.size).to.equal(jobs.size);
  });

  it("reorganisationBelowWhatWasForgotten_givesTheSameAsReadingAtOnce", async function () {
    const market = new JunkMarket();
    market.height = 1_000;
    const follow = followMarket(market.reader, forget);
    await follow();
    market.branch = 1;
    market.height = 1_001;
    const { history } = await follow();
    expect(history).to.deep.equal((await followMarket(market.reader, forget)()).history);
    expect(history.jobs.has(id(1_001))).to.equal(true);
  });

  const game = (challenger: Hex): GameRecord => ({ challenger }) as GameRecord;
  const over = (job: Partial<JobRecord>, claim?: Partial<ClaimRecord>): boolean => {
    const record = { job: { deadline: 100n }, closed: false, holder: undefined, claims: [], ...job };
    const claims = claim && [{ refuted: false, finalised: false, windowEnd: 60n, games: [], ...claim }];
    return isOver({ ...record, ...(claims && { claims }) } as unknown as JobRecord, 50n, ME, 10);
  };

  it("jobs_areOver_whenNothingCanComeOfThem", function () {
    expect(over({})).to.equal(false);
    expect(over({ job: { deadline: 49n } as never })).to.equal(true);
    // A seat that is added has its inputs from this one.
    expect(over({ job: { deadline: 30n } as never, terms: { openFrom: 40 } as never })).to.equal(false);
    expect(over({ job: { deadline: 30n } as never, terms: { openFrom: 39 } as never })).to.equal(true);
    expect(over({ job: { deadline: 49n } as never, holder: { worker: OTHER, until: 51n } })).to.equal(false);
    expect(over({ closed: true })).to.equal(true);
    expect(over({}, {})).to.equal(false);
    expect(over({}, { windowEnd: 49n })).to.equal(true);
    expect(over({}, { finalised: true })).to.equal(true);
    expect(over({}, { windowEnd: 49n, games: [game(OTHER)] })).to.equal(false);
    // Its job is open again; only one's own bond would be missed.
    expect(over({}, { refuted: true })).to.equal(false);
    expect(over({ closed: true }, { refuted: true, games: [game(OTHER)] })).to.equal(true);
    expect(over({ closed: true }, { refuted: true, games: [game(ME)] })).to.equal(false);
  });
});
