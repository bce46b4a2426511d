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

/**
 * Raises the account's credit to the needed amount.
 * @param needed The amount needed now.
 * @param wanted The amount needed soon: a deposit covers the amount within the account's funds, to keep deposits few.
 * @throws ShortOfFundsError
 */
export async function ensureCredit(session: Session, needed: bigint, wanted: bigint): Promise<void> {
  const { vault, asset, sender } = session;
  const { credit } = await vault.accountOf(sender.address);
  if (credit >= needed) return;
  const held = await asset.balanceOf(sender.address);
  const max = wanted - credit < held ? wanted - credit : held;
  await deposit(session, max > needed - credit ? max : needed - credit);
}
