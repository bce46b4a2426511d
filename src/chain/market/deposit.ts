import { formatEther, type Address } from "viem";
import { ShortOfFundsError } from "../errors.ts";
import type { Session } from "./session.ts";

/**
 * Moves the sender's tokens into the vault, as `owner`'s credit (default: the sender).
 * @param amount In the smallest unit.
 * @throws ShortOfFundsError before anything is sent, if the sender has too few tokens
 */
export async function deposit(
  { sender, asset, vault, deployment }: Session,
  amount: bigint,
  owner?: Address,
): Promise<void> {
  const held = await asset.balanceOf(sender.address);
  if (held < amount) {
    const holds = `${sender.address} holds ${formatEther(held)} of the stake asset ${deployment.asset}`;
    throw new ShortOfFundsError(`${holds}, not ${formatEther(amount)}: send it ${formatEther(amount - held)} more`);
  }
  await asset.approve(deployment.vault, amount);
  await vault.deposit(owner ?? sender.address, amount);
}
