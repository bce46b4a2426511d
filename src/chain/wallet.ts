import type { Address, Hex, WalletClient } from "viem";
import { WalletRefusedError } from "./errors.ts";

/** A transaction for a wallet to send. `value` in wei. */
export type WalletTransaction = { to: Address; data: Hex; value: bigint; gas: bigint };

/** An account whose wallet chooses nonce and fees, signs and sends by itself: that of a browser, say. */
export type Wallet = {
  type: "wallet";
  address: Address;
  /** The chain that the wallet sends to now. */
  chainId: () => Promise<number>;
  /** Sends a transaction and gives its hash. */
  send: (transaction: WalletTransaction) => Promise<Hex>;
};

/**
 * Makes a wallet from a viem client: a browser's wallet (`createWalletClient({ transport: custom(window.ethereum) })`),
 * or a client with its own account. A browser's wallet may ask the user for permission.
 * @throws WalletRefusedError if the wallet gives no account
 */
export async function viemWallet(client: WalletClient): Promise<Wallet> {
  const account = client.account ?? (await client.requestAddresses().catch(refused))[0];
  if (account === undefined) throw new WalletRefusedError("the wallet gives no account: connect one");
  return {
    type: "wallet",
    address: typeof account === "string" ? account : account.address,
    chainId: () => client.getChainId(),
    send: (transaction) => client.sendTransaction({ account, chain: null, ...transaction }),
  };
}

function refused(cause: unknown): never {
  throw new WalletRefusedError(`the wallet gives no account: ${walletWords(cause)}`, { cause });
}

/** Returns the wallet's or library's failure message, in one line. */
export function walletWords(error: unknown): string {
  const { shortMessage, message } = error as { shortMessage?: string; message?: string };
  return (shortMessage ?? message ?? String(error)).split("\n")[0]!;
}
