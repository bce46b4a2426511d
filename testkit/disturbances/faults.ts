import { HttpRequestError, keccak256, type Hex } from "viem";
import { answerBehind, type Call } from "../nodes/behind.ts";
import type { Prng } from "../random/prng.ts";
import type { Fault } from "./rpcLine.ts";

const isSend = ({ method }: Call): boolean => method === "eth_sendRawTransaction";

/** No node answers. */
export const outage: Fault = () => Promise.reject(new HttpRequestError({ url: "http://node", status: 503 }));

/** One request in `every` is not answered. */
export const unreliable =
  (prng: Prng, every: number): Fault =>
  (call, pass) =>
    prng.below(every) === 0 ? outage(call, pass) : pass(call);

/** The node accepts each transaction, but drops it with a probability of 1 in `every`. */
export function forgetful(prng: Prng, every: number): Fault {
  return (call, pass) =>
    isSend(call) && prng.below(every) === 0 ? Promise.resolve(keccak256((call.params as [Hex])[0])) : pass(call);
}

/** Transactions are held back until the promise resolves. */
export const heldBack =
  (until: Promise<void>): Fault =>
  async (call, pass) => {
    if (isSend(call)) await until;
    return pass(call);
  };

/**
 * A stale node answers every second request. The node lags some blocks without reporting the lag, like a stale node
 * behind a load balancer.
 */
export function staleEverySecond(blocks: number): Fault {
  let count = 0;
  return (call, pass) => (count++ % 2 === 0 ? pass(call) : answerBehind(blocks, call, pass));
}
