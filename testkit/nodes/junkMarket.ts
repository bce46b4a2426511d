import { numberToHex, toHex, zeroAddress, type Hex } from "viem";
import type { Reader } from "../../src/chain/market/reader.ts";

const id = (n: number): Hex => numberToHex(n, { size: 32 });
const INPUT = toHex(new Uint8Array(4_096));

/** A market on which somebody posts a job with 4 KB of input in every block, and cancels the job in the next block. */
export class JunkMarket {
  height = 0;
  /** The branch of the last 300 blocks. */
  branch = 0;
  /** Blocks whose logs were asked for. */
  blocksRead = 0;

  get reader(): Reader {
    const publicClient = {
      chain: { id: 31_337 },
      getBlock: ({ blockNumber }: { blockNumber?: bigint }) =>
        Promise.resolve(this.#block(Number(blockNumber ?? this.height))),
      getLogs: ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
        this.blocksRead += Number(toBlock - fromBlock) + 1;
        const blocks = Array.from({ length: Number(toBlock - fromBlock) + 1 }, (_, k) => Number(fromBlock) + k);
        return Promise.resolve(blocks.flatMap((number) => this.#logs(number)));
      },
    };
    const deployment = { market: zeroAddress, game: zeroAddress };
    return { publicClient, deployment, fromBlock: 1n } as unknown as Reader;
  }

  #block(number: number) {
    // The last 300 blocks are others on another branch.
    const branch = number > this.height - 300 ? this.branch : 0;
    return { number: BigInt(number), hash: id(number * 100 + branch), timestamp: BigInt(number * 12) };
  }

  #logs(number: number): object[] {
    const { hash: blockHash } = this.#block(number);
    const at = (logIndex: number, eventName: string, args: object) => {
      return { blockNumber: BigInt(number), blockHash, logIndex, eventName, args, transactionHash: blockHash };
    };
    const job = { deadline: BigInt(number * 12 + 3_600), programRoot: id(7) };
    return [
      at(0, "InputPublished", { jobId: id(number), input: 0n, part: 0n, data: INPUT }),
      at(1, "JobPosted", { jobId: id(number), job, program: {}, inputRoots: [id(1)] }),
      at(2, "JobClosed", { jobId: id(number - 1) }),
    ];
  }
}
