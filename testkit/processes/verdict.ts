import { decodeFunctionData, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { provisioningAbi } from "../../src/chain/abi/provisioning.ts";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import { Outcome } from "../../src/chain/structs.ts";
import type { ClaimRecord, GameRecord, History } from "../../src/chain/market/history.ts";
import type { Anvil } from "../../src/deploy/devnet/anvil.ts";
import type { Party } from "./parties.ts";

/** An account's wealth. */
export type Wealth = {
  /** In the vault, stake and credit, wei of the stake asset. */
  vault: bigint;
  /** Wei. */
  ether: bigint;
};

/** Reads what an account has. */
export async function wealthOf({ session, address }: Party): Promise<Wealth> {
  const { credit, staked, withdrawing } = await session.vault.accountOf(address);
  return { vault: credit + staked + withdrawing, ether: await session.publicClient.getBalance({ address }) };
}

/** A story's result, derived from the chain alone. */
export type Verdict = {
  /** The number of wrong claims, and how many wrong claims became final. */
  lies: number;
  survived: number;
  /** The number of honest jobs, and how many honest workers were paid. */
  jobs: number;
  paid: number;
  /** Games that an honest party lost. */
  lostGames: number;
  /** The change in each honest party's vault entries, and the change in entries and ether together, ether. */
  gains: Record<string, { vault: number; net: number }>;
  /** The number of honest parties' transactions on chain, and the reverted transactions: block, function, gas, hash. */
  sent: number;
  reverted: string[];
};

const isBy = (address: Address) => (other: Address) => other.toLowerCase() === address.toLowerCase();
const inEther = (wei: bigint): number => Number(wei / 10n ** 9n) / 1e9;

/** A game that the challenger lost against the liar, or that the honest worker lost. */
function isLost(claim: ClaimRecord, { closed }: GameRecord, isLiar: boolean): boolean {
  return closed?.outcome === (isLiar ? Outcome.workerWon : Outcome.challengerWon);
}

/** Judges by the claims: all of the liar's are wrong, all others are right. */
export function judge(
  { claims, jobs }: History,
  liar: Address,
  honestJobs: readonly Hex[],
): Pick<Verdict, "lies" | "survived" | "jobs" | "paid" | "lostGames"> {
  const isLiars = isBy(liar);
  const all = [...claims.values()];
  const lies = all.filter(({ claim }) => isLiars(claim.worker));
  const paid = honestJobs.filter((id) => jobs.get(id)?.claims.some((claim) => claim.paid));
  const lost = all.flatMap((claim) => claim.games.filter((game) => isLost(claim, game, isLiars(claim.claim.worker))));
  return {
    lies: lies.length,
    survived: lies.filter(({ finalised }) => finalised).length,
    jobs: honestJobs.length,
    paid: paid.length,
    lostGames: lost.length,
  };
}

type Receipt = { from: Address; status: Hex; transactionHash: Hex; gasUsed: Hex };
const PROTOCOL = [...disputeGameAbi, ...jobMarketAbi, ...stakeVaultAbi, ...provisioningAbi];

/** A reverted transaction, for whoever looks for the cause. */
async function describe(anvil: Anvil, block: bigint, { transactionHash, gasUsed }: Receipt): Promise<string> {
  const sent = (await anvil.request("eth_getTransactionByHash", [transactionHash])) as { input: Hex; gas: Hex };
  const { functionName } = decodeFunctionData({ abi: PROTOCOL, data: sent.input });
  return `block ${block}: ${functionName}, ${BigInt(gasUsed)} of ${BigInt(sent.gas)} gas, ${transactionHash}`;
}

/** The transactions that some accounts have on a node's chain from a block on. */
export async function transactionsOf(
  anvil: Anvil,
  from: bigint,
  accounts: readonly Address[],
): Promise<Pick<Verdict, "sent" | "reverted">> {
  const head = BigInt((await anvil.request("eth_blockNumber")) as Hex);
  let sent = 0;
  const reverted: string[] = [];
  for (let block = from; block <= head; block++) {
    const receipts = (await anvil.request("eth_getBlockReceipts", [`0x${block.toString(16)}`])) as Receipt[] | null;
    for (const receipt of receipts ?? []) {
      if (!accounts.some((account) => isBy(account)(receipt.from))) continue;
      sent++;
      if (receipt.status !== "0x1") reverted.push(await describe(anvil, block, receipt));
    }
  }
  return { sent, reverted };
}

/** Returns an account's gain. */
export const gainOf = (before: Wealth, now: Wealth): { vault: number; net: number } => ({
  vault: inEther(now.vault - before.vault),
  net: inEther(now.vault + now.ether - before.vault - before.ether),
});
