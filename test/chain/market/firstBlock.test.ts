import { expect } from "chai";
import { BaseError, zeroAddress, type Address } from "viem";
import { findFirstBlock, type FirstBlockMemory } from "../../../src/chain/market/firstBlock.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** A contract that is two blocks older. */
const OLDER: Address = `0x${"0a".repeat(20)}`;

/** `isSilent`: where the node keeps no state, it shows no code, and no error. */
type TestChain = { head: bigint; deployed: bigint; kept?: bigint; isSilent?: boolean };

/** A chain with a contract since a block, of which the node keeps the states from another block on. */
function chainWith({ head, deployed, kept = 0n, isSilent = false }: TestChain) {
  const looks: bigint[] = [];
  const client = {
    getBlockNumber: () => Promise.resolve(head),
    getCode: ({ address, blockNumber = head }: { address: Address; blockNumber?: bigint }) => {
      looks.push(blockNumber);
      if (isSilent && blockNumber < kept) return Promise.resolve(undefined);
      if (address === OLDER) return Promise.resolve(blockNumber >= deployed - 2n ? ("0x60" as const) : undefined);
      if (blockNumber < kept) return Promise.reject(new BaseError("failed", { details: "missing trie node 0x12" }));
      return Promise.resolve(blockNumber >= deployed ? ("0x60" as const) : undefined);
    },
  };
  const find = (given: bigint, memory?: FirstBlockMemory, older?: Address) =>
    findFirstBlock(client, zeroAddress, given, memory, older);
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

  it("nodeThatShowsNoCodeWhereItKeepsNoState_provesNothing", async function () {
    const chain = { head: 10_000n, deployed: 4_000n, kept: 9_900n, isSilent: true };
    const find = (given: bigint) => chainWith(chain).find(given, undefined, OLDER);
    expect(await find(0n)).to.deep.equal({ fromBlock: 0n, isProven: true });
    for (const given of [3_000n, 5_000n])
      expect(await find(given)).to.deep.equal({ fromBlock: given, isProven: false });
    const whole = chainWith({ ...chain, kept: 0n });
    expect(await whole.find(5_000n, undefined, OLDER)).to.deep.equal({ fromBlock: 4_000n, isProven: true });
  });
});
