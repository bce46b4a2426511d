import { expect } from "chai";
import { parseAbi, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connect } from "../../src/chain/connect.ts";
import { ContractRevertError } from "../../src/chain/errors.ts";
import { pause } from "../../src/chain/pause.ts";
import { Sender } from "../../src/chain/sender.ts";
import { FaultyNode } from "../../testkit/nodes/faultyNode.ts";
import { MempoolNode } from "../../testkit/nodes/mempoolNode.ts";
import { inVirtualTime } from "../../testkit/nodes/fakeTimers.ts";
import { Prng } from "../../testkit/random/prng.ts";

/** Percent of the answers that are missing. */
const FAULTS = 22;
const BLOCK_MS = 1_000;
/** Reads of a round, without logs, and the pauses after a good round and after a failed one. */
const READS = 10;
const ROUND_PAUSE_MS = 1_000;
const FAILED_PAUSE_MS = 2_000;
const GAMES = 10;
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

const abi = parseAbi(["function move(uint256 number)"]);
const move = (number: number) => ({ address: zeroAddress, abi, functionName: "move", args: [BigInt(number)] }) as const;

/** A chain with a block a second, a node that fails, and a player of it. Its time is virtual. */
async function play<T>(seed: number, action: (of: Played) => Promise<T>): Promise<T> {
  const chain = new MempoolNode();
  const node = new FaultyNode(chain.transport, new Prng(seed), FAULTS);
  return inVirtualTime(
    () => node.underWay > 0,
    new Prng(seed),
    async (now) => {
      let isOver = false;
      const mine = (): void => {
        chain.mine();
        if (!isOver) setTimeout(mine, BLOCK_MS);
      };
      setTimeout(mine, BLOCK_MS);
      for (;;) {
        const client = await connect({ transport: node.transport }, 1).catch(() => undefined);
        if (client === undefined) continue;
        const sender = new Sender(client, account);
        const round = async (act: () => Promise<void> = () => Promise.resolve()): Promise<boolean> => {
          try {
            for (let k = 0; k < READS; k++) await client.getTransactionCount({ address: sender.address });
            await act();
            await pause(ROUND_PAUSE_MS);
            return true;
          } catch {
            await pause(FAILED_PAUSE_MS);
            return false;
          }
        };
        return await action({ chain, node, sender, round, now }).finally(() => (isOver = true));
      }
    },
  );
}
type Played = {
  chain: MempoolNode;
  node: FaultyNode;
  sender: Sender;
  /** Reads, and acts then. Whether nothing failed. */
  round: (act?: () => Promise<void>) => Promise<boolean>;
  now: () => number;
};

describe("one node with 22 % of its answers missing", function () {
  this.timeout(300_000);

  it("rounds_areDone_andTheChainIsNamedOnce", async function () {
    const { done, failed, calls, minutes, chainIds } = await play(1, async ({ node, round, now }) => {
      const rounds = { done: 0, failed: 0 };
      while (now() < 600_000) rounds[(await round()) ? "done" : "failed"]++;
      const chainIds = node.calls.get("eth_chainId")!;
      return { ...rounds, calls: node.calls.get("eth_getTransactionCount")!, minutes: now() / 60_000, chainIds };
    });
    expect(failed).to.be.at.most(2);
    expect(done / minutes).to.be.at.least(20);
    expect(calls / (done * READS)).to.be.at.most(1.6);
    expect(chainIds).to.be.at.most(3);
  });

  it("fiveMoves_withABlackoutOfAMinute_takeLessThanAClockOf90Seconds_andNothingIsPaidTwice", async function () {
    const taken: number[] = [];
    for (let seed = 1; seed <= GAMES; seed++)
      taken.push(
        await play(seed, async ({ chain, node, sender, round, now }) => {
          let used = 0;
          for (let number = 1; number <= 5; number++) {
            if (number === 3) node.darkUntil = Date.now() + 60_000;
            const turn = now();
            let made: number | undefined;
            const act = async (): Promise<void> => {
              await sender.send(move(number)).catch((error: unknown) => {
                if (!(error instanceof ContractRevertError)) throw error;
              });
              made = now();
            };
            // The other side's move is seen in the middle of a pause, on the average.
            await pause(ROUND_PAUSE_MS / 2);
            while (made === undefined) await round(act);
            used += made - turn;
          }
          expect(chain.mined.filter(({ reverted }) => reverted)).to.deep.equal([]);
          expect(chain.mined).to.have.length(5);
          return used / 1_000;
        }),
      );
    for (const seconds of taken) expect(seconds).to.be.below(90);
  });
});
