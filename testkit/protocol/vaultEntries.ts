import { parseEventLogs, type Address } from "viem";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import type { World } from "./deployWorld.ts";

/** Returns the vault's events in the last block: name, account in lower case, amount. */
export async function vaultEntries({ client, vault }: World): Promise<[string, Address, bigint][]> {
  const block = await client.getBlockNumber();
  const logs = await client.getLogs({ address: vault.address, fromBlock: block, toBlock: block });
  return parseEventLogs({ abi: stakeVaultAbi, logs }).map(({ eventName, args }) => {
    const { account, amount } = args;
    return [eventName, account.toLowerCase() as Address, amount];
  });
}
