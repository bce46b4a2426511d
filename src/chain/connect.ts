import { createPublicClient, defineChain, type Chain, type PublicClient, type Transport } from "viem";
import { NoNodeError, WrongChainError } from "./errors.ts";
import { httpNode } from "./node.ts";
import { Nodes, type RpcFailure } from "./nodes.ts";
import { plainReads } from "./plainReads.ts";
import { quickLogs } from "./quickLogs.ts";
import { translateError } from "./translateError.ts";

/** How to reach the chain: URLs of nodes (any node may fail), or the caller's transport. */
export type Endpoint = { rpcUrls: readonly string[] } | { transport: Transport };

/**
 * Connects to a chain. Fails if an endpoint serves another chain, or if no endpoint answers.
 * @param onRpcFailure Called for each request to a node that did not answer.
 * @throws WrongChainError, RpcUnavailableError, NoNodeError
 */
export async function connect(
  endpoint: Endpoint,
  chainId: number,
  onRpcFailure?: (failure: RpcFailure) => void,
): Promise<PublicClient<Transport, Chain>> {
  if ("rpcUrls" in endpoint && endpoint.rpcUrls.length === 0)
    throw new NoNodeError("rpcUrls is empty: give the URL of a node, or of several");
  if (!Number.isSafeInteger(chainId))
    throw new WrongChainError(`chainId ${String(chainId)}: expected a number, such as 1`);
  const nodes = new Nodes(
    "transport" in endpoint ? [endpoint.transport] : endpoint.rpcUrls.map((url) => httpNode(url)),
    chainId,
    onRpcFailure,
  );
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  await nodes.check().catch((error: unknown) => {
    throw translateError(error, "connecting");
  });
  return createPublicClient({ chain, transport: nodes.transport, cacheTime: 0 }).extend(quickLogs).extend(plainReads);
}
