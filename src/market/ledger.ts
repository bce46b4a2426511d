import type { Address } from "viem";
import type { Session } from "./session.ts";

/**
 * Moves tokens of the sender into the vault, as credit of `owner` (default: the sender).
 * @param amount In the smallest unit.
 */
export async function deposit(
  { sender, asset, vault, deployment }: Session,
  amount: bigint,
  owner?: Address,
): Promise<void> {
  await asset.approve(deployment.vault, amount);
  await vault.deposit(owner ?? sender.address, amount);
}
