import type { Address, PublicClient } from "viem";
import { hasRpcError } from "../answers.ts";
import { refusalIn } from "../refusals.ts";
import { translateError } from "../translateError.ts";

/** A younger chain is read from its first block on: that costs no more than the search. */
const YOUNG = 128n;

/** Keeps the first block of a deployment for the next start. A wrong block is found out, and not used. */
export type FirstBlockMemory = { load(): Promise<bigint | undefined>; save(block: bigint): Promise<void> };

/** Where the events of a contract begin. */
type FirstBlock = {
  fromBlock: bigint;
  /** Whether the chain shows that the contract is no older. Nodes may keep no state so old. */
  isProven: boolean;
};

/**
 * Returns a block from which on all events of a contract can be read. A given block is used if the contract has no code
 * before it. Otherwise the block of the deployment is found by bisection.
 * @param given The supposed block of the deployment; 0 if nobody knows.
 * @param older A contract of an earlier block. Some nodes show no code where they keep no state: a block without this
 *   contract proves nothing.
 * @throws RpcUnavailableError
 */
export async function findFirstBlock(
  client: Pick<PublicClient, "getCode" | "getBlockNumber">,
  address: Address,
  given: bigint,
  memory?: FirstBlockMemory,
  older?: Address,
): Promise<FirstBlock> {
  try {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    if (head < YOUNG) return { fromBlock: 0n, isProven: true };
    const unproven =
      given === 0n || given > head ? { fromBlock: 0n, isProven: true } : { fromBlock: given, isProven: false };
    const hasCode = async (block: bigint, of = address): Promise<boolean> =>
      (await client.getCode({ address: of, blockNumber: block })) !== undefined;
    const hasState = async (block: bigint): Promise<boolean> => older === undefined || hasCode(block, older);
    const isBefore = async (block: bigint): Promise<boolean> =>
      block > 0n && block <= head && !(await hasCode(block - 1n)) && (await hasState(block - 1n));
    try {
      if (await isBefore(given)) return { fromBlock: given, isProven: true };
      const known = await memory?.load();
      if (known !== undefined && (await isBefore(known)) && (await hasCode(known)))
        return { fromBlock: known, isProven: true };
      let [low, high] = [0n, head];
      while (low < high) {
        const middle = (low + high) / 2n;
        if (await hasCode(middle)) high = middle;
        else low = middle + 1n;
      }
      if (low > 0n && !(await hasState(low - 1n))) return unproven;
      await memory?.save(low);
      return { fromBlock: low, isProven: true };
    } catch (error) {
      if (!isPruned(error)) throw error;
      return unproven;
    }
  } catch (error) {
    throw translateError(error, "looking for the block of the deployment");
  }
}

/** Whether a node has no state of an old block. There are more words for it than anybody can list. */
const isPruned = (error: unknown): boolean => refusalIn(error) === "pruned" || hasRpcError(error);
