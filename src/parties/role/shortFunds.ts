import { formatEther, formatGwei, type Address } from "viem";
import type { Problem } from "../../base/health.ts";

/**
 * What must be there, in percent of what the gas costs at the price of now. A pool takes a transaction only if the
 * account has its whole gas limit (15 % above the estimate) at its maximum fee (a fifth above the price): 138 %.
 */
const NEEDED_PERCENT = 150n;

/**
 * Whether the account's ether covers gas, so that pools take the transactions.
 * @param gas That may be needed. @param purpose What it is for.
 * @returns undefined if it does.
 */
export function shortOfGas(
  { balance, gasPrice, owner }: { balance: bigint; gasPrice: bigint; owner: Address },
  gas: number,
  purpose: string,
): Problem | undefined {
  const cost = (BigInt(gas) * gasPrice * NEEDED_PERCENT) / 100n;
  if (balance >= cost) return undefined;
  const reason =
    `the account has ${formatEther(balance)} ether, but ${purpose} may take ${formatEther(cost)} ` +
    `(${gas} gas at ${formatGwei(gasPrice)} gwei): send ether to ${owner}`;
  return { reason };
}
