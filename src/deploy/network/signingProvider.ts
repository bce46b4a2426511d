import { hexToBigInt, hexToNumber, type Hex, type LocalAccount, type PublicClient } from "viem";
import type { EIP1193Provider } from "@nomicfoundation/ignition-core";

/** A transaction as Ignition asks a wallet to send it. */
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
 * What Ignition talks to: a node, before which an account signs, because nodes hold no keys.
 * @param onSent Called before each transaction that is sent.
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
