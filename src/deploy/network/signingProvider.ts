import { hexToBigInt, hexToNumber, type Hex, type LocalAccount, type PublicClient } from "viem";
import type { EIP1193Provider } from "@nomicfoundation/ignition-core";

/** A transaction, in the form in which Ignition asks a wallet to send. */
type Request = {
  to?: Hex;
  data?: Hex;
  value?: Hex;
  nonce: Hex;
  gas: Hex;
  gasPrice?: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
};

/**
 * Returns the provider for Ignition: a node, with an account that signs locally, because nodes hold no keys.
 * @param onSent Called before sending each transaction.
 */
export function signingProvider(
  publicClient: PublicClient,
  account: LocalAccount,
  chainId: number,
  onSent: () => void,
): EIP1193Provider {
  const ask = publicClient.request as (request: { method: string; params?: unknown }) => Promise<unknown>;
  const send = async (request: Request): Promise<unknown> => {
    const { to, data, value = "0x0", nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request;
    const fees =
      maxFeePerGas === undefined
        ? ({ type: "legacy", gasPrice: hexToBigInt(gasPrice!) } as const)
        : ({
            type: "eip1559",
            maxFeePerGas: hexToBigInt(maxFeePerGas),
            maxPriorityFeePerGas: hexToBigInt(maxPriorityFeePerGas ?? "0x0"),
          } as const);
    const common = { to, data, chainId, value: hexToBigInt(value), nonce: hexToNumber(nonce), gas: hexToBigInt(gas) };
    const signed = await account.signTransaction({ ...common, ...fees });
    onSent();
    return ask({ method: "eth_sendRawTransaction", params: [signed] });
  };
  return {
    request: ({ method, params }) => {
      if (method === "eth_accounts") return Promise.resolve([account.address]);
      if (method === "eth_sendTransaction") return send((params as [Request])[0]);
      return ask({ method, params });
    },
  };
}
