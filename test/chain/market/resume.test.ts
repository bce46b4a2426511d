import { expect } from "chai";
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { numberToHex, zeroAddress } from "viem";
import { isOver, type Forget } from "../../../src/chain/market/forget.ts";
import type { Reader } from "../../../src/chain/market/reader.ts";
import { resumeFrom } from "../../../src/chain/market/resume.ts";
import { followMarket, type Snapshot } from "../../../src/chain/market/session.ts";
import { JunkMarket } from "../../../testkit/nodes/junkMarket.ts";

const forget: Forget = (job, now) => (isOver(job, now, zeroAddress, 3_600) ? "all" : "inputs");

describe("resuming from the events on disk", function () {
  let folder: string;
  let market: JunkMarket;
  let warnings: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    [market, warnings] = [new JunkMarket(), []];
    market.height = 3_000;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const start = (owner = "watcher", programs: string[] = []): (() => Promise<Snapshot>) =>
    followMarket(
      market.reader,
      forget,
      resumeFrom({ folder, owner: [owner], content: programs, warn: (reason) => warnings.push(reason) }),
    );
  const file = (): string => join(folder, readdirSync(folder)[0]!);
  const blocksReadBy = async (follow: () => Promise<Snapshot>): Promise<number> => {
    market.blocksRead = 0;
    await follow();
    return market.blocksRead;
  };

  it("restart_readsTheOverlapAndWhatIsNew_andKnowsTheSame", async function () {
    expect(await blocksReadBy(start())).to.be.at.least(3_000);
    market.height += 10;
    expect(await blocksReadBy(start())).to.equal(64 + 10 + 10);
    expect(await start()()).to.deep.equal(await followMarket(market.reader, forget)());
    expect(warnings).to.deep.equal([]);
  });

  it("stateOnDisk_isAtMostFiveMinutesOld", async function () {
    const first = start();
    await first();
    // A block takes 12 seconds.
    for (const end = market.height + 500; market.height < end; market.height++) await first();
    expect(await blocksReadBy(start())).to.be.at.most(64 + 2 * 26);
  });

  it("othersAndOtherPrograms_readTheChainThemselves", async function () {
    await start()();
    for (const follow of [start("worker"), start("watcher", ["another program"])])
      expect(await blocksReadBy(follow)).to.be.at.least(3_000);
    expect(warnings).to.deep.equal([]);
  });

  it("whatIsForgotten_leavesTheDisk", async function () {
    const follow = start();
    await follow();
    const { size } = statSync(file());
    // Less than the events of 600 of the 3,000 blocks.
    expect(size).to.be.below(600 * 10_000);
    for (let k = 0; k < 100; k++) {
      market.height += 50;
      await follow();
    }
    expect(statSync(file()).size).to.be.below(1.5 * size);
    expect(readdirSync(folder)).to.have.length(1);
  });

  it("reorganisationMeanwhile_belowWhatWasForgotten_givesTheSameAsReadingAtOnce", async function () {
    await start()();
    [market.branch, market.height] = [1, market.height + 1];
    const { history } = await start()();
    expect(history).to.deep.equal((await followMarket(market.reader, forget)()).history);
  });

  it("anotherChainThatIsShorter_isReadFromItsStart", async function () {
    await start()();
    [market.branch, market.height] = [1, 200];
    const { history, blockNumber } = await start()();
    expect(blockNumber).to.equal(200n);
    expect(history).to.deep.equal((await followMarket(market.reader, forget)()).history);
  });

  it("restartThatGoesBackForAJob_continuesFromTheEventsOnDisk_atOnce", async function () {
    const { publicClient, deployment } = market.reader;
    // A claim in block 2,950 on the job of block 2,000.
    const getLogs = async (range: { fromBlock: bigint; toBlock: bigint }): Promise<object[]> => {
      const logs = (await publicClient.getLogs(range)) as unknown as { eventName: string; blockNumber: bigint }[];
      const words = { jobId: numberToHex(2_000, { size: 32 }), claimId: numberToHex(1, { size: 32 }), nodes: "0x" };
      const args = { ...words, worker: zeroAddress, root: words.claimId, collateral: 1n, windowEnd: 1n };
      return logs.map((log) =>
        log.eventName === "JobClosed" && log.blockNumber === 2_950n
          ? { ...log, eventName: "ClaimSubmitted", args }
          : log,
      );
    };
    const reader = { deployment, fromBlock: 2_900n, publicClient: { ...publicClient, getLogs } } as unknown as Reader;
    const begin = () =>
      followMarket(reader, undefined, resumeFrom({ folder, owner: ["a"], content: [], warn: () => {} }));
    const first = await begin()();
    expect([first.history.claims.size, first.history.unread.size]).to.deep.equal([1, 0]);
    const again = begin();
    // The blocks from 2,900 on, and the overlap of what is on disk.
    expect(await blocksReadBy(again)).to.be.below(400);
    expect((await again()).history).to.deep.equal(first.history);
  });

  it("damagedFile_isReplaced_withOneWarning", async function () {
    const first = start();
    await first();
    truncateSync(file(), 10_000);
    expect(await start()()).to.deep.equal(await first());
    expect(warnings).to.have.length(1);
    expect(await blocksReadBy(start())).to.equal(64);
    expect(warnings).to.have.length(1);
  });
});
