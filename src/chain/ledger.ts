import { erc20Abi, type Address } from "viem";
import { provisioningAbi } from "./abi/provisioning.ts";
import { stakeVaultAbi } from "./abi/stakeVault.ts";
import type { Reader, Session } from "./session.ts";

/** An account's entries in the vault, in the smallest unit of the stake asset. */
export type Account = { credit: bigint; staked: bigint; locked: bigint };

/** Reads an account's entries in the vault. */
export async function accountOf(
  { publicClient, deployment }: Pick<Reader, "publicClient" | "deployment">,
  owner: Address,
): Promise<Account> {
  const [credit, staked, locked] = await publicClient.readContract({
    address: deployment.vault,
    abi: stakeVaultAbi,
    functionName: "accountOf",
    args: [owner],
  });
  return { credit, staked, locked };
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
