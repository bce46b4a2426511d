import type { Address, Chain, LocalAccount, PublicClient, Transport } from "viem";
import { connect, type Endpoint } from "./connect.ts";
import { readDeployment, type Deployment } from "./deployment.ts";
import { emptyHistory, protocolAbi, takeEvent, type History } from "./history.ts";
import { LogStore } from "./logStore.ts";
import { Sender, type Patience } from "./sender.ts";

/** A deployment, a node to read it from, and an account to act with. */
export type Session = {
  deployment: Deployment;
  publicClient: PublicClient<Transport, Chain>;
  sender: Sender;
  /** The block of the deployment: no event is older. */
  fromBlock: bigint;
};

/** What reading needs of a session. */
export type Reader = Pick<Session, "deployment" | "publicClient" | "fromBlock">;

/** What names a session. */
export type SessionOptions = {
  endpoint: Endpoint;
  chainId: number;
  /** The market's address: the other contracts are read from it. */
  market: Address;
  account: LocalAccount;
  fromBlock?: bigint;
  /** How long a transaction is waited for. */
  patience?: Partial<Patience>;
};

/**
 * Connects to a chain, checks it, and reads the deployment.
 * @throws WrongChainError, NotDeployedError, RpcUnavailableError
 */
export async function openSession({
  endpoint,
  chainId,
  market,
  account,
  fromBlock = 0n,
  patience,
}: SessionOptions): Promise<Session> {
  const publicClient = await connect(endpoint, chainId);
  const deployment = await readDeployment(publicClient, market);
  return { deployment, publicClient, sender: new Sender(publicClient, account, patience), fromBlock };
}

/** What is known of a market at one block. */
export type Snapshot = {
  history: History;
  /** The head's time, unix seconds. */
  now: bigint;
  /** The head: what is read beside the history is read there, so that the two agree. */
  blockNumber: bigint;
};

/** Follows a market: each call brings the history up to the head. */
export function followMarket({ deployment, publicClient, fromBlock }: Reader): () => Promise<Snapshot> {
  const store = new LogStore(publicClient, [deployment.market, deployment.game], protocolAbi, fromBlock);
  let history = emptyHistory();
  let taken = 0;
  return async () => {
    const { head, rewoundTo } = await store.sync();
    // Records are changed in place, so what a reorganisation took back can only be left out by starting again.
    if (rewoundTo !== undefined) [history, taken] = [emptyHistory(), 0];
    for (; taken < store.events.length; taken++) takeEvent(history, store.events[taken]!);
    return { history, now: head.timestamp, blockNumber: head.number };
  };
}
