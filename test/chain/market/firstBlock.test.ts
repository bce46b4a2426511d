import { expect } from "chai";
import { BaseError, zeroAddress } from "viem";
import { findFirstBlock, type FirstBlockMemory } from "../../../src/chain/market/firstBlock.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** A chain with a contract since a block, of which the node keeps the states from another block on. */
function chainWith({ head, deployed, kept = 0n }: { head: bigint; deployed: bigint; kept?: bigint }) {
  const looks: bigint[] = [];
  const client = {
    getBlockNumber: () => Promise.resolve(head),
    getCode: ({ blockNumber = head }: { blockNumber?: bigint }) => {
      looks.push(blockNumber);
      if (blockNumber < kept) return Promise.reject(new BaseError("failed", { details: "missing trie node 0x12" }));
      return Promise.resolve(blockNumber >= deployed ? ("0x60" as const) : undefined);
    },
  };
  const find = (given: bigint, memory?: FirstBlockMemory) => findFirstBlock(client, zeroAddress, given, memory);
  return { find, looks };
}

describe("the first block of a deployment", function () {
  it("anyBlockThatIsGiven_leadsToNoLaterOneThanTheDeployments", async function () {
    const prng = new Prng(1);
    for (let k = 0; k < 200; k++) {
      const head = BigInt(200 + prng.below(1_000_000));
      const deployed = BigInt(prng.below(Number(head)));
      const given = BigInt(prng.below(2 * Number(head)));
      const { fromBlock, isProven } = await chainWith({ head, deployed }).find(given);
      expect(isProven).to.equal(true);
      expect(fromBlock).to.equal(given > 0n && given <= deployed ? given : deployed);
    }
  });

  it("rightBlock_costsOneLook_andAKnownOneTwoMore", async function () {
    const right = chainWith({ head: 10_000n, deployed: 4_000n });
    await right.find(4_000n);
    expect(right.looks).to.have.length(1);
    let kept: bigint | undefined;
    const save = (block: bigint): Promise<void> => Promise.resolve(void (kept = block));
    const memory = { load: () => Promise.resolve(kept), save };
    const first = chainWith({ head: 10_000n, deployed: 4_000n });
    expect((await first.find(0n, memory)).fromBlock).to.equal(4_000n);
    const second = chainWith({ head: 11_000n, deployed: 4_000n });
    expect((await second.find(0n, memory)).fromBlock).to.equal(4_000n);
    expect(second.looks).to.have.length(2);
    // Another chain under the same number: what was kept is not believed.
    expect((await chainWith({ head: 9_000n, deployed: 700n }).find(0n, memory)).fromBlock).to.equal(700n);
  });

  it("nodeWithoutOldStates_leavesTheGivenBlock_unproven_andTheBeginningOtherwise", async function () {
    const chain = { head: 10_000n, deployed: 4_000n, kept: 9_900n };
    expect(await chainWith(chain).find(5_000n)).to.deep.equal({ fromBlock: 5_000n, isProven: false });
    expect(await chainWith(chain).find(0n)).to.deep.equal({ fromBlock: 0n, isProven: true });
    expect(await chainWith(chain).find(99_999n)).to.deep.equal({ fromBlock: 0n, isProven: true });
  });
});
