import { isAddressEqual, type Address, type LocalAccount } from "viem";
import { PledgedClaims } from "../../chain/clients/pledgedClaims.ts";
import { Tickets, TicketsReader } from "../../chain/clients/tickets.ts";
import { connect, type Endpoint } from "../../chain/connect.ts";
import { NotDeployedError } from "../../chain/errors.ts";
import { workSeconds } from "../../chain/market/clock.ts";
import { ofContract } from "../../chain/market/deployment.ts";
import { openSession, type Session } from "../../chain/market/session.ts";
import type { TicketsAt } from "./typedData.ts";

/** A session with pledged claims, and with the tickets that pay for some claims. */
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
 * Connects to a chain with the tickets' address: all other data come from the contract.
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
  const { tickets: address } = options;
  const market = await ofContract(async () => {
    if ((await publicClient.getCode({ address })) === undefined)
      throw new NotDeployedError(`no contract at ${address}: is it the address of the tickets on this chain?`);
    return new TicketsReader(address, { publicClient }).claims();
  }, `the contract at ${address} has no tickets`);
  const session = await openSession({
    ...{ endpoint, chainId, market, account },
    ...(fromBlock !== undefined && { fromBlock }),
  });
  return ticketSession(session, options.tickets, account);
}

/**
 * Adds the tickets to a session about their claims.
 * @param account That of the session.
 * @throws NotDeployedError if the tickets are about other claims
 */
export async function ticketSession(session: Session, address: Address, account: LocalAccount): Promise<TicketSession> {
  const { market, chainId } = session.deployment;
  const tickets = new Tickets(address, session);
  const foreign = `the contract at ${address} has no tickets about the claims at ${market}`;
  const claims = await ofContract(() => tickets.claims(), foreign);
  if (!isAddressEqual(claims, market)) throw new NotDeployedError(foreign);
  return {
    session,
    tickets,
    pledges: new PledgedClaims(market, session),
    at: { chainId, tickets: address },
    account,
    claimLifetime: await tickets.claimLifetime(),
  };
}

/** Margin for a chain without blocks, and for rounding. */
const MARGIN_SECONDS = 3_600;

/**
 * Returns the seconds after issuing during which a claim can still have consequences: the claim goes on chain last, is
 * disputed at the window's end, and both sides use up their clocks.
 */
export function heldSeconds({ session, claimLifetime }: TicketSession): number {
  const { baseClock, maxWindow, maxWork, rate } = session.deployment.parameters;
  return claimLifetime + maxWindow + 2 * (baseClock + 2 * workSeconds(maxWork, rate)) + MARGIN_SECONDS;
}
