import type { Address, LocalAccount } from "viem";
import { PledgedClaims } from "../chain/clients/pledgedClaims.ts";
import { Tickets, TicketsReader } from "../chain/clients/tickets.ts";
import { connect, type Endpoint } from "../chain/connect.ts";
import { NotDeployedError } from "../chain/errors.ts";
import { openSession, type Session } from "../market/session.ts";
import type { TicketsAt } from "./typedData.ts";

/** A session about pledged claims, and the tickets that are paid for some of them. */
export type TicketSession = {
  /** Its market is that of the pledged claims. */
  session: Session;
  tickets: Tickets;
  pledges: PledgedClaims;
  at: TicketsAt;
  account: LocalAccount;
  /** Seconds after it was issued in which a claim can be put on chain. */
  claimLifetime: number;
};

/**
 * Connects to a chain with the address of its tickets: all else is read from it.
 * @throws WrongChainError, NotDeployedError, RpcUnavailableError
 */
export async function openTickets(options: {
  endpoint: Endpoint;
  chainId: number;
  tickets: Address;
  account: LocalAccount;
  fromBlock?: bigint;
}): Promise<TicketSession> {
  const { endpoint, chainId, account, fromBlock } = options;
  const publicClient = await connect(endpoint, chainId);
  const code = await publicClient.getCode({ address: options.tickets });
  if (code === undefined)
    throw new NotDeployedError(`no contract at ${options.tickets}: is it the address of the tickets on this chain?`);
  const market = await new TicketsReader(options.tickets, { publicClient }).claims();
  const session = await openSession({
    endpoint,
    chainId,
    market,
    account,
    ...(fromBlock !== undefined && { fromBlock }),
  });
  const tickets = new Tickets(options.tickets, session);
  return {
    session,
    tickets,
    pledges: new PledgedClaims(market, session),
    at: { chainId, tickets: options.tickets },
    account,
    claimLifetime: await tickets.claimLifetime(),
  };
}
