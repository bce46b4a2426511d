import { expect } from "chai";
import { parseAbi } from "viem";
import { LogStore } from "../../src/chain/logStore.ts";
import { LogNode, rpcError } from "../../testkit/nodes/logNode.ts";

const abi = parseAbi(["event Ping(uint256 value)"]);
const storeOf = (node: LogNode) => new LogStore(node.source, [], abi, 0n);

describe("reading events from nodes with limits", function () {
  for (const words of ["no", "limited to a 1000 block range"])
    it(`millionBlocks_limit1000_50msACall_takeLessThan30s_nodeSays_${words}`, async function () {
      const node = new LogNode(1_000_000);
      Object.assign(node, { limit: 1_000, words });
      const store = storeOf(node);
      const { seconds, getBlock, getLogs } = await node.measure(store.sync());
      expect(store.events).to.have.length(10_001);
      expect(seconds).to.be.below(15);
      expect(getLogs).to.be.below(1_050);
      expect(getBlock).to.be.below(120);
      expect(node.maxAtOnce).to.equal(8);
    });

  it("limit10_takesLittleMoreThanOneRequestForTenBlocks", async function () {
    const node = new LogNode(20_000);
    node.limit = 10;
    const { getBlock, getLogs, refused } = await node.measure(storeOf(node).sync());
    expect(getLogs).to.be.below(2_100);
    expect(getBlock).to.be.below(200);
    expect(refused).to.be.below(20);
  });

  it("limit10_roundsAskEightTimes_andAreNotRefused", async function () {
    const node = new LogNode(20_000);
    Object.assign(node, { limit: 10, words: "maximum block range: 10" });
    const store = storeOf(node);
    await node.measure(store.sync());
    let refused = 0;
    for (let round = 0; round < 1_000; round++) {
      node.height++;
      const counts = await node.measure(store.sync());
      expect(counts.getLogs).to.be.within(8, 10);
      expect(counts.getBlock).to.be.at.most(5);
      refused += counts.refused;
    }
    // One each time that as many requests were made as in all tries before.
    expect(refused).to.be.at.most(5);
  });

  it("noLimit_roundsAskTwice", async function () {
    const node = new LogNode(20_000);
    const store = storeOf(node);
    await node.measure(store.sync());
    for (let round = 0; round < 10; round++) {
      node.height += 3;
      const { getLogs, getBlock, refused } = await node.measure(store.sync());
      expect([getLogs, refused]).to.deep.equal([2, 0]);
      expect(getBlock).to.be.at.most(5);
    }
  });

  it("overlap_isAlways64Blocks", async function () {
    for (const limit of [1, 3, 10, 63, 64, 65, Infinity]) {
      const node = new LogNode(500);
      node.limit = limit;
      const asked: [bigint, bigint][] = [];
      const { getBlock, getLogs } = node.source;
      const source = {
        getBlock,
        getLogs: (range: { fromBlock: bigint; toBlock: bigint }) => {
          if (range.toBlock - range.fromBlock + 1n <= limit) asked.push([range.fromBlock, range.toBlock]);
          return getLogs(range);
        },
      };
      const store = new LogStore(source as never, [], abi, 0n);
      await node.measure(store.sync());
      asked.length = 0;
      node.height++;
      await node.measure(store.sync());
      const covered = new Set(
        asked.flatMap(([from, to]) => Array.from({ length: Number(to - from) + 1 }, (_, k) => Number(from) + k)),
      );
      expect([Math.min(...covered), covered.size], `limit ${limit}`).to.deep.equal([437, 65]);
    }
  });

  it("blocksWithManyLogs_areReadInParts_andOthersInFullSpans", async function () {
    const node = new LogNode(10_000, 1);
    node.maxLogs = 100;
    const store = storeOf(node);
    const { getLogs, refused } = await node.measure(store.sync());
    expect(store.events).to.have.length(10_001);
    expect(refused).to.be.below(getLogs / 5);
    node.maxLogs = Infinity;
    node.height += 100_000;
    expect((await node.measure(store.sync())).getLogs).to.be.below(120);
  });

  it("nodesOfDifferentLimits_areAskedForWhatAllTake", async function () {
    const nodes = [2_000, 300, 1_000].map((limit) => Object.assign(new LogNode(100_000), { limit }));
    const [first] = nodes as [LogNode];
    let turn = 0;
    const getLogs = (range: never) => {
      const node = nodes[turn++ % 3]!;
      node.time = first.time;
      return node.source.getLogs(range);
    };
    const store = new LogStore({ ...first.source, getLogs } as never, [], abi, 0n);
    await first.measure(store.sync());
    expect(store.events).to.have.length(1_001);
    const total = (name: "getLogs" | "refused") => nodes.map(({ counts }) => counts[name]).reduce((a, b) => a + b);
    expect(total("refused")).to.be.below(60);
    expect(total("getLogs")).to.be.below(600);
  });

  it("nodeThatLimitsRequestsInATime_isAskedForFewerAtOnce_andWhatWasReadIsKept", async function () {
    const node = new LogNode(1_000_000);
    const { getBlock, getLogs } = node.source;
    let open = 0;
    const source = {
      getBlock,
      getLogs: async (range: never) => {
        if (open >= 3) throw rpcError("too many requests", 429);
        open++;
        return getLogs(range).finally(() => open--);
      },
    };
    const store = new LogStore(source as never, [], abi, 0n);
    let failures = 0;
    while (
      failures < 50 &&
      (await node.measure(
        store.sync().then(
          () => 0,
          () => failures++,
        ),
      )) &&
      store.events.length < 10_001
    );
    expect(store.events).to.have.length(10_001);
    expect(failures).to.be.within(1, 40);
  });
});
