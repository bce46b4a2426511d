import type { PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/**
 * Returns the current gas cost per unit, in wei: the base fee and the usual tip. A transaction pays no more unless it
 * waits for long, because `src/chain/sender.ts` offers a lower tip first.
 * @throws RpcUnavailableError
 */
export async function gasPriceNow(publicClient: PublicClient): Promise<bigint> {
  try {
    const [{ baseFeePerGas }, tip] = await Promise.all([
      publicClient.getBlock({ blockTag: "latest" }),
      publicClient.estimateMaxPriorityFeePerGas(),
    ]);
    return (baseFeePerGas ?? 0n) + tip;
  } catch (error) {
    throw translateError(error, "reading the gas price");
  }
}
