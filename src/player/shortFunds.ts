import { formatEther, formatGwei, type Address } from "viem";
import type { Problem } from "./health.ts";

/**
 * Whether the account's ether covers gas.
 * @param gas That may be needed. @param purpose What it is for.
 * @returns undefined if it does.
 */
export function shortOfGas(
  { balance, gasPrice, owner }: { balance: bigint; gasPrice: bigint; owner: Address },
  gas: number,
  purpose: string,
): Problem | undefined {
  const cost = BigInt(gas) * gasPrice;
  if (balance >= cost) return undefined;
  const reason =
    `the account has ${formatEther(balance)} ether, but ${purpose} may cost ${formatEther(cost)} ` +
    `(${gas} gas at ${formatGwei(gasPrice)} gwei): send ether to ${owner}`;
  return { reason };
}
