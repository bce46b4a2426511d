import { erc20Abi, type Address } from "viem";
import { provisioningAbi } from "../chain/abi/provisioning.ts";
import { stakeVaultAbi } from "../chain/abi/stakeVault.ts";
import type { Reader, Session } from "./session.ts";

/** An account's entries in the vault, in the smallest unit of the stake asset. */
export type Account = {
  credit: bigint;
  staked: bigint;
  /** The part of the stake that backs claims. */
  locked: bigint;
  /** Stake asked back, which becomes credit from `readyAt` on (unix seconds; 0 if nothing is asked back). */
  withdrawing: bigint;
  readyAt: bigint;
};

/** Reads an account's entries in the vault. */
export async function accountOf(
  { publicClient, deployment }: Pick<Reader, "publicClient" | "deployment">,
  owner: Address,
): Promise<Account> {
  const [credit, staked, locked, withdrawing, readyAt] = await publicClient.readContract({
    address: deployment.vault,
    abi: stakeVaultAbi,
    functionName: "accountOf",
    args: [owner],
  });
  return { credit, staked, locked, withdrawing, readyAt };
}

/** Moves tokens of the sender into the vault, as credit of `owner` (default: the sender). */
export async function deposit({ sender, deployment }: Session, amount: bigint, owner?: Address): Promise<void> {
  const { asset, vault } = deployment;
  await sender.send({ address: asset, abi: erc20Abi, functionName: "approve", args: [vault, amount] });
  const args = [owner ?? sender.address, amount] as const;
  await sender.send({ address: vault, abi: stakeVaultAbi, functionName: "deposit", args });
}

/** Turns the sender's credit into stake. @throws ContractRevertError `NotLive` without a live attestation. */
export async function stake({ sender, deployment }: Session, amount: bigint): Promise<void> {
  await sender.send({ address: deployment.vault, abi: stakeVaultAbi, functionName: "stake", args: [amount] });
}

/**
 * Asks the sender's unlocked stake back: it backs no claim from now on. A second request adds to the first and starts its delay anew.
 * @throws ContractRevertError `InsufficientFreeStake`
 */
export async function requestWithdraw({ sender, deployment }: Session, amount: bigint): Promise<void> {
  const atVault = { address: deployment.vault, abi: stakeVaultAbi } as const;
  await sender.send({ ...atVault, functionName: "requestWithdraw", args: [amount] });
}

/** Turns the stake that was asked back into credit. @throws ContractRevertError `NothingRequested`, `WithdrawalNotReady` */
export async function unstake({ sender, deployment }: Session): Promise<void> {
  await sender.send({ address: deployment.vault, abi: stakeVaultAbi, functionName: "unstake", args: [] });
}

/** Sends the sender's credit to an address, as tokens. @throws ContractRevertError `InsufficientCredit` */
export async function withdraw({ sender, deployment }: Session, amount: bigint, to: Address): Promise<void> {
  await sender.send({ address: deployment.vault, abi: stakeVaultAbi, functionName: "withdraw", args: [amount, to] });
}

/** Whether an account's attestation is live: it may stake and claim. */
export function isLive(
  { publicClient, deployment }: Pick<Reader, "publicClient" | "deployment">,
  owner: Address,
): Promise<boolean> {
  const { provisioning } = deployment;
  return publicClient.readContract({
    address: provisioning,
    abi: provisioningAbi,
    functionName: "isLive",
    args: [owner],
  });
}
