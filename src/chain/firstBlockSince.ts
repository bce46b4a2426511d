import type { PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/** Returns the first block, starting at `from`, not older than a time. @throws RpcUnavailableError */
export async function firstBlockSince(client: PublicClient, time: bigint, from: bigint): Promise<bigint> {
  try {
    let [low, high] = [from, await client.getBlockNumber({ cacheTime: 0 })];
    while (low < high) {
      const middle = (low + high) / 2n;
      const { timestamp } = await client.getBlock({ blockNumber: middle });
      if (timestamp < time) low = middle + 1n;
      else high = middle;
    }
    return low;
  } catch (error) {
    throw translateError(error, "looking for the block of a time");
  }
}
