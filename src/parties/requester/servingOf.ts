import type { Abi, Address, Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { stakeVaultAbi } from "../../chain/abi/stakeVault.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import { LogStore } from "../../chain/logStore.ts";
import type { Reader } from "../../chain/market/reader.ts";
import { translateError } from "../../chain/translateError.ts";

/** What the past of a market says about who would serve a program. */
type Serving = {
  /** Jobs of the program that a worker claimed. */
  ofProgram: number;
  /** Jobs of any program that a worker claimed. */
  ofAll: number;
  /** Whether an account has the stake that a claim locks. */
  isStaked: boolean;
};

const EVENTS = ["JobPosted", "JobClaimed", "Staked"];

/** Blocks that are looked at: four weeks of L1. */
const PAST = 200_000n;

/** Reads who served a program in the latest 200,000 blocks, and whether stake exists. @throws RpcUnavailableError */
export async function servingOf(reader: Reader, programRoot: Hex): Promise<Serving> {
  const { publicClient, deployment, fromBlock } = reader;
  try {
    const head = await publicClient.getBlockNumber();
    const abi: Abi = [...jobMarketAbi, ...stakeVaultAbi].filter(
      (item) => item.type === "event" && EVENTS.includes(item.name),
    );
    const since = head - PAST > fromBlock ? head - PAST : fromBlock;
    const store = new LogStore(publicClient, [deployment.market, deployment.vault], abi, since);
    await store.sync();
    const [own, claimed, stakers] = [new Set<Hex>(), new Set<Hex>(), new Set<Address>()];
    for (const event of store.events) {
      const args = event.args as unknown as { jobId: Hex; programRoot: Hex; account: Address };
      if (event.eventName === "Staked") stakers.add(args.account);
      else if (event.eventName === "JobClaimed") claimed.add(args.jobId);
      else if (args.programRoot === programRoot) own.add(args.jobId);
    }
    const vault = new StakeVaultReader(deployment.vault, reader);
    let isStaked = since > fromBlock;
    for (const account of [...stakers].reverse()) {
      if (isStaked) break;
      isStaked = (await vault.accountOf(account)).staked >= deployment.parameters.collateral;
    }
    return { ofProgram: [...own].filter((job) => claimed.has(job)).length, ofAll: claimed.size, isStaked };
  } catch (error) {
    throw translateError(error, "reading who serves the program");
  }
}
