import { getAddress, type Address, type Hex } from "viem";
import { WalletRefusedError } from "./errors.ts";
import type { Wallet } from "./wallet.ts";

/** The used part of an ethers 6 Signer. ethers itself is not imported. */
export type EthersSigner = {
  getAddress: () => Promise<string>;
  provider: { getNetwork: () => Promise<{ chainId: bigint }> } | null;
  sendTransaction: (transaction: {
    to: string;
    data: string;
    value: bigint;
    gasLimit: bigint;
  }) => Promise<{ hash: string }>;
};

/**
 * Makes a wallet from an ethers 6 Signer, which needs a provider.
 * @throws WalletRefusedError without a provider
 */
export async function ethersWallet(signer: EthersSigner): Promise<Wallet> {
  const { provider } = signer;
  if (provider === null)
    throw new WalletRefusedError("the signer has no provider: connect it with signer.connect(provider)");
  const address: Address = getAddress(await signer.getAddress());
  return {
    type: "wallet",
    address,
    chainId: async () => Number((await provider.getNetwork()).chainId),
    send: async ({ gas, ...transaction }) =>
      (await signer.sendTransaction({ ...transaction, gasLimit: gas })).hash as Hex,
  };
}
