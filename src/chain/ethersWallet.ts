import { getAddress, type Address, type Hex } from "viem";
import { WalletRefusedError } from "./errors.ts";
import type { Wallet } from "./wallet.ts";

/** What is used of a Signer of ethers 6. ethers itself is not imported. */
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
 * The wallet behind a Signer of ethers 6, which needs a provider.
 * @throws WalletRefusedError if it has none
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
