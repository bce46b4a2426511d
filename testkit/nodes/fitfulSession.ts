import { DisputeGame } from "../../src/chain/clients/disputeGame.ts";
import { Erc20 } from "../../src/chain/clients/erc20.ts";
import { JobMarket } from "../../src/chain/clients/jobMarket.ts";
import { StakeVault } from "../../src/chain/clients/stakeVault.ts";
import type { TransactionSender } from "../../src/chain/call.ts";
import { RpcUnavailableError } from "../../src/chain/errors.ts";
import type { Session } from "../../src/chain/market/session.ts";

/** When a request of a session gets no answer: before the node has it, or after the node has done it. */
type Moment = "read" | "before a transaction" | "after a transaction";

const fail = (): Promise<never> => Promise.reject(new RpcUnavailableError("the node is away"));

/** Returns the same session, to a node that gives no answer whenever `isAway` says so. */
export function fitfulSession(session: Session, isAway: (moment: Moment) => boolean): Session {
  const { deployment, sender } = session;
  const publicClient = new Proxy(session.publicClient, {
    get: (client, name): unknown => {
      const value: unknown = Reflect.get(client, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => (isAway("read") ? fail() : Reflect.apply(value, client, args));
    },
  });
  const fitful: TransactionSender = {
    address: sender.address,
    check: (call) => (isAway("read") ? fail() : sender.check(call)),
    send: async (call, by) => {
      if (isAway("before a transaction")) return fail();
      const receipt = await sender.send(call, by);
      return isAway("after a transaction") ? fail() : receipt;
    },
  };
  const access = { publicClient, sender: fitful };
  return {
    ...session,
    ...access,
    market: new JobMarket(deployment.market, access),
    game: new DisputeGame(deployment.game, access),
    vault: new StakeVault(deployment.vault, access),
    asset: new Erc20(deployment.asset, access),
  };
}

/**
 * A node that is away at some transactions, and then for some reads.
 * @param happens Asked before each transaction, and after each that the node gets.
 */
export function awayAtTransactions(happens: () => boolean, reads = 5): (moment: Moment) => boolean {
  let silent = 0;
  return (moment) => {
    if (moment === "read") return silent > 0 && silent-- > 0;
    const isAway = happens();
    if (isAway) silent = reads;
    return isAway;
  };
}
