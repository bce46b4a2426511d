import { expect } from "chai";
import type { Hex } from "viem";
import type { Reader } from "../../../src/chain/market/reader.ts";
import { servingOf } from "../../../src/parties/requester/servingOf.ts";
import { rpcError } from "../../../testkit/nodes/logNode.ts";

const HEAD = 5_000_000;
const [MINE, OTHER, THIRD] = ["0x01", "0x02", "0x03"] as const;

/** A market with one claimed job of a program in some blocks. Requests for logs are counted. */
function marketOf(jobs: Record<number, Hex>, maxBlocks = Infinity): { reader: Reader; requests: () => number } {
  let requests = 0;
  const getLogs = ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
    requests++;
    if (toBlock - fromBlock >= maxBlocks) return Promise.reject(rpcError(`block range is limited to ${maxBlocks}`));
    const logs = Object.entries(jobs)
      .filter(([block]) => fromBlock <= Number(block) && Number(block) <= toBlock)
      .flatMap(([block, programRoot]) => [
        { eventName: "JobPosted", args: { jobId: block, programRoot } },
        { eventName: "JobClaimed", args: { jobId: block } },
      ]);
    return Promise.resolve(logs);
  };
  const publicClient = { getBlockNumber: () => Promise.resolve(BigInt(HEAD)), getLogs };
  const deployment = { market: "0x0a", vault: "0x0b", parameters: { collateral: 1n } };
  return { reader: { publicClient, deployment, fromBlock: 0n } as unknown as Reader, requests: () => requests };
}

describe("who serves a program", () => {
  it("onANodeThatGivesTenBlocks_fortyRequestsAreMade_andWhatWasReadIsSaid", async () => {
    const { reader, requests } = marketOf({ [HEAD]: OTHER }, 10);
    const serving = await servingOf(reader, [MINE]);
    expect(requests()).to.equal(40);
    expect(serving).to.deep.equal({ blocks: 320n, unserved: [MINE], ofOthers: 1, isStaked: true });
  });

  it("severalPrograms_areLookedForInOneRead", async () => {
    const jobs = { [HEAD - 40_000]: OTHER, [HEAD - 10]: THIRD };
    const [one, two] = [marketOf(jobs, 10_000), marketOf(jobs, 10_000)];
    await servingOf(one.reader, [MINE]);
    expect(await servingOf(two.reader, [MINE, OTHER])).to.deep.include({
      blocks: 50_000n,
      unserved: [MINE],
      ofOthers: 1,
    });
    expect(two.requests()).to.equal(one.requests()).and.at.most(40);
  });

  it("oneClaimedJobOfEachProgram_endsTheRead", async () => {
    const { reader, requests } = marketOf({ [HEAD]: MINE, [HEAD - 100]: OTHER });
    expect(await servingOf(reader, [MINE, OTHER])).to.deep.include({ blocks: 320n, unserved: [] });
    expect(requests()).to.equal(2);
  });
});
