import type { Abi, Address, Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { stakeVaultAbi } from "../../chain/abi/stakeVault.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import { LogReader, type LogSource } from "../../chain/logReader.ts";
import type { Reader } from "../../chain/market/reader.ts";
import { translateError } from "../../chain/translateError.ts";

/** What the latest blocks of a market say about who would serve some programs. */
type Serving = {
  /** Blocks that were read, the newest ones. */
  blocks: bigint;
  /** The programs of which no job was claimed. */
  unserved: Hex[];
  /** Jobs of all other programs that a worker claimed. */
  ofOthers: number;
  /** Whether an account has, or may have, the stake that a claim locks. */
  isStaked: boolean;
};

const EVENTS = ["JobPosted", "JobClaimed", "Staked"];
const ABI: Abi = [...jobMarketAbi, ...stakeVaultAbi].filter(
  (item) => item.type === "event" && EVENTS.includes(item.name),
);

/** Blocks that are looked at: a week of L1. */
const MAX_BLOCKS = 50_000n;
/** Requests for logs: 50,000 blocks take 30 on a node that gives 2,000 blocks at once. */
const MAX_REQUESTS = 40;
/** Blocks of the first read; each further read takes four times as many as the read before. */
const FIRST_BLOCKS = 64n;
const GROWTH = 4n;
/** The most accounts looked up, beginning with the latest stakes. */
const MAX_STAKERS = 8;

class SpentError extends Error {}

/** The same source, for a number of requests for logs. */
function limited({ getBlock, getLogs }: LogSource, requests: number): LogSource {
  let left = requests;
  const limitedLogs = (...args: Parameters<typeof getLogs>) => {
    if (left-- <= 0) throw new SpentError();
    return getLogs(...args);
  };
  return { getBlock, getLogs: limitedLogs as typeof getLogs };
}

/**
 * Reads who served some programs in the latest blocks, newest first, and whether stake exists. The read ends at 50,000
 * blocks, at 40 requests for logs, or once a worker was found for every program.
 * @throws RpcUnavailableError
 */
export async function servingOf(reader: Reader, programRoots: readonly Hex[]): Promise<Serving> {
  const { publicClient, deployment, fromBlock } = reader;
  const [programOf, claimed, stakers] = [new Map<Hex, Hex>(), new Set<Hex>(), new Set<Address>()];
  const unserved = new Set(programRoots);
  try {
    const source = limited(publicClient, MAX_REQUESTS);
    const logs = new LogReader(source, [deployment.market, deployment.vault], ABI);
    const head = await publicClient.getBlockNumber();
    const first = head - MAX_BLOCKS >= fromBlock ? head - MAX_BLOCKS + 1n : fromBlock;
    let next = head;
    for (let size = FIRST_BLOCKS; next >= first && unserved.size > 0; size *= GROWTH) {
      const from = next - size + 1n > first ? next - size + 1n : first;
      const events = await logs.read([{ from, to: next }]).catch((error: unknown) => {
        if (error instanceof SpentError) return undefined;
        throw error;
      });
      if (events === undefined) break;
      for (const { eventName, args } of events.map((event) => event as unknown as Seen)) {
        if (eventName === "Staked") stakers.add(args.account);
        else if (eventName === "JobClaimed") claimed.add(args.jobId);
        else programOf.set(args.jobId, args.programRoot);
      }
      for (const [job, program] of programOf) if (claimed.has(job)) unserved.delete(program);
      next = from - 1n;
    }
    const isWhole = next < fromBlock;
    const isStaked = !isWhole || stakers.size > MAX_STAKERS || (await hasStake(reader, [...stakers]));
    const ofOthers = [...programOf].filter(([job, root]) => claimed.has(job) && !programRoots.includes(root)).length;
    return { blocks: head - next, unserved: [...unserved], ofOthers, isStaked };
  } catch (error) {
    throw translateError(error, "reading who serves the program");
  }
}

type Seen = { eventName: string; args: { jobId: Hex; programRoot: Hex; account: Address } };

async function hasStake(reader: Reader, accounts: readonly Address[]): Promise<boolean> {
  const { vault, parameters } = reader.deployment;
  const staking = new StakeVaultReader(vault, reader);
  const all = await Promise.all(accounts.map((account) => staking.accountOf(account)));
  return all.some(({ staked }) => staked >= parameters.collateral);
}
