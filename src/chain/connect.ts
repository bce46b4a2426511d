import {
  createPublicClient,
  createWalletClient,
  defineChain,
  fallback,
  http,
  type Account,
  type Chain,
  type PublicClient,
  type Transport,
  type WalletClient,
} from "viem";
import { WrongChainError } from "./errors.ts";
import { translateError } from "./translateError.ts";

/** A reader, and, with an account, a sender. */
export type Connection = {
  publicClient: PublicClient<Transport, Chain>;
  walletClient?: WalletClient<Transport, Chain, Account>;
};

/** Where the chain is: URLs of nodes (reads fall back from one to the next; sends go to the first), or one's own transport. */
export type Endpoint = { rpcUrls: readonly string[] } | { transport: Transport };

/**
 * Connects to a chain and makes sure that every endpoint serves it.
 * @throws WrongChainError, RpcUnavailableError
 */
export async function connect(endpoint: Endpoint, chainId: number, account?: Account): Promise<Connection> {
  const transports = "transport" in endpoint ? [endpoint.transport] : endpoint.rpcUrls.map((url) => http(url));
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const client = (transport: Transport) =>
    createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: POLLING_MS });
  await Promise.all(transports.map((transport, k) => checkChain(client(transport), chainId, k)));
  const [first] = transports;
  const publicClient = client(transports.length === 1 ? first! : fallback(transports));
  if (account === undefined) return { publicClient };
  const walletClient = createWalletClient({ chain, transport: first!, account });
  return { publicClient, walletClient };
}

/** How often a receipt is asked for. */
const POLLING_MS = 500;

async function checkChain(client: PublicClient, chainId: number, index: number): Promise<void> {
  const served = await client.getChainId().catch((error: unknown) => {
    throw translateError(error, `endpoint ${index + 1}`);
  });
  if (served !== chainId) {
    throw new WrongChainError(`endpoint ${index + 1} serves chain ${served}, expected chain ${chainId}`);
  }
}
