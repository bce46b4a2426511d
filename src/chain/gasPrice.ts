import type { PublicClient } from "viem";
import { translateError } from "./translateError.ts";

/**
 * What a unit of gas costs now, wei: the base fee and the usual tip. It is the most that a transaction pays before it
 * waits for long: `src/chain/sender.ts` offers a lower tip first.
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
